// The alert queue, worked from the keyboard.

import { attempt, get, post, toast } from "/static/shared/api.js";
import { byId, html, startValues } from "/static/shared/dom.js";
import { keys } from "/static/shared/keys.js";
import { live } from "/static/shared/live.js";
import { precisionTable } from "/static/room/precision.js";
import { Detail } from "/static/room/queue-detail.js";
import { Filters } from "/static/room/queue-filters.js";
import { Judge } from "/static/room/queue-judge.js";
import { AlertList } from "/static/room/queue-list.js";

const SETTLE_MS = 90; // while a key is held down, alerts that fly by are not fetched

const start = startValues();
let precision = null;
let timer;

const filters = new Filters(byId("filters"), start, () => list.load(null));
const detail = new Detail(byId("detail"), {
  confirm: ofShown(() => judge.give("confirmed")), reject: ofShown(() => judge.give("rejected")),
  correct: ofShown(() => judge.correct()), setCase: ofShown(() => setCase()),
}, start.may_judge);
const list = new AlertList({
  list: byId("list"), foot: byId("list-foot"), fresh: byId("fresh"), filters, chosen,
});
const judge = new Judge({ detail, list, codes: start.codes, judged });

function chosen(line) {
  clearTimeout(timer);
  if (!line) {
    detail.none(filters.isPlain ? "No open alert." : "No alert is like that.");
    return;
  }
  timer = setTimeout(() => show(line.id), SETTLE_MS);
}

async function show(id) {
  const alert = await attempt(() => get(`/api/alerts/${id}`));
  // The list may have gone on meanwhile.
  if (alert && list.current?.id === id) detail.show(alert, precision);
  document.body.dataset.shown = id;
}

function judged(alert) {
  list.update(alert.line);
  if (detail.alert?.line.id === alert.line.id) detail.show(alert, precision);
  countAnew();
}

async function countAnew() {
  const lines = await attempt(() => get("/api/precision"));
  if (!lines) return;
  precision = lines;
  detail.counted(precision);
}

async function setCase() {
  const { alert } = detail;
  if (!alert || !start.may_judge) return;
  const now = await attempt(() => post(`/api/alerts/${alert.line.id}/case`, { case: !alert.line.case }));
  if (!now) return;
  judged(now);
  toast(now.line.case ? "Kept as a case: its evidence is never removed." : "No case any more.", "good");
}

function mine(run) {
  return () => {
    if (start.may_judge) run();
    else toast("Verdicts are given by reviewers; your role is to look.", "bad");
  };
}

// What is said is said of the alert that is shown. While another one is on its way, after a
// verdict or a step in the list, it would be said of the wrong one.
function ofShown(run) {
  return () => {
    if (judge.busy) return;
    if (!detail.alert || list.current?.id === detail.alert.line.id) run();
    else toast("The alert is not shown yet: look at it first.");
  };
}

function showPrecision() {
  const dialog = byId("precision");
  const { since, until, table, dealer, seat } = filters.wanted();
  attempt(async () => {
    const lines = await get("/api/precision", { since, until, table, dealer, seat });
    dialog.replaceChildren(
      html("h2", { id: "precision-title" }, "How often alerts were right"),
      html("p", { class: "muted" }, "By the verdicts that count, for the filters but state and code. Corrected counts as "
        + "right where the code was; the interval is Wilson’s, 95%."),
      precisionTable(lines),
      html("form", { method: "dialog", class: "row" }, html("span", { class: "gap" }),
        html("button", { class: "btn", autofocus: true }, "Close ", html("kbd", {}, "Esc"))));
    dialog.showModal();
  });
}

live.on("alert", (event) => {
  if (!filters.mayHold(event)) return;
  list.arrived(event.body.id ?? `${event.camera} ${event.at}`);
});
live.on("alert_changed", async ({ body }) => {
  if (!list.lines.some((line) => line.id === body.id)) return;
  try {
    const alert = await get(`/api/alerts/${body.id}`);
    list.update(alert.line);
    if (detail.alert?.line.id === alert.line.id) {
      const isOthers = alert.verdicts.length !== detail.alert.verdicts.length && alert.line.decided_by !== start.me;
      detail.show(alert, precision);
      if (isOthers) {
        toast(`${alert.line.decided_by} ${alert.line.state} this alert.`);
        countAnew();
      }
    }
  } catch {
    // The banner of the lost connection says it.
  }
});
live.on("missed", async () => {
  const line = list.current;
  await list.load();
  // The open alert stays, even where the filters exclude it now.
  if (line && list.current?.id !== line.id) list.pin(line);
});

detail.comment.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    event.preventDefault();
    detail.comment.blur();
  }
});
byId("filters").addEventListener("keydown", (event) => {
  const field = /** @type {PageElement} */ (event.target);
  if (event.key === "Escape" || (event.key === "Enter" && field.tagName === "SELECT")) {
    event.preventDefault();
    field.blur();
  }
});

function submitTyped() {
  if (byId("correct").open) byId("correct-form").requestSubmit();
  else if (document.activeElement === detail.comment && detail.alert) {
    const { state } = detail.alert.line;
    const last = detail.alert.verdicts.at(-1);
    if (state === "open") judge.give("confirmed");
    else judge.give(state, { advance: false, corrected: state === "corrected" ? last?.corrected ?? {} : undefined });
    detail.comment.blur();
  }
}

keys.add("Alerts", [
  ["j / ArrowDown", "next alert", () => list.step(1)],
  ["k / ArrowUp", "previous alert", () => list.step(-1)],
  ["Home", "the newest", () => list.go(0)],
  [".", "show alerts that came in", () => list.load()],
  ["f", "filters (Esc: back)", () => filters.focus()],
  ["i", "how often each code was right", showPrecision],
]);
keys.add("Verdict", [
  ["c", "confirm: it was so", mine(detail.acts.confirm)],
  ["r", "reject: it was not so", mine(detail.acts.reject)],
  ["x", "correct: say what was so", mine(detail.acts.correct)],
  ["e", "comment (Esc: back; Ctrl Enter: keep it)", mine(ofShown(() => detail.comment.focus()))],
  ["u", "take the last verdict back by a new one", mine(() => judge.undo())],
  ["Shift+K", "keep as a case, or no longer", mine(detail.acts.setCase)],
  ["Ctrl+Enter", "", submitTyped, { typing: true, dialog: true, quiet: true }],
]);
keys.add("Evidence", [
  [" ", "play the clip, stop it", () => { if (!detail.stage.play()) toast("This alert has no clip."); }],
  ["n / p", "next picture, the one before", (event) => detail.stage.step(event.key === "n" ? 1 : -1)],
  ["ArrowLeft / ArrowRight", "clip: a second back, on", (event) => detail.stage.seek(event.key === "ArrowLeft" ? -1 : 1)],
  ["Shift+ArrowLeft / Shift+ArrowRight", "clip: a frame back, on",
    (event) => detail.stage.seek(event.key === "ArrowLeft" ? -1 / 15 : 1 / 15)],
  ["m", "clip: to the moment", () => detail.stage.toMoment()],
  ["s", "clip: slower", () => detail.stage.slower()],
  ["z", "whole screen", () => detail.stage.enlarge()],
  ["t", "down to the round’s hands", () => detail.round.scrollIntoView({ block: "start" })],
]);

const k = (...names) => names.flatMap((name) => [html("kbd", {}, name), " "]);
byId("hint").replaceChildren(
  ...k("J", "K"), "alerts   ", ...(start.may_judge ? [...k("C"), "confirm   ", ...k("R"), "reject   ", ...k("X"),
    "correct   ", ...k("E"), "comment   ", ...k("U"), "undo   "] : []),
  ...k("Space"), "clip   ", ...k("N", "P"), "pictures   ", ...k("F"), "filters   ", ...k("I"), "precision   ", ...k("?"), "all keys",
);

await countAnew();
const came = Number(new URLSearchParams(location.search).get("alert")) || null;
await list.load(came);
if (came && list.current?.id !== came) {
  const alert = await attempt(() => get(`/api/alerts/${came}`));
  if (alert) list.pin(alert.line);
}
live.on("begun", () => list.look());
document.body.dataset.queue = "ready";
