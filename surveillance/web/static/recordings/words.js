// Texts of recordings: times, sizes, states.

import { html } from "/static/shared/dom.js";

// Seconds as "1:02:05" or "4:07".
export function clock(seconds, tenths = false) {
  if (seconds === null || seconds === undefined) return "–";
  const whole = Math.max(0, Math.floor(seconds));
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (n) => String(n).padStart(2, "0");
  const rest = tenths ? `.${Math.floor((seconds - Math.floor(seconds)) * 10)}` : "";
  return (h ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`) + rest;
}

export function bytes(size) {
  if (size < 1e6) return `${Math.ceil(size / 1e3)} kB`;
  return size < 1e9 ? `${(size / 1e6).toFixed(1)} MB` : `${(size / 1e9).toFixed(2)} GB`;
}

export const STATES = { queued: "waiting", running: "running", stopped: "stopped", done: "done", failed: "failed" };
export const badge = (state) => html("span", { class: "badge", "data-state": state }, STATES[state]);
// A shift of several files goes by its first.
export const titleOf = ({ file, files }) => (files.length > 1 ? `${file} and ${files.length - 1} more` : file);
// What further cameras recorded beside it, a line for each.
export const besideLines = ({ cameras }) => cameras.map(({ name, file, more_files }) => (
  `with ${name}: ${titleOf({ file, files: [file, ...more_files] })}`));
export const isBusy = (state) => state === "queued" || state === "running";

// The kind of an alert by its severity, with its sign.
export const SIGNS = { high: "▲", medium: "◆", low: "●", check: "☞", undecided: "?" };
export function kindOf({ code, severity }) {
  if (code === "HAND_PAY") return "check";
  return severity in SIGNS ? severity : "medium";
}

export function progressNode(recording) {
  const { state, at_s, duration_s, speed } = recording;
  if (state === "done") return html("span", { class: "num" }, clock(duration_s));
  const words = `${clock(at_s)}${duration_s ? ` of ${clock(duration_s)}` : ""}${state === "running" && speed ? `, ${speed.toFixed(1)}× real time` : ""}`;
  return html("span", { class: "num" }, html("progress", {
    max: duration_s || 1, value: duration_s ? Math.min(at_s, duration_s) : 0, "aria-label": words,
  }), ` ${words}`);
}
