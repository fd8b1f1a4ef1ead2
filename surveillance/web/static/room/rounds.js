// The list of rounds, newest first, page by page.

import { attempt, get } from "/static/shared/api.js";
import { byId, html, moment, startValues } from "/static/shared/dom.js";
import { keys } from "/static/shared/keys.js";
import { badge } from "/static/room/signs.js";

const start = startValues();
const form = byId("filters");
const body = byId("rounds").tBodies[0];
let next = null;
let asked = 0;

for (const name of ["table", "dealer"]) {
  form.elements[name].append(...start[`${name}s`].map((value) => html("option", { value }, value)));
}
const values = new URLSearchParams(location.search);
for (const field of form.elements) if (values.has(field.name)) field.value = values.get(field.name);

function wanted() {
  const { table, dealer, show, round_id: roundId, until } = form.elements;
  return {
    table: table.value, dealer: dealer.value, round_id: roundId.value.trim(),
    with_alerts: show.value === "alerts" ? true : "",
    with_undecided: show.value === "undecided" ? true : "",
    with_suspicions: show.value === "suspicions" ? true : "",
    until: until.value && new Date(until.value).toISOString(),
  };
}

const lasted = (line) => `${Math.round((Date.parse(line.ended_at) - Date.parse(line.started_at)) / 1_000)} s`;

const row = (line) => html("tr", { "data-id": line.id },
  html("th", { scope: "row" }, html("a", { href: `/rounds/${line.id}` }, line.round_id)),
  html("td", {}, line.table), html("td", {}, line.dealer ?? html("span", { class: "muted" }, "not named")),
  html("td", { class: "nowrap" }, moment(line.started_at)), html("td", { class: "num" }, lasted(line)),
  html("td", { class: "mono muted" }, line.start_s === null ? "–" : `${line.start_s} s`),
  html("td", {}, badge(line.kind, line.words),
    line.undecided && line.kind !== "undecided" ? html("span", { class: "muted" }, ` ${line.undecided} not read`) : null,
    line.suspicions ? html("span", { class: "not-read" }, ` ${line.suspicions} worth a look`) : null));

async function load(cursor = null) {
  asked += 1;
  const mine = asked;
  const page = await attempt(() => get("/api/rounds", { ...wanted(), cursor, limit: 60 }));
  if (!page || mine !== asked) return;
  if (cursor === null) body.replaceChildren();
  const first = body.rows.length;
  body.append(...page.rounds.map(row));
  next = page.next;
  const hadFocus = document.activeElement === byId("more");
  byId("more").hidden = next === null;
  // The button goes with the last page: the focus goes to the first round of that page.
  if (hadFocus && next === null) body.rows[first]?.querySelector("a").focus();
  byId("none").hidden = body.rows.length > 0;
  document.body.dataset.loaded = "true";
}

form.addEventListener("change", () => {
  const kept = [...form.elements].filter((field) => field.name && field.value).map((field) => [field.name, field.value]);
  history.replaceState(null, "", `${location.pathname}?${new URLSearchParams(kept)}`);
  load();
});
form.addEventListener("submit", (event) => event.preventDefault());
byId("more").addEventListener("click", () => load(next));

function step(by) {
  const links = [...body.querySelectorAll("a")];
  const at = links.indexOf(/** @type {PageElement} */ (document.activeElement));
  links[at < 0 ? 0 : Math.max(0, Math.min(links.length - 1, at + by))]?.focus();
}

keys.add("Rounds", [
  ["j / ArrowDown", "next round", () => step(1)],
  ["k / ArrowUp", "previous round", () => step(-1)],
  ["Enter", "open it"],
  ["f", "filters", () => form.elements.table.focus()],
  ["m", "more rounds", () => { if (next) load(next); }],
]);
load();
