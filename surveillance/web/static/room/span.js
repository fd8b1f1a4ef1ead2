// The form that asks for a day, a shift or any time, and a table; and the panels of what it finds.

import { byId, html, startValues } from "/static/shared/dom.js";
import { query } from "/static/shared/api.js";
import { keys } from "/static/shared/keys.js";

const start = startValues();
const form = byId("span");
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

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

export const stat = (title, value, small = "") => html("div", {}, html("dt", {}, title),
  html("dd", {}, value, small ? html("small", {}, small) : ""));

export function tableOf(head, rows, left = 1) {
  return html("table", { class: "grid-table" },
    html("thead", {}, html("tr", {}, ...head.map((words, n) => html("th", { scope: "col", class: n >= left ? "num" : "" }, words)))),
    html("tbody", {}, ...rows.map((cells) => html("tr", {}, ...cells.map((cell, n) => html(n ? "td" : "th",
      { class: n >= left ? "num" : "", scope: n ? undefined : "row" }, cell ?? "–"))))));
}

export const panel = (title, ...content) => html("section", { class: "panel" }, html("h2", {}, title), ...content);

function changeDay(by, changed) {
  const at = new Date(`${form.elements.day.value}T12:00`);
  at.setDate(at.getDate() + by);
  form.elements.day.value = isoDay(at);
  changed();
}

// Calls `changed(wanted)` now and whenever another time or table is asked for; the address
// keeps what is asked for.
export function askSpan(changed) {
  const load = () => {
    for (const id of ["from", "to"]) byId(id).hidden = form.elements.shift.value !== "custom";
    const wanted = span();
    if (!wanted) return;
    history.replaceState(null, "", `${location.pathname}${query(Object.fromEntries(
      [...form.elements].filter((field) => field.name).map((field) => [field.name, field.value])))}`);
    changed(wanted);
  };
  const values = new URLSearchParams(location.search);
  // Before the day's start it is still the day before.
  form.elements.day.value = isoDay(new Date(Date.now() - dayStarts * 60_000));
  for (const field of form.elements) if (field.name && values.get(field.name)) field.value = values.get(field.name);
  form.addEventListener("change", load);
  form.addEventListener("submit", (event) => event.preventDefault());
  byId("earlier").addEventListener("click", () => changeDay(-1, load));
  byId("later").addEventListener("click", () => changeDay(1, load));
  keys.add("Time", [
    ["[ / ]", "the day before, after", (event) => changeDay(event.key === "[" ? -1 : 1, load)],
    ["f", "choose the time", () => form.elements.day.focus()],
  ]);
  load();
}
