// The right side: the verdict on the picture, its boxes, what is known of it, its history.

import { face, isCard, shortName } from "./cards.js";
import { readingOrder } from "./model.js";
import { html } from "./svg.js";

export function person(author) {
  if (!author) return "nobody";
  const [kind, ...name] = author.split(":");
  return kind === "person" ? name.join(":") : `${name.join(":")} (${kind})`;
}

export function when(iso) {
  const time = new Date(iso);
  const two = (number) => String(number).padStart(2, "0");
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())} `
    + `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
}

export class Panel {
  // `actions`: select(uid), confirm(), unconfirm(), loadHistory(), bringBack(revision).
  constructor(parts, actions) {
    this.parts = parts;
    this.actions = actions;
    this.changes = null;
  }

  draw(doc, selected, marks) {
    // Drawn only when something changed: a button that has the focus keeps it.
    const told = JSON.stringify([doc, selected, [...marks]]);
    if (told === this.told) return;
    this.told = told;
    this.#verdict(doc);
    this.#boxes(doc, selected, marks);
    this.#facts(doc.form);
  }

  #verdict(doc) {
    const { form } = doc;
    const root = this.parts.verdict;
    root.className = doc.confirmed ? "done" : "open";
    if (doc.confirmed) {
      const by = doc.wantConfirmed ? "you, being saved" : person(form.confirmed_by);
      root.replaceChildren(
        html("p", { class: "big" }, html("span", { "aria-hidden": "true" }, "✓ "), "Confirmed"),
        html("p", {}, `by ${by}${form.confirmed_at ? `, ${when(form.confirmed_at)}` : ""}`),
        html("button", { type: "button", onclick: this.actions.unconfirm },
          "Take back ", html("kbd", {}, "Shift Enter")),
      );
    } else {
      root.replaceChildren(
        html("p", { class: "big" }, html("span", { "aria-hidden": "true" }, "○ "), "Not confirmed"),
        html("p", {}, `labelled by ${person(form.labelled_by)}`),
        html("button", { type: "button", class: "go", onclick: this.actions.confirm },
          "Confirm, go on ", html("kbd", {}, "Enter")),
      );
    }
  }

  #boxes(doc, selected, marks) {
    const lines = readingOrder(doc.boxes).map((box, n) => {
      const { tone } = face(box.label);
      const size = `${Math.round(box.x1 - box.x0)} × ${Math.round(box.y1 - box.y0)}`;
      const sure = box.score === null ? "" : `${Math.round(100 * box.score)} %`;
      return html(
        "li", {},
        html(
          "button",
          {
            type: "button", tabindex: "-1", class: tone, "data-uid": box.uid,
            "aria-pressed": box.uid === selected ? "true" : "false",
            onclick: () => this.actions.select(box.uid),
          },
          html("span", { class: "dim num" }, n + 1),
          html("b", {}, isCard(box.label) ? shortName(box.label) : box.label),
          html("span", { class: "mark" }, marks.get(box.uid) ?? ""),
          html("span", { class: "dim num", title: "How sure the model was" }, sure),
          html("span", { class: "dim num", title: "px" }, size),
        ),
      );
    });
    this.parts.boxes.replaceChildren(
      html("h2", {}, `Boxes ${doc.boxes.length}`),
      lines.length ? html("ol", {}, ...lines)
        : html("p", { class: "dim" }, "None. Drag on the picture, or press N."),
    );
    this.parts.boxes.querySelector("[aria-pressed=true]")?.scrollIntoView({ block: "nearest" });
  }

  #facts(form) {
    const facts = [
      ["File", form.file], ["Size", `${form.width} × ${form.height} px`],
      ["Labelled by", person(form.labelled_by)],
      ["Confirmed by", form.confirmed_by ? person(form.confirmed_by) : "nobody"],
      ["Split", form.split], ["Deal", form.deal], ["Source", form.source],
      ["Time", form.time_s === null ? null : `${form.time_s} s`],
      ["Camera", form.camera], ["Deck", form.deck], ["Shift", form.shift],
      ["Revision", String(form.revision)],
    ];
    this.parts.facts.replaceChildren(
      html("h2", {}, "Picture"),
      html("dl", {}, ...facts.filter(([, value]) => value !== null && value !== "")
        .flatMap(([name, value]) => [html("dt", {}, name), html("dd", {}, value)])),
    );
  }

  // `changes`: null folds the history up.
  drawHistory(changes) {
    this.changes = changes;
    const head = html(
      "h2", {},
      html("button", {
        type: "button", tabindex: "-1", "aria-expanded": changes ? "true" : "false",
        onclick: this.actions.loadHistory,
      }, changes ? "▾ History" : "▸ History"),
    );
    if (!changes) {
      this.parts.history.replaceChildren(head);
      return;
    }
    const lines = changes.toReversed().map((change, n) => html(
      "li", {},
      html("p", {}, html("b", {}, `${change.revision}. ${change.what}`),
        ` · ${change.boxes} boxes`),
      html("p", { class: "dim" }, `${person(change.by)}, ${when(change.at)}`),
      n > 0 && ["added", "boxes"].includes(change.what)
        ? html("button", {
          type: "button", tabindex: "-1",
          onclick: () => this.actions.bringBack(change.revision),
        }, "Bring these boxes back")
        : null,
    ));
    this.parts.history.replaceChildren(head, html("ol", {}, ...lines));
  }
}
