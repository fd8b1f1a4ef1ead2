// The 53-card check: which cards of the deal are labelled here, which on its other images, and
// which lie twice. What counts as twice is decided by the server, by the rule of `dataset check`.

import { DECK, face, isCard, shortName } from "./cards.js";
import { toWire } from "./model.js";
import { html } from "./svg.js";

const HERE = "●";
const ELSEWHERE = "○";
export const DOUBLE = "‼";

export class Deal {
  // `onjump(id)`: a card of another image was clicked; `onchange()`: more is known.
  constructor(root, api, { onjump, onchange }) {
    this.root = root;
    this.api = api;
    this.onjump = onjump;
    this.onchange = onchange;
    this.answer = null; // of the API; `pictures` is null until it comes
    this.asked = null; // the boxes that `answer` is or will be about
    this.running = null;
    this.root.hidden = true;
  }

  // Another image is shown. The strip stays where it is, so that the image does not jump.
  begin(doc) {
    const { deal } = doc.form;
    this.answer = deal && { deal, pictures: null, left_out: 0, elsewhere: {}, twice: [] };
    this.asked = null;
    this.boxes = null;
    this.running = null;
    this.root.hidden = !deal;
  }

  // Check these boxes of a doc's image; a promise that holds when `answer` is about them.
  // `again`: also when they were checked before, as other images may have changed.
  check(doc, boxes, { again = false } = {}) {
    if (!doc.form.deal) return Promise.resolve();
    if (boxes === this.boxes && this.asked && !again) return this.running ?? Promise.resolve();
    this.boxes = boxes;
    const asked = JSON.stringify([doc.id, boxes.map(toWire)]);
    if (asked === this.asked && !again) return this.running ?? Promise.resolve();
    this.asked = asked;
    const run = this.api.deal(doc.id, boxes.map(toWire)).then((answer) => {
      if (this.asked !== asked) return;
      const isNew = JSON.stringify(answer) !== JSON.stringify(this.answer);
      this.answer = answer;
      this.file = doc.form.file;
      this.root.hidden = !answer.deal;
      if (isNew) this.onchange();
    }, () => {
      // The next change or poll asks again.
      if (this.asked === asked) this.asked = null;
    }).finally(() => { if (this.running === run) this.running = null; });
    this.running = run;
    return run;
  }

  others(label) {
    return this.answer?.elsewhere[label] ?? [];
  }

  // The cards that lie twice, this image being one of the places.
  doubles() {
    return [...new Set((this.answer?.twice ?? [])
      .filter(({ where }) => where.includes(this.file)).map(({ card }) => card))];
  }

  // "A♠ lies twice in this deal: …" or an empty text.
  warning(label) {
    const found = this.answer?.twice.find(
      ({ card, where }) => card === label && where.includes(this.file),
    );
    if (!found) return "";
    const others = found.where.filter((file) => file !== this.file);
    const where = others.length ? `here and ${others.join(", ")}` : "both on this image";
    return `${DOUBLE} ${shortName(label)} lies twice in this deal: ${where}`;
  }

  draw(boxes, typedNow = null) {
    if (!this.answer?.deal) return;
    const here = new Set(boxes.map((box) => box.label).filter(isCard));
    const seen = DECK.filter((label) => here.has(label) || this.others(label).length);
    const doubles = DECK.filter((label) => this.answer.twice.some(({ card }) => card === label));
    const many = this.answer.pictures === 1 ? "1 image" : `${this.answer.pictures ?? "…"} images`;
    const cut = this.answer.left_out ? `, ${this.answer.left_out} of them not checked` : "";
    this.root.replaceChildren(
      html(
        "p", { class: "words" },
        html("b", {}, `Deal ${this.answer.deal}`), ` · ${many}${cut} · `,
        html("b", { class: "num" }, `${seen.length} of 53`), " cards seen · ",
        doubles.length
          ? html("b", { class: "bad" }, `${DOUBLE} twice: ${doubles.map(shortName).join("  ")}`)
          : "no card twice",
        html(
          "span", { class: "legend" },
          `${HERE} on this image   ${ELSEWHERE} on another of the deal   ${DOUBLE} twice`,
        ),
      ),
      html("div", { class: "strip" }, ...DECK.map((label) => this.#cell(
        label, here.has(label), doubles.includes(label), label === typedNow,
      ))),
    );
  }

  #cell(label, isHere, isDouble, isTyped) {
    const others = this.others(label);
    const { rank, sign, tone, words } = face(label);
    const state = isDouble ? DOUBLE : isHere ? HERE : others.length ? ELSEWHERE : "";
    const places = [...(isHere ? ["this image"] : []), ...others.map((seen) => seen.file)];
    const where = places.length ? places.join(", ") : "not seen";
    const classes = ["card", tone, isHere ? "here" : others.length ? "elsewhere" : "unseen-card"];
    if (isDouble) classes.push("double");
    if (isTyped) classes.push("typed");
    return html(
      "button",
      {
        type: "button", tabindex: "-1", class: classes.join(" "), "data-card": label,
        title: `${words}: ${where}`, "aria-label": `${words}: ${isDouble ? "twice, " : ""}${where}`,
        onclick: () => others.length && this.onjump(others[0].picture),
      },
      html("b", {}, rank), html("span", {}, sign), html("i", {}, state),
    );
  }
}
