// Elements made without markup in strings: what others wrote is text, never HTML.

export { html, svg } from "/static/review/svg.js";

export const byId = (id) => document.getElementById(id);

// What a page was given to begin with: <script id="start" type="application/json">.
export function startValues() {
  const node = byId("start");
  return node ? JSON.parse(node.textContent) : {};
}

// Cents as people read them, without needless decimals; null is not known.
export function dollars(cents, unknown = "?") {
  if (cents === null || cents === undefined) return unknown;
  const whole = Math.trunc(Math.abs(cents) / 100).toLocaleString("en-US");
  const rest = Math.abs(cents) % 100;
  return `${cents < 0 ? "−" : ""}$${whole}${rest ? `.${String(rest).padStart(2, "0")}` : ""}`;
}

// "emperors_treasure" as people write it.
export const wagerName = (wager) => wager.replaceAll("_", " ")
  .replace(/\b\w/g, (letter) => letter.toUpperCase())
  .replace("Emperors", "Emperor's").replace("Ace High", "Ace-High");

const CLOCK = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false,
});
const DAY = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });

// A moment in the viewer's own time zone; the day as well unless it is today's.
export function moment(text) {
  if (!text) return "–";
  const at = new Date(text);
  const isToday = at.toDateString() === new Date().toDateString();
  return isToday ? CLOCK.format(at) : `${DAY.format(at)}, ${CLOCK.format(at)}`;
}

export function timeElement(text) {
  const node = document.createElement("time");
  if (text) node.dateTime = text;
  node.title = text ? new Date(text).toISOString() : "";
  node.textContent = moment(text);
  return node;
}
