// What happens at the tables, as it happens (Server-Sent Events); says when it is cut off.
//
//   live.on("alert", (event) => …)      state, round, alert, alert_changed, health, record
//   live.on("missed", () => …)          events were lost on the way: request all again
//   live.on("begun", () => …)           from now on events come: ask for what came before them

import { get } from "/static/shared/api.js";

const AGAIN_MS = 10_000;
const GRACE_MS = 2_500; // a connection that comes back at once is not worth a word

const listeners = new Map();
let banner = null;
let port = null;
let timer;
let wasLost = false;
let hasBegun = false;

function on(kind, run) {
  listeners.set(kind, [...(listeners.get(kind) ?? []), run]);
  if (kind === "begun" && hasBegun) queueMicrotask(run);
}

function emit(kind, event) {
  for (const run of listeners.get(kind) ?? []) run(event);
}

function showLost() {
  wasLost = true;
  banner.textContent = "▲ Connection lost: what is shown may be old. Trying again by itself …";
  banner.hidden = false;
  document.body.dataset.connection = "lost";
  askWho();
}

// A stream that is refused because the log-in ended looks like a net that is cut; this request
// leads to the log-in then.
async function askWho() {
  await get("/api/me").catch(() => {});
  if (!banner.hidden) timer = setTimeout(askWho, AGAIN_MS);
}

function connection(state) {
  clearTimeout(timer);
  if (state === "open") {
    banner.hidden = true;
    document.body.dataset.connection = "open";
    // What happened meanwhile may be more than the server has kept.
    if (wasLost) emit("missed", {});
    wasLost = false;
    if (hasBegun) return;
    hasBegun = true;
    emit("begun", {});
  } else if (banner.hidden) {
    timer = setTimeout(showLost, GRACE_MS);
  }
}

function start(bannerNode) {
  if (port) return;
  banner = bannerNode;
  const worker = new SharedWorker("/static/shared/live-worker.js", { name: "feltwatch-live" });
  port = worker.port;
  port.onmessage = ({ data }) => {
    if (data.kind === "connection") connection(data.state);
    else emit(data.kind, data.event);
  };
  port.start();
  port.postMessage("hello");
  addEventListener("pagehide", () => port.postMessage("bye"));
  addEventListener("pageshow", (event) => { if (event.persisted) port.postMessage("hello"); });
}

export const live = { on, start };
