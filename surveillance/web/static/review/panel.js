// The right side: the verdict on the image, its boxes, what is known of it, its history.

import { face, isCard, shortName } from "./cards.js";
import { inReadingOrder } from "./model.js";
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
  // `actions`: select(uid, adds), confirm(), unconfirm(), loadHistory(), bringBack(revision).
  constructor(parts, actions) {
    this.parts = parts;
    this.actions = actions;
    this.changes = null;
    this.lines = new Map(); // what is listed of each box: {box, n, mark, isOn, node}, by uid
    this.list = null;
  }

  draw(doc, boxes, selection, marks) {
    // Drawn only when something changed: a button that has the focus keeps it.
    const { boxes: _, ...form } = doc.form;
    const content = JSON.stringify({ ...doc, form });
    if (content !== this.content) {
      this.content = content;
      this.#verdict(doc);
      this.#facts(doc.form);
    }
    this.#boxes(boxes, selection, marks);
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

  // Of thousands of lines only those are made again that changed.
  #boxes(boxes, selection, marks) {
    let isOther = !this.list;
    const old = this.lines;
    this.lines = new Map();
    for (const [n, box] of inReadingOrder(boxes).entries()) {
      const mark = marks.get(box.uid) ?? "";
      const isOn = selection.has(box.uid);
      let line = old.get(box.uid);
      if (line?.box !== box || line.mark !== mark) {
        line = { box, n, mark, isOn, node: this.#line(box, n, mark, isOn) };
        isOther = true;
      }
      if (line.n !== n) {
        line.n = n;
        line.node.querySelector(".at").textContent = String(n + 1);
        isOther = true;
      }
      if (line.isOn !== isOn) {
        line.isOn = isOn;
        line.node.firstChild.setAttribute("aria-pressed", String(isOn));
      }
      this.lines.set(box.uid, line);
    }
    isOther ||= old.size !== this.lines.size;
    if (isOther) this.#list(old);
    const { first } = selection;
    if (first === this.shownFirst && !isOther) return;
    this.shownFirst = first;
    this.lines.get(first)?.node.scrollIntoView({ block: "nearest" });
  }

  // Put the lines into the list in place of old ones; those that stay are not touched.
  #list(old) {
    if (!this.list) {
      this.list = html("ol", {});
      this.count = html("h2", {});
      this.none = html("p", { class: "dim" }, "None. Drag on the image, or press N.");
      this.parts.boxes.replaceChildren(this.count, this.none, this.list);
    }
    this.count.textContent = `Boxes ${this.lines.size}`;
    this.none.hidden = this.lines.size > 0;
    for (const [uid, { node }] of old) if (this.lines.get(uid)?.node !== node) node.remove();
    let at = this.list.firstChild;
    for (const { node } of this.lines.values()) {
      if (node === at) at = at.nextSibling;
      else this.list.insertBefore(node, at);
    }
  }

  #line(box, n, mark, isOn) {
    const size = `${Math.round(box.x1 - box.x0)} × ${Math.round(box.y1 - box.y0)}`;
    const angle = box.angle_deg ? `${box.angle_deg}°`.replace("-", "−") : "";
    const sure = box.score === null ? "" : `${Math.round(100 * box.score)} %`;
    return html("li", {}, html(
      "button",
      {
        type: "button", tabindex: "-1", class: face(box.label).tone, "data-uid": box.uid,
        "aria-pressed": String(isOn),
        onclick: (event) => this.actions.select(box.uid, event.ctrlKey || event.metaKey),
      },
      html("span", { class: "dim num at" }, n + 1),
      html("b", {}, isCard(box.label) ? shortName(box.label) : box.label),
      html("span", { class: "mark" }, mark),
      html("span", { class: "dim num", title: "How sure the model was" }, sure),
      html("span", { class: "dim num", title: "The angle" }, angle),
      html("span", { class: "dim num", title: "px" }, size),
    ));
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
      html("h2", {}, "Image"),
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
