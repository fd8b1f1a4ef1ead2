// What every page has: the keys that lead to other pages, log out, the count of open alerts.

import { askAlone, attempt, get } from "/static/shared/api.js";
import { byId, html, moment } from "/static/shared/dom.js";
import { keys } from "/static/shared/keys.js";
import { live } from "/static/shared/live.js";

const RECOUNT_MS = 400;

keys.add("Everywhere", [
  ["?", "these keys", () => keys.show(), { dialog: true }],
  ...[...document.querySelectorAll("[data-go]")].map((link) => [
    `g ${link.dataset.go}`, link.firstChild.textContent.trim(), () => link.click(),
  ]),
]);

byId("show-keys")?.addEventListener("click", keys.show);
byId("log-out")?.addEventListener("click", () => attempt(async () => {
  await askAlone("POST", "/api/logout", {}, true);
  location.assign("/login");
}));

// The count is requested again, at most once in a while: alerts may come in a burst.
const count = byId("open-alerts");
let waiting = null;

async function recount() {
  waiting = null;
  try {
    const { open } = await get("/api/alerts/counts");
    count.hidden = open === 0;
    count.textContent = open;
    count.dataset.count = open;
    count.ariaLabel = `${open} open alerts`;
  } catch {
    // The banner of the lost connection says it.
  }
}

function recountSoon() {
  waiting ??= setTimeout(recount, RECOUNT_MS);
}

// Whether database and journal can be written: said in large letters until they can be again.
// The reasons stand below, small: they quote paths, and the tables are to stay in view.
function showRecord(record) {
  const faults = [];
  if (record.journal_down_since) {
    faults.push(fault(`NOTHING CAN BE WRITTEN since ${moment(record.journal_down_since)}`,
      `${entries(record.held, "is", "are")} in memory only, and lost if the server ends.`, record.journal_why));
  }
  if (record.store_down_since) {
    const wait = record.waiting ? `; ${entries(record.waiting, "waits", "wait")} in the journal` : "";
    faults.push(fault(`The database cannot be used since ${moment(record.store_down_since)}`,
      `Tables are watched on${wait}.`, record.store_why));
  }
  if (record.refused) {
    faults.push(fault(`The database refused ${entries(record.refused)}`, "What it refused is kept in the journal."));
  }
  const node = byId("record");
  node.replaceChildren(...faults);
  node.hidden = faults.length === 0;
  node.dataset.kind = record.journal_down_since ? "journal" : "store";
}

function entries(many, one = "", more = "") {
  return `${many} ${many === 1 ? "entry" : "entries"} ${many === 1 ? one : more}`.trim();
}

function fault(title, words, why = "") {
  return html("div", {}, html("p", { class: "record-title" }, `▲ ${title}`),
    html("p", {}, `${words} `, html("span", { class: "record-why" }, why)));
}

async function askRecord() {
  try {
    showRecord(await get("/api/record"));
  } catch {
    // The banner of the lost connection says it.
  }
}

if (count) {
  live.on("record", ({ body }) => showRecord(body));
  live.on("missed", askRecord);
  live.on("begun", askRecord);
  live.on("alert", recountSoon);
  live.on("alert_changed", recountSoon);
  live.on("missed", recountSoon);
  live.on("begun", recountSoon);
  live.start(byId("connection"));
}
document.body.dataset.ready = "true";
