// The table files that the server knows.

import { post } from "/static/shared/api.js";
import { byId, html, startValues } from "/static/shared/dom.js";

const { tables, games } = startValues();

byId("tables").replaceChildren(tables.length === 0
  ? html("div", { class: "empty" }, html("strong", {}, "No table file yet."), html("span", {}, "Name one with a camera in the site file, or start feltwatch calibrate."))
  : html("table", { class: "grid-table" },
    html("thead", {}, html("tr", {}, ...["Table file", "Table", "Game", "Seats", "Cameras", "Calibration", "State", ""].map((title) => html("th", { scope: "col" }, title)))),
    html("tbody", {}, ...tables.map((one) => html("tr", { "data-table": one.id },
      html("td", {}, html("strong", {}, one.file)), html("td", {}, one.table ?? "–"),
      html("td", {}, games.find((game) => game.id === one.game)?.title ?? one.game ?? "–"), html("td", { class: "num" }, one.seats || "–"),
      html("td", {}, one.cameras.join(", ") || html("span", { class: "muted" }, "none")),
      html("td", {}, one.calibrated ? html("span", { class: "num" }, one.rms_px === null ? "yes" : `${one.rms_px.toFixed(2)} px rms`) : html("span", { class: "badge", "data-state": "warn" }, "not calibrated")),
      html("td", {}, one.problem ? html("span", {}, html("span", { class: "badge", "data-state": "bad" }, "wrong"), ` ${one.problem}`) : html("span", { class: "badge", "data-state": "ok" }, "sound")),
      html("td", { class: "right nowrap" }, html("a", { class: "btn", href: `/tables/edit/${one.id}` }, "Edit"), " ", html("a", { class: "btn", href: `/tables/calibrate/${one.id}` }, "Calibrate"), " ", html("a", { class: "btn", href: `/tables/chips/${one.id}` }, "Chips"), " ", html("a", { class: "btn", href: `/tables/cards/${one.id}` }, "Cards"), " ", html("a", { class: "btn", href: `/tables/banker/${one.id}` }, "Banker"), " ", html("a", { class: "btn", href: `/tables/dice/${one.id}` }, "Dice"), " ", html("a", { class: "btn", href: `/tables/jackpots/${one.id}` }, "Jackpots")))))));

byId("new")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const error = byId("new-error");
  error.hidden = true;
  try {
    const { id } = await post("/api/tablefiles", { name: byId("new-name").value.trim(), game: byId("new-game").value });
    location.assign(`/tables/calibrate/${id}`);
  } catch (failure) {
    error.textContent = failure.message;
    error.hidden = false;
  }
});
