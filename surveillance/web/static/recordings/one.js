// One recording: its timeline, its alerts, and the video played from any of them.

import { attempt, get, post } from "/static/shared/api.js";
import { byId, html, startValues } from "/static/shared/dom.js";
import { keys } from "/static/shared/keys.js";
import { Timeline } from "/static/recordings/timeline.js";
import { badge, besideLines, clock, isBusy, kindOf, progressNode } from "/static/recordings/words.js";

const POLL_MS = 1_500;
const BEFORE_S = 2; // an alert is played from a little before it
const STEP_S = 5;
const start = startValues();
const api = `/api/recordings/${start.timeline.recording.id}`;
const video = byId("video");
let form = start.timeline;
let source = null;
let broken = false;
let wantedAt = null;

const timeline = new Timeline(byId("timeline"), { onPlay: seek, onRound: playRound, onAlert: playAlert });

// ---- playing

function seek(seconds, plays = false) {
  timeline.setAt(seconds);
  if (video.readyState === 0) wantedAt = { seconds, plays };
  else {
    video.currentTime = seconds;
    if (plays) video.play().catch(() => {});
  }
  drawPlace(seconds);
}

function playRound(round) {
  choose(null);
  seek(round.start_s, true);
}

function playAlert(alert) {
  choose(alert);
  seek(Math.max(0, alert.at_s - BEFORE_S), true);
}

function choose(alert) {
  timeline.chosen = alert;
  timeline.draw();
  for (const node of byId("alerts").querySelectorAll("button")) {
    const isChosen = alert && node.dataset.alert === alert.alert_id;
    node.setAttribute("aria-current", isChosen ? "true" : "false");
    if (isChosen) node.scrollIntoView({ block: "nearest" });
  }
}

video.addEventListener("loadedmetadata", () => {
  document.body.dataset.video = source ?? "";
  if (!wantedAt) return;
  const { seconds, plays } = wantedAt;
  wantedAt = null;
  seek(seconds, plays);
});
video.addEventListener("timeupdate", () => {
  timeline.setAt(video.currentTime);
  drawPlace(video.currentTime);
});
video.addEventListener("error", () => {
  if (source !== "original") return;
  broken = true;
  chooseSource();
});

// The preview once there is one; the file itself where a browser plays it with ease, or before.
function chooseSource() {
  const { preview, playable, light, problem } = form;
  let wanted = null;
  if (preview.state === "ready") wanted = "preview";
  else if (playable && !broken && !problem) wanted = "original";
  if (wanted !== source && wanted) {
    const at = video.currentTime || wantedAt?.seconds;
    const plays = source !== null && !video.paused;
    if (at) wantedAt = { seconds: at, plays };
    source = wanted;
    video.src = `${api}/video${wanted === "preview" ? "?preview=true" : ""}`;
  }
  const words = [];
  if (problem) words.push(html("span", { class: "error" }, problem));
  else if (wanted === "preview") words.push("A copy of 720 lines plays here; the audit reads the recording itself.");
  else if (preview.state === "making") words.push(`A lighter copy is being made: ${Math.floor(preview.share * 100)}%.`);
  else {
    if (preview.state === "failed") words.push(html("span", { class: "error" }, preview.message));
    if (!wanted) words.push(form.recording.files.length > 1 ? "Several files play as one from a lighter copy." : "Browsers do not play this file as it is.");
    else if (!light) words.push(`${form.width_px} × ${form.height_px}: heavy to play.`);
    if (start.may_start && (!wanted || !light)) {
      words.push(html("button", { class: "btn", type: "button", onclick: () => attempt(async () => {
        form.preview = await post(`${api}/preview`);
        chooseSource();
      }) }, "Make a lighter copy"));
    }
  }
  byId("source").replaceChildren(...words);
}

// ---- drawing

const roundAt = (seconds) => form.rounds.find((round) => seconds >= round.start_s && seconds <= round.end_s);
let shownRound;

function drawPlace(seconds) {
  byId("clock").textContent = clock(seconds, true);
  const round = roundAt(seconds);
  byId("at-round").textContent = round ? `round ${round.round_id}` : "between rounds";
  if (round !== shownRound) {
    shownRound = round;
    timeline.draw();
  }
}

function drawHead() {
  const { recording } = form;
  byId("state").replaceChildren(badge(recording.state));
  byId("facts").replaceChildren(progressNode(recording), ` · ${recording.rounds} rounds · ${recording.alerts} alerts · table file ${recording.table_file}`,
    ...besideLines(recording).map((line) => ` · ${line}`));
  const failed = recording.state === "failed" ? recording.message : "";
  byId("message").hidden = !failed;
  byId("message").textContent = failed;
  const offered = start.may_start ? actOf(recording.state) : null;
  const [what, words] = offered ?? [];
  const button = byId("acts").firstElementChild;
  if ((button?.textContent ?? undefined) === words) return; // it stays, and the focus with it
  const hadFocus = button !== null && button === document.activeElement;
  byId("acts").replaceChildren(...(offered ? [html("button", { class: "btn", type: "button", onclick: () => act(what) }, words)] : []));
  if (hadFocus) byId("acts").firstElementChild?.focus();
}

function actOf(state) {
  if (isBusy(state)) return ["stop", "Stop the audit"];
  if (state === "stopped") return ["resume", "Go on"];
  if (state === "failed") return ["resume", "Try again"];
  return ["resume", "Audit again"]; // its rounds are kept once
}

const act = (what) => attempt(async () => {
  form.recording = await post(`${api}/${what}`);
  drawHead();
  poll(true);
});

function drawAlerts() {
  const { alerts } = form;
  byId("found-title").textContent = alerts.length ? `${alerts.length} alerts` : "No alerts";
  const chosen = timeline.chosen?.alert_id;
  timeline.chosen = alerts.find((alert) => alert.alert_id === chosen) ?? null;
  const nodes = new Set(alerts.map((alert) => {
    const content = JSON.stringify(alert);
    const { alert_id: id } = alert;
    // An unchanged line stays, and the focus with it.
    if (alertLines.get(id)?.content !== content) alertLines.set(id, { content, node: alertLine(alert, id === chosen) });
    return alertLines.get(id).node;
  }));
  const list = byId("alerts");
  for (const node of [...list.children]) if (!nodes.has(node)) node.remove();
  [...nodes].forEach((node, n) => {
    if (list.children[n] !== node) list.insertBefore(node, list.children[n] ?? null);
  });
}

const alertLines = new Map();
const placeOf = ({ seat, code }) => (seat ? `seat ${seat}` : code === "DECK" ? "table" : "dealer");

function alertLine(alert, isChosen) {
  const { alert_id: id } = alert;
  const play = () => playAlert(form.alerts.find((one) => one.alert_id === id) ?? alert);
  return html("li", {}, html("button", {
    type: "button", "data-alert": id, "aria-current": isChosen ? "true" : "false", onclick: play,
  },
  html("span", { class: "badge", "data-state": kindOf(alert) }, alert.code),
  html("span", {}, placeOf(alert)),
  html("span", { class: "num" }, clock(alert.at_s), alert.state === "open" ? "" : ` ${alert.state}`),
  html("small", {}, alert.message)),
  alert.id ? html("a", { class: "muted", href: `/alerts?alert=${alert.id}` }, "evidence") : null);
}

function drawAll() {
  drawHead();
  drawAlerts();
  timeline.show(form);
  drawPlace(video.currentTime || 0);
  chooseSource();
}

// ---- asking again while something goes on

let timer;

async function poll(now = false) {
  clearTimeout(timer);
  const goesOn = isBusy(form.recording.state) || form.preview.state === "making";
  if (now || (goesOn && !document.hidden)) {
    try {
      form = await get(`${api}/timeline`);
      drawAll();
    } catch {
      // The next time says it again.
    }
  }
  timer = setTimeout(poll, POLL_MS);
}

// ---- the keyboard

function step(list, time, forward, go) {
  const here = timeline.chosen && list.includes(timeline.chosen) ? list.indexOf(timeline.chosen) : null;
  if (here !== null) {
    const next = list[here + (forward ? 1 : -1)];
    if (next) go(next);
    return;
  }
  const now = video.currentTime || timeline.at;
  const next = forward ? list.find((one) => time(one) > now + 0.1) : list.findLast((one) => time(one) < now - 0.5);
  if (next) go(next);
}

const toggle = () => (video.paused ? video.play().catch(() => {}) : video.pause());
const skip = (seconds) => seek(Math.min(timeline.length, Math.max(0, (video.currentTime || timeline.at) + seconds)));
keys.add("Recording", [
  ["j / ArrowDown", "next alert", () => step(form.alerts, (a) => a.at_s, true, playAlert)],
  ["k / ArrowUp", "alert before", () => step(form.alerts, (a) => a.at_s, false, playAlert)],
  ["n", "next round", () => step(form.rounds, (r) => r.start_s, true, playRound)],
  ["p", "round before", () => step(form.rounds, (r) => r.start_s, false, playRound)],
  [" ", "play, pause", toggle],
  ["ArrowRight", "5 s on", () => skip(STEP_S)],
  ["ArrowLeft", "5 s back", () => skip(-STEP_S)],
  ["+", "larger", () => timeline.zoom(0.5)],
  ["-", "show more", () => timeline.zoom(2)],
  ["0", "show all", () => timeline.all()],
]);
byId("zoom-in").addEventListener("click", () => timeline.zoom(0.5));
byId("zoom-out").addEventListener("click", () => timeline.zoom(2));
byId("zoom-all").addEventListener("click", () => timeline.all());

drawAll();
const at = new URLSearchParams(location.search).get("at");
if (at !== null && Number.isFinite(Number(at))) seek(Number(at));
timer = setTimeout(poll, POLL_MS);
