// The report of a day or a shift, as a page; the same as PDF and CSV.

import { attempt, get, query } from "/static/shared/api.js";
import { byId, dollars, html, moment, startValues } from "/static/shared/dom.js";
import { keys } from "/static/shared/keys.js";
import { precisionTable } from "/static/room/precision.js";
import { badge, percent, severity, stateBadge } from "/static/room/signs.js";

const start = startValues();
const form = byId("span");
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
const STATES = ["open", "confirmed", "rejected", "corrected"];
let asked = 0;

form.elements.table.append(...start.tables.map((name) => html("option", { value: name }, name)));

const isoDay = (at) => `${at.getFullYear()}-${String(at.getMonth() + 1).padStart(2, "0")}-${String(at.getDate()).padStart(2, "0")}`;

// Minutes after midnight of "HH:MM", on the next date when that is before the day's start.
const DAY_MINUTES = 24 * 60;
const minutesOf = (clock) => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3));
const dayStarts = minutesOf(start.day_starts);
const ofDay = (clock) => minutesOf(clock) + (minutesOf(clock) < dayStarts ? DAY_MINUTES : 0);

// When a shift begins and ends, minutes after midnight of the report's date.
function shiftBounds(value) {
  if (value === "day") return [dayStarts, dayStarts + DAY_MINUTES];
  const [begin, end] = value.split("-");
  const length = (minutesOf(end) - minutesOf(begin) + DAY_MINUTES) % DAY_MINUTES || DAY_MINUTES;
  return [ofDay(begin), ofDay(begin) + length];
}

form.elements.shift.options[0].after(...start.shifts
  .map((begin, n) => [begin, start.shifts[(n + 1) % start.shifts.length]])
  .sort(([a], [b]) => ofDay(a) - ofDay(b))
  .map(([begin, end]) => html("option", { value: `${begin}-${end}` }, `shift ${begin} to ${end}`)));

// The span in the viewer's own time zone; minutes above a day's lie on the next date.
function span() {
  const { day, shift, from, to, table } = form.elements;
  if (shift.value === "custom") {
    if (!from.value || !to.value) return null;
    return { since: new Date(from.value).toISOString(), until: new Date(to.value).toISOString(), table: table.value, zone };
  }
  const [year, month, date] = day.value.split("-").map(Number);
  if (!year) return null;
  const [begin, end] = shiftBounds(shift.value);
  const at = (minutes) => new Date(year, month - 1, date, 0, minutes).toISOString();
  return { since: at(begin), until: at(end), table: table.value, zone };
}

const stat = (title, value, small = "") => html("div", {}, html("dt", {}, title),
  html("dd", {}, value, small ? html("small", {}, small) : ""));

function duration(seconds) {
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
}

function tableOf(head, rows, left = 1) {
  return html("table", { class: "grid-table" },
    html("thead", {}, html("tr", {}, ...head.map((words, n) => html("th", { scope: "col", class: n >= left ? "num" : "" }, words)))),
    html("tbody", {}, ...rows.map((cells) => html("tr", {}, ...cells.map((cell, n) => html(n ? "td" : "th",
      { class: n >= left ? "num" : "", scope: n ? undefined : "row" }, cell ?? "–"))))));
}

const panel = (title, ...content) => html("section", { class: "panel" }, html("h2", {}, title), ...content);

function groups(title, lines) {
  if (!lines.length) return null;
  const hasRounds = lines.some((line) => line.rounds !== null);
  const head = ["", ...(hasRounds ? ["Rounds", "Not all read"] : []), "Alerts", "Open", "Confirmed", "Rejected", "Corrected",
    ...(hasRounds ? ["Stood per 100 rounds"] : [])];
  return panel(title, tableOf(head, lines.map((line) => [
    line.name, ...(hasRounds ? [line.rounds.toLocaleString(), line.with_undecided.toLocaleString()] : []), line.total,
    ...STATES.map((state) => line.alerts[state]),
    ...(hasRounds ? [line.confirmed_per_100 === null ? "–" : line.confirmed_per_100.toFixed(2)] : []),
  ])));
}

function money(report) {
  const rows = report.money.map((line) => [badge(line.state, line.state), line.alerts, dollars(line.to_players_cents),
    dollars(line.to_house_cents), dollars(line.net_cents), line.unknown]);
  return panel("Money that went the wrong way", tableOf(
    ["Alerts that are", "Alerts", "To players too much", "To the house too much", "Net loss of the house", "Sum not known"], rows));
}

function cameras(report) {
  if (!report.cameras.length) return null;
  return panel("Cameras", tableOf(["Camera", "Table", "Time in each state", "Now or last", "Watching", "Incidents", "Changes"], report.cameras.map((camera) => [
    camera.camera, camera.table,
    camera.states.map((state) => `${state.state.replaceAll("_", " ")} ${duration(state.seconds)}`).join("; ") || "no state was noted",
    badge(camera.last_state, camera.last_state.replaceAll("_", " ")),
    percent(camera.watched_share, 1), camera.incidents, camera.changes,
  ]), 4));
}

// Above 0 the player got too much; nothing where the sum is not known.
function sum(alert) {
  const cents = alert.difference_cents;
  if (cents === null) return "";
  return `${cents < 0 ? "−" : "+"}${dollars(Math.abs(cents))}`;
}

const stoodLine = (alert) => html("li", {},
  html("a", { href: `/alerts?alert=${alert.id}&state=` }, severity(alert), html("span", { class: "nowrap" }, moment(alert.at)),
    html("b", {}, alert.table), html("span", { class: "title" }, alert.message), html("span", { class: "num nowrap" }, sum(alert)),
    stateBadge(alert), html("span", { class: "muted nowrap" }, alert.decided_by ?? "")));

// The alerts that stood come by the page: a month has thousands.
function notable(report, wanted) {
  if (!report.notable.length) return null;
  const list = html("ul", { class: "lines stood" }, ...report.notable.map(stoodLine));
  const told = html("span", { class: "muted", role: "status" });
  const more = html("button", { class: "btn", type: "button" }, "Show more");
  let next = report.notable_next;
  const tell = () => {
    told.textContent = `${list.children.length.toLocaleString()} of ${report.stood.toLocaleString()}, newest first; all are in the CSV`;
    more.hidden = !next;
  };
  more.addEventListener("click", async () => {
    more.disabled = true;
    const { since, until, table } = wanted;
    const page = await attempt(() => get("/api/report/alerts", { since, until, table, cursor: next }));
    more.disabled = false;
    if (!page) return;
    const first = list.children.length;
    next = page.next;
    list.append(...page.alerts.map(stoodLine));
    tell();
    list.children[first]?.querySelector("a").focus();
  });
  tell();
  return panel("Alerts that stood", list, html("p", { class: "row" }, more, told));
}

function draw(report, wanted) {
  const { alerts } = report;
  const total = STATES.reduce((count, state) => count + alerts[state], 0);
  const stood = report.money.filter((line) => ["confirmed", "corrected"].includes(line.state));
  byId("report").replaceChildren(...[
    html("header", { class: "report-head" }, html("h2", { class: "big" }, report.title),
      html("p", { class: "muted" }, `${report.zone} · made ${moment(report.made_at)} by ${report.made_by}`)),
    html("dl", { class: "stats" },
      stat("Rounds", report.rounds.toLocaleString(), `${report.rounds_with_alerts.toLocaleString()} with alerts`),
      stat("Not all read", percent(report.undecided_share, 1), `${report.rounds_undecided.toLocaleString()} rounds`),
      stat("Alerts", total.toLocaleString(), `${alerts.open.toLocaleString()} open`),
      stat("Mistakes that stood", report.stood.toLocaleString(), `of ${report.judged.toLocaleString()} judged`),
      stat("Net loss of the house", dollars(stood.reduce((cents, line) => cents + line.net_cents, 0)), "by alerts that stood")),
    html("div", { class: "report-grid" },
      panel("Alerts by code, and how often the code was right", precisionTable(report.codes)),
      money(report), groups("By table", report.tables), groups("By dealer", report.dealers), groups("By seat", report.seats),
      report.reviewers.length ? panel("Verdicts by person", tableOf(["", "Confirmed", "Rejected", "Corrected"],
        report.reviewers.map((line) => [line.name, line.confirmed, line.rejected, line.corrected]))) : null,
      cameras(report), notable(report, wanted)),
  ].filter(Boolean));
  for (const node of byId("report").querySelectorAll(".report-grid > *")) if (!node.childNodes.length) node.remove();
}

async function load() {
  for (const id of ["from", "to"]) byId(id).hidden = form.elements.shift.value !== "custom";
  const wanted = span();
  if (!wanted) return;
  asked += 1;
  const mine = asked;
  for (const format of ["pdf", "csv"]) byId(format).href = `/api/report${query({ ...wanted, format })}`;
  history.replaceState(null, "", `${location.pathname}${query(Object.fromEntries(
    [...form.elements].filter((field) => field.name).map((field) => [field.name, field.value])))}`);
  const report = await attempt(() => get("/api/report", wanted));
  if (!report || mine !== asked) return;
  draw(report, wanted);
  document.body.dataset.loaded = "true";
}

function changeDay(by) {
  const at = new Date(`${form.elements.day.value}T12:00`);
  at.setDate(at.getDate() + by);
  form.elements.day.value = isoDay(at);
  load();
}

const values = new URLSearchParams(location.search);
// Before the day's start it is still the day before.
form.elements.day.value = isoDay(new Date(Date.now() - dayStarts * 60_000));
for (const field of form.elements) if (field.name && values.get(field.name)) field.value = values.get(field.name);
form.addEventListener("change", load);
form.addEventListener("submit", (event) => event.preventDefault());
byId("earlier").addEventListener("click", () => changeDay(-1));
byId("later").addEventListener("click", () => changeDay(1));
byId("print").addEventListener("click", () => window.print());

keys.add("Report", [
  ["[ / ]", "the day before, after", (event) => changeDay(event.key === "[" ? -1 : 1)],
  ["p", "as PDF", () => byId("pdf").click()],
  ["c", "as CSV", () => byId("csv").click()],
  ["f", "choose the time", () => form.elements.day.focus()],
]);
load();
