// The 53-card check: which cards of the deal are labelled here, which on its other pictures, and
// which lie twice. What counts as twice is decided by the server, by the rule of `dataset check`.

import { DECK, face, isCard, shortName } from "./cards.js";
import { toWire } from "./model.js";
import { html } from "./svg.js";

const HERE = "●";
const ELSEWHERE = "○";
export const DOUBLE = "‼";

export class Deal {
  // `onjump(id)`: a card of another picture was clicked; `onchange()`: more is known.
  constructor(root, api, { onjump, onchange }) {
    this.root = root;
    this.api = api;
    this.onjump = onjump;
    this.onchange = onchange;
    this.told = null; // what the API tells; `pictures` is null until it does
    this.asked = null; // the boxes that `told` is or will be about
    this.running = null;
    this.root.hidden = true;
  }

  // Another picture is shown. The strip stays where it is, so that the picture does not jump.
  begin(doc) {
    const { deal } = doc.form;
    this.told = deal && { deal, pictures: null, left_out: 0, elsewhere: {}, twice: [] };
    this.asked = null;
    this.boxes = null;
    this.running = null;
    this.root.hidden = !deal;
  }

  // Check these boxes of a doc's picture; a promise that holds when `told` is about them.
  // `again`: also when they were checked before, as other pictures may have changed.
  check(doc, boxes, { again = false } = {}) {
    if (!doc.form.deal) return Promise.resolve();
    if (boxes === this.boxes && this.asked && !again) return this.running ?? Promise.resolve();
    this.boxes = boxes;
    const asked = JSON.stringify([doc.id, boxes.map(toWire)]);
    if (asked === this.asked && !again) return this.running ?? Promise.resolve();
    this.asked = asked;
    const run = this.api.deal(doc.id, boxes.map(toWire)).then((told) => {
      if (this.asked !== asked) return;
      const isNew = JSON.stringify(told) !== JSON.stringify(this.told);
      this.told = told;
      this.file = doc.form.file;
      this.root.hidden = !told.deal;
      if (isNew) this.onchange();
    }, () => {
      // The next change or poll asks again.
      if (this.asked === asked) this.asked = null;
    }).finally(() => { if (this.running === run) this.running = null; });
    this.running = run;
    return run;
  }

  others(label) {
    return this.told?.elsewhere[label] ?? [];
  }

  // The cards that lie twice, this picture being one of the places.
  doubles() {
    return [...new Set((this.told?.twice ?? [])
      .filter(({ where }) => where.includes(this.file)).map(({ card }) => card))];
  }

  // "A♠ lies twice in this deal: …" or an empty text.
  warning(label) {
    const found = this.told?.twice.find(
      ({ card, where }) => card === label && where.includes(this.file),
    );
    if (!found) return "";
    const others = found.where.filter((file) => file !== this.file);
    const where = others.length ? `here and ${others.join(", ")}` : "both on this picture";
    return `${DOUBLE} ${shortName(label)} lies twice in this deal: ${where}`;
  }

  draw(boxes, typedNow = null) {
    if (!this.told?.deal) return;
    const here = new Set(boxes.map((box) => box.label).filter(isCard));
    const seen = DECK.filter((label) => here.has(label) || this.others(label).length);
    const doubles = DECK.filter((label) => this.told.twice.some(({ card }) => card === label));
    const many = this.told.pictures === 1 ? "1 picture" : `${this.told.pictures ?? "…"} pictures`;
    const cut = this.told.left_out ? `, ${this.told.left_out} of them not looked at` : "";
    this.root.replaceChildren(
      html(
        "p", { class: "words" },
        html("b", {}, `Deal ${this.told.deal}`), ` · ${many}${cut} · `,
        html("b", { class: "num" }, `${seen.length} of 53`), " cards seen · ",
        doubles.length
          ? html("b", { class: "bad" }, `${DOUBLE} twice: ${doubles.map(shortName).join("  ")}`)
          : "no card twice",
        html(
          "span", { class: "legend" },
          `${HERE} on this picture   ${ELSEWHERE} on another of the deal   ${DOUBLE} twice`,
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
    const places = [...(isHere ? ["this picture"] : []), ...others.map((seen) => seen.file)];
    const told = places.length ? places.join(", ") : "not seen";
    const classes = ["card", tone, isHere ? "here" : others.length ? "elsewhere" : "unseen-card"];
    if (isDouble) classes.push("double");
    if (isTyped) classes.push("typed");
    return html(
      "button",
      {
        type: "button", tabindex: "-1", class: classes.join(" "), "data-card": label,
        title: `${words}: ${told}`, "aria-label": `${words}: ${isDouble ? "twice, " : ""}${told}`,
        onclick: () => others.length && this.onjump(others[0].picture),
      },
      html("b", {}, rank), html("span", {}, sign), html("i", {}, state),
    );
  }
}
