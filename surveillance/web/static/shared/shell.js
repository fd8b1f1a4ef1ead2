// What every page has: the keys that lead to other pages, log out, the count of open alerts.

import { attempt, get, post } from "/static/shared/api.js";
import { byId } from "/static/shared/dom.js";
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
  // Answered when nobody is logged in any more, a count would lead to the log-in and back here.
  clearTimeout(waiting);
  await counting;
  await post("/api/logout");
  location.assign("/login");
}));

// The count is asked for anew, at most once in a while: alerts may come in a burst.
const count = byId("open-alerts");
let waiting = null;
let counting = null; // the answer that is on its way

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
  waiting ??= setTimeout(() => { counting = recount(); }, RECOUNT_MS);
}

if (count) {
  live.on("alert", recountSoon);
  live.on("alert_changed", recountSoon);
  live.on("missed", recountSoon);
  live.on("begun", recountSoon);
  live.start(byId("connection"));
}
document.body.dataset.ready = "true";
