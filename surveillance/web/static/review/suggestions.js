// What a model suggests for the image shown: gone through one by one, accepted or rejected.
// Which boxes differ is decided by the server, by the rule of `dataset diff`.

import { face, isCard, shortName } from "./cards.js";
import { toWire, withUid } from "./model.js";
import { html } from "./svg.js";

const MOST_SHOWN = 60;

export class Suggestions {
  // `app`: doc, api, editing, select(uid), labels, say(words), stage, render().
  constructor(app, root) {
    this.app = app;
    this.root = root;
    this.clear();
  }

  clear() {
    this.answer = null;
    this.answerAbout = null; // the boxes that `answer` is about
    this.asked = null;
    this.active = null;
    this.root.replaceChildren();
    this.drawn = null;
  }

  // Ask what is suggested for these boxes of a doc; the answer is drawn when it comes.
  async check(doc, boxes) {
    if (boxes === this.asked) return;
    this.asked = boxes;
    try {
      const answer = await this.app.api.suggestions(doc.id, boxes.map(toWire));
      if (this.asked !== boxes || this.app.doc !== doc) return;
      this.answer = answer;
      this.answerAbout = boxes;
      if (answer.by !== null && doc.rejected === null) {
        doc.rejected = answer.rejected;
        doc.savedRejected = answer.rejected;
      }
      this.app.render();
    } catch {
      if (this.asked === boxes) this.asked = null; // the next change asks again
    }
  }

  // Those still open, the most certain first; the box that each is about by its uid.
  get open() {
    if (!this.answer?.by) return [];
    const rejected = new Set(this.app.doc.rejected ?? []);
    const there = new Set(this.app.editing.boxes.map((box) => box.uid));
    return this.answer.suggestions
      .map((one) => ({ ...one, uid: one.own === null ? null : this.answerAbout[one.own].uid }))
      .filter((one) => !rejected.has(one.key) && (one.uid === null || there.has(one.uid)));
  }

  // The one that keys are about: none while a box is selected.
  get current() {
    if (this.app.selection.size) return null;
    const { open } = this;
    return open.find((one) => one.key === this.active) ?? open[0] ?? null;
  }

  next(step = 1) {
    const { open } = this;
    if (!open.length) {
      this.app.say(this.answer?.by ? "No suggestion is left for this image."
        : "Nobody suggested labels for this image: dataset diff --suggest.");
      return;
    }
    const hadSelected = this.app.selection.size > 0;
    this.app.select(null);
    const at = open.findIndex((one) => one.key === (this.current?.key ?? null));
    const place = hadSelected ? Math.max(at, 0) : (at + step + open.length) % open.length;
    this.active = open[place].key;
    this.#reveal();
    this.app.render();
  }

  #reveal() {
    const box = this.#boxOf(this.current);
    if (box) this.app.stage.reveal(box);
  }

  #boxOf(one) {
    if (!one) return null;
    return one.result ?? this.app.editing.boxes.find((box) => box.uid === one.uid) ?? null;
  }

  accept() {
    const one = this.current;
    if (one) this.#take([one], `Accepted: ${this.words(one)}.`);
    else this.next();
  }

  acceptAll() {
    const { open } = this;
    if (open.length) this.#take(open, `Accepted all ${open.length} suggestions.`);
  }

  reject() {
    const one = this.current;
    if (one) this.#refuse([one], `Rejected: ${this.words(one)}.`);
    else this.next();
  }

  rejectAll() {
    const { open } = this;
    if (open.length) this.#refuse(open, `Rejected all ${open.length} suggestions.`);
  }

  async #take(some, words) {
    const { app } = this;
    app.editing.flush();
    const { doc } = app;
    const labels = some.map((one) => one.result?.label).filter((label) => label !== undefined);
    for (const label of new Set(labels)) {
      if (app.labels.includes(label)) continue;
      try {
        app.setLabels(await app.api.addLabel(label));
      } catch (error) {
        app.say(`${label} was not added to the labels: ${error.message}.`);
        return;
      }
    }
    const after = this.#after(some);
    let { boxes } = doc;
    for (const { uid, result } of some) {
      if (uid === null) boxes = [...boxes, withUid(result)];
      else if (result === null) boxes = boxes.filter((box) => box.uid !== uid);
      else boxes = boxes.map((box) => (box.uid === uid ? Object.freeze({ ...result, uid }) : box));
    }
    // Until the server is asked again, those taken are no longer open.
    const taken = new Set(some.map((one) => one.key));
    this.answer = { ...this.answer, suggestions: this.answer.suggestions.filter((s) => !taken.has(s.key)) };
    this.active = after;
    app.editing.step(doc, boxes);
    this.#reveal();
    app.say(`${words} Ctrl+Z takes it back.`);
  }

  #refuse(some, words) {
    const { app } = this;
    app.editing.flush();
    const after = this.#after(some);
    const keys = [...new Set([...(app.doc.rejected ?? []), ...some.map((one) => one.key)])].sort();
    this.active = after;
    app.editing.step(app.doc, app.doc.boxes, keys);
    this.#reveal();
    app.say(`${words} Ctrl+Z takes it back.`);
  }

  // The one to go on with when some are gone.
  #after(some) {
    const gone = new Set(some.map((one) => one.key));
    const { open } = this;
    const at = open.findIndex((one) => one.key === some.at(-1).key);
    return [...open.slice(at + 1), ...open.slice(0, at)].find((one) => !gone.has(one.key))?.key ?? null;
  }

  words({ kind, result, uid }) {
    const name = (label) => (isCard(label) ? shortName(label) : label);
    const own = this.app.editing.boxes.find((box) => box.uid === uid);
    if (kind === "extra") return `add ${name(result.label)}`;
    if (kind === "missing") return `delete ${own ? name(own.label) : "a box"}`;
    if (kind === "loose_box") return `other edges of ${name(result.label)}`;
    return `${own ? name(own.label) : "?"} is ${name(result.label)}`;
  }

  // What the stage shows: boxes as suggested, the one that keys are about marked; none over a
  // box that is selected.
  get hints() {
    const key = this.current?.key ?? null;
    return this.open.filter(({ uid }) => !this.app.selection.has(uid)).map((one) => ({
      key: one.key, box: this.#boxOf(one), deletes: one.result === null, active: one.key === key,
      words: `${this.words(one)}${one.score === null ? "" : ` ${Math.round(100 * one.score)} %`}`,
    })).filter((hint) => hint.box);
  }

  draw() {
    const { open, current } = this;
    const content = JSON.stringify([this.answer?.by, open.map((one) => one.key), current?.key]);
    if (content === this.drawn) return;
    this.drawn = content;
    if (!this.answer?.by) {
      this.root.replaceChildren();
      return;
    }
    const button = (words, key, run) => html(
      "button", { type: "button", tabindex: "-1", onclick: run }, words, html("kbd", {}, key));
    const lines = open.slice(0, MOST_SHOWN).map((one) => html("li", {}, html(
      "button",
      {
        type: "button", tabindex: "-1", "data-key": one.key, class: face(one.result?.label ?? "").tone,
        "aria-pressed": one.key === current?.key ? "true" : "false",
        onclick: () => {
          this.app.select(null);
          this.active = one.key;
          this.#reveal();
          this.app.render();
        },
      },
      html("b", {}, this.words(one)),
      html("span", { class: "dim num", title: "How sure the model is" },
        one.score === null ? "" : `${Math.round(100 * one.score)} %`),
    )));
    this.root.replaceChildren(...[
      html("h2", {}, `Suggestions ${open.length}`),
      open.length ? html("ol", {}, ...lines)
        : html("p", { class: "dim" }, "None left: the labels agree, or the rest was rejected."),
      open.length > MOST_SHOWN ? html("p", { class: "dim" }, `and ${open.length - MOST_SHOWN} more`) : null,
      open.length ? html("p", { class: "choices" },
        button("Accept ", "A", () => this.accept()), button("Reject ", "X", () => this.reject()),
        button("Next ", "S", () => this.next())) : null,
    ].filter((part) => part !== null));
    this.root.querySelector("[aria-pressed=true]")?.scrollIntoView({ block: "nearest" });
  }
}
