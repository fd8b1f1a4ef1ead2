// The shift as a line: rounds as blocks, alerts as signs over them, the place that plays.

import { svg } from "/static/shared/dom.js";
import { SIGNS, clock, kindOf } from "/static/recordings/words.js";

const HEIGHT = 134;
const LANES = { ticks: 18, alerts: 52, rounds: 66, roundsHigh: 48 };
const STEPS_S = [1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200];
const LEAST_SPAN_S = 5;
const TICK_PX = 90;
const MARK_PX = 15;

export class Timeline {
  constructor(node, { onPlay, onRound, onAlert }) {
    this.node = node;
    this.handlers = { onPlay, onRound, onAlert };
    this.chosen = null; // the alert that is gone to
    this.at = 0;
    this.from = 0;
    this.span = null;
    node.addEventListener("click", (event) => this.clicked(event));
    node.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(event.deltaY < 0 ? 0.7 : 1 / 0.7, this.secondsAt(event.clientX));
    }, { passive: false });
    new ResizeObserver(() => this.draw()).observe(node);
  }

  get length() {
    const { recording, rounds } = this.form;
    return Math.max(recording.duration_s ?? 0, recording.at_s, rounds.at(-1)?.end_s ?? 0, 1);
  }

  show(form) {
    this.form = form;
    if (this.span === null) this.span = this.length;
    this.draw();
  }

  zoom(factor, about = this.at) {
    const span = Math.min(this.length, Math.max(LEAST_SPAN_S, this.span * factor));
    const share = (about - this.from) / this.span;
    this.span = span;
    this.from = Math.min(Math.max(0, about - share * span), this.length - span);
    this.draw();
  }

  all() {
    [this.from, this.span] = [0, this.length];
    this.draw();
  }

  // Move the playhead, and what is shown along with it.
  setAt(seconds) {
    this.at = seconds;
    if (seconds < this.from || seconds > this.from + this.span) {
      this.from = Math.min(Math.max(0, seconds - this.span / 5), Math.max(0, this.length - this.span));
      this.draw();
      return;
    }
    const head = this.node.querySelector(".head");
    const x = this.x(seconds);
    head?.setAttribute("x1", x);
    head?.setAttribute("x2", x);
  }

  x(seconds) {
    return ((seconds - this.from) / this.span) * this.width;
  }

  secondsAt(clientX) {
    const rect = this.node.getBoundingClientRect();
    const share = (clientX - rect.left) / rect.width;
    return Math.min(this.length, Math.max(0, this.from + share * this.span));
  }

  clicked(event) {
    const { round, alert } = event.target.dataset;
    if (alert !== undefined) this.handlers.onAlert(this.form.alerts[Number(alert)]);
    else if (round !== undefined) this.handlers.onRound(this.form.rounds[Number(round)]);
    else this.handlers.onPlay(this.secondsAt(event.clientX));
  }

  draw() {
    if (!this.form) return;
    const rect = this.node.getBoundingClientRect();
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize) / 15;
    this.width = Math.max(200, rect.width / rem);
    const picture = svg("svg", { viewBox: `0 0 ${this.width} ${HEIGHT}`, preserveAspectRatio: "none" });
    const { recording, rounds, alerts } = this.form;
    const step = STEPS_S.find((s) => (s / this.span) * this.width >= TICK_PX) ?? STEPS_S.at(-1);
    for (let t = Math.ceil(this.from / step) * step; t <= this.from + this.span; t += step) {
      const x = this.x(t);
      picture.append(svg("line", { class: "tick", x1: x, x2: x, y1: 0, y2: HEIGHT }),
        svg("text", { x: x + 4, y: LANES.ticks - 4 }, clock(t)));
    }
    rounds.forEach((round, n) => {
      const x = this.x(round.start_s);
      const wide = Math.max(2, this.x(round.end_s) - x);
      const isAt = this.at >= round.start_s && this.at <= round.end_s;
      const block = svg("rect", {
        class: `round${round.alerts ? " with-alerts" : ""}${isAt ? " is-at" : ""}`, "data-round": n,
        x, width: wide, y: LANES.rounds, height: LANES.roundsHigh, rx: 3,
      });
      const more = `${round.alerts ? `, ${round.alerts} alerts` : ""}${round.undecided ? `, ${round.undecided} not read` : ""}`;
      block.append(svg("title", {}, `${round.round_id}, ${clock(round.start_s)} to ${clock(round.end_s)}${more}`));
      picture.append(block);
      if (wide > 70) {
        const words = svg("text", { x: x + 6, y: LANES.rounds + 30, "pointer-events": "none" }, round.round_id);
        words.setAttribute("fill", "#eef3f1");
        picture.append(words);
      }
    });
    let beside = 0; // how many stand over each other here
    alerts.forEach((alert, n) => {
      const x = this.x(alert.at_s);
      beside = n && x - this.x(alerts[n - 1].at_s) < MARK_PX ? beside + 1 : 0;
      const kind = kindOf(alert);
      const sign = svg("text", {
        class: `mark${alert === this.chosen ? " is-at" : ""}`, "data-kind": kind, "data-alert": n, x: x + beside * MARK_PX, y: LANES.alerts,
      }, SIGNS[kind]);
      sign.append(svg("title", {}, `${clock(alert.at_s)} ${alert.code}: ${alert.message}`));
      picture.append(sign);
    });
    if (recording.state !== "done" && recording.duration_s) {
      picture.append(svg("rect", { class: "not-yet", x: this.x(recording.at_s), width: Math.max(0, this.x(this.length) - this.x(recording.at_s)), y: 0, height: HEIGHT, "pointer-events": "none" }));
    }
    const x = this.x(this.at);
    picture.append(svg("line", { class: "head", x1: x, x2: x, y1: 0, y2: HEIGHT, "pointer-events": "none" }));
    this.node.replaceChildren(picture);
    this.node.setAttribute("aria-valuemax", Math.round(this.length));
    this.node.setAttribute("aria-valuenow", Math.round(this.at));
    this.node.setAttribute("aria-valuetext", clock(this.at));
  }
}
