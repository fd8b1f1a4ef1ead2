// The wall: a tile for each table, as large as the window allows, filled by what happens.

import { byId, dollars, html, moment, startValues } from "/static/shared/dom.js";
import { keys } from "/static/shared/keys.js";
import { LivePicture, overlaySwitch } from "/static/room/live-picture.js";
import { RESULTS, badge, furtherCamera, phaseWords, severity } from "/static/room/signs.js";
import { Tables } from "/static/room/tables.js";

const start = startValues();
const tiles = new Map();

const url = (camera) => `/tables/view/${encodeURIComponent(camera)}`;

class Tile {
  constructor(line) {
    this.picture = new LivePicture(line.camera, `Table ${line.table}, live`);
    this.head = html("header", {});
    this.phase = html("p", { class: "phase" });
    this.seats = html("ol", { class: "seats-short" });
    this.alert = html("p", { class: "last-alert" });
    this.health = html("p", { class: "health" });
    this.picture.node.append(this.phase);
    this.node = html("li", {}, html("a", { class: "tile", href: url(line.camera) },
      this.head, this.picture.node, this.seats, this.alert, this.health));
    this.draw(line);
  }

  draw(line) {
    this.node.firstElementChild.dataset.state = line.state;
    this.head.replaceChildren(
      html("strong", {}, line.table),
      html("span", { class: "muted" }, line.camera),
      html("span", { class: "gap" }),
      ...(line.open_alerts ? [badge("open", `${line.open_alerts} open`)] : []),
      badge(line.state, line.words),
    );
    this.phase.textContent = phaseWords(line);
    this.phase.hidden = !this.phase.textContent;
    this.seats.replaceChildren(...shortSeats(line));
    const { last_alert: alert } = line;
    this.alert.replaceChildren(...(alert ? [
      severity(alert), html("span", { class: "title" }, `${alert.title}, ${alert.place}`),
      html("span", { class: "muted nowrap" }, moment(alert.at)),
    ] : [html("span", { class: "muted" }, "no alert yet")]));
    this.health.replaceChildren(...healthOf(line));
    this.picture.show(line.has_picture, line.picture_age_s);
  }
}

// One cell a seat: its number and how its main bet stands.
function shortSeats(line) {
  const seats = line.seats.filter((seat) => seat.seat !== null);
  if (!seats.length) {
    const last = line.last_round;
    return [html("li", { class: "wide muted" }, last
      ? `last round ${last.round_id}: ${last.words}, ${moment(last.ended_at)}` : "no round yet")];
  }
  return seats.map((seat) => {
    const isThere = seat.low.length || seat.high.length || seat.backs || Object.keys(seat.stakes).length;
    const words = seat.foul ? "! foul" : RESULTS[seat.result] ?? ("main" in seat.stakes ? dollars(seat.stakes.main, "chips") : isThere ? "…" : "–");
    return html("li", { "data-result": seat.foul ? "foul" : seat.result, class: isThere ? "" : "vacant" },
      html("b", {}, seat.seat), html("span", {}, words));
  });
}

export function healthOf(line) {
  const part = (value, words, isBad) => html("span", { class: isBad ? "warned" : "" },
    isBad ? "◆ " : "", html("b", {}, value), ` ${words}`);
  if (line.state === "off") return [html("span", { class: "muted" }, "no camera process")];
  return [
    part(line.fps === null ? "–" : line.fps.toFixed(1), "fps", false),
    part(line.lag_s === null ? "–" : line.lag_s.toFixed(1), "s behind", line.lag_s > 2),
    part(line.dropped.toLocaleString(), "dropped", line.state === "too_slow"),
    part(line.restarts, line.restarts === 1 ? "restart" : "restarts", line.restarts > 0),
    ...line.further.map(furtherCamera),
    ...(line.message ? [html("span", { class: "muted message", title: line.message }, line.message)] : []),
  ];
}

function draw(line) {
  const tile = tiles.get(line.camera);
  if (tile) tile.draw(line);
  else {
    tiles.set(line.camera, new Tile(line));
    byId("tiles").append(tiles.get(line.camera).node);
    tiles.get(line.camera).picture.setOverlay(byId("overlay").ariaPressed === "true");
    layOut();
  }
  summarise();
}

function summarise() {
  const lines = [...tables.lines.values()];
  const watching = lines.filter((line) => ["running", "too_slow"].includes(line.state)).length;
  const waiting = lines.reduce((sum, line) => sum + line.open_alerts, 0);
  const ill = lines.filter((line) => !["running", "ended", "off", "connecting"].includes(line.state));
  byId("summary").replaceChildren(
    html("strong", {}, `${watching} of ${lines.length} tables watched`),
    ...ill.map((line) => badge(line.state, `${line.table}: ${line.words}`)),
    ...(waiting ? [html("a", { class: "badge", "data-state": "open", href: "/alerts" }, waiting === 1 ? "1 alert waits" : `${waiting} alerts wait`)] : []),
  );
  byId("none").hidden = lines.length > 0;
}

// As few columns as show all tiles without scrolling; when that cannot be, tiles one can read.
function layOut() {
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
  const list = byId("tiles");
  const width = list.clientWidth;
  const height = innerHeight - list.getBoundingClientRect().top - rem;
  const count = tiles.size;
  let columns = Math.max(1, Math.floor(width / (24 * rem)));
  for (let tried = 1; tried <= count && width / tried >= 20 * rem; tried += 1) {
    const tall = (width / tried) * (9 / 16) + 10.5 * rem;
    if (Math.ceil(count / tried) * tall <= height) {
      columns = tried;
      break;
    }
  }
  list.style.setProperty("--columns", String(Math.min(columns, Math.max(count, 2))));
}

const tables = new Tables(start.tables, draw);
for (const line of start.tables) draw(line);
summarise();
addEventListener("resize", layOut);
// What is said above the tiles takes height from them.
new ResizeObserver(layOut).observe(byId("record"));
layOut();

const turn = overlaySwitch(byId("overlay"), (on) => {
  for (const tile of tiles.values()) tile.picture.setOverlay(on);
});

function step(by) {
  const links = [...document.querySelectorAll("a.tile")];
  const at = links.indexOf(/** @type {PageElement} */ (document.activeElement));
  links[at < 0 ? 0 : Math.max(0, Math.min(links.length - 1, at + by))]?.focus();
}

const columns = () => Number(getComputedStyle(byId("tiles")).getPropertyValue("--columns")) || 1;
keys.add("Wall", [
  ["ArrowRight / l", "next table", () => step(1)],
  ["ArrowLeft / h", "previous table", () => step(-1)],
  ["ArrowDown / j", "table below", () => step(columns())],
  ["ArrowUp / k", "table above", () => step(-columns())],
  ["Enter", "open the table"],
  ["1", "the first table, 2 the second …", () => open(1)],
  ["o", "detections drawn over the images or not", turn],
]);
for (let n = 2; n <= 9; n += 1) keys.add("Wall", [[String(n), "", () => open(n), { quiet: true }]]);

function open(n) {
  document.querySelectorAll("a.tile")[n - 1]?.click();
}
