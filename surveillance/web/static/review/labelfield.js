// The field in which a label is typed, with the labels it may become below it.

import { face, shortName, typed } from "./cards.js";
import { html } from "./svg.js";

const MOST_SHOWN = 8;

export class LabelField {
  // `labels()` gives the dataset's labels, `addLabel(name)` adds one (a promise),
  // `warning(label)` a text when that label would be doubled in the deal.
  constructor(root, stage, { labels, addLabel, warning, preview }) {
    this.root = root;
    this.stage = stage;
    this.labels = labels;
    this.addLabel = addLabel;
    this.warning = warning;
    this.preview = preview;
    this.recent = [];
    this.session = null;
    this.input = html("input", {
      id: "label-input", role: "combobox", "aria-label": "Label of the box", maxlength: "60",
      "aria-expanded": "true", "aria-controls": "label-options", "aria-autocomplete": "list",
      autocomplete: "off", spellcheck: "false",
    });
    this.list = html("ul", { id: "label-options", role: "listbox", "aria-label": "Labels" });
    this.words = html("p", { class: "warning", role: "status" });
    root.append(this.input, this.words, this.list);
    this.input.addEventListener("input", () => this.#refresh());
    this.input.addEventListener("keydown", (event) => this.#key(event));
    this.input.addEventListener("blur", () => this.#left());
  }

  get open() {
    return this.session !== null;
  }

  // Ask for a label. `done(label, then)` is called once: label null when given up; then is
  // "next" or "previous" when Tab was pressed.
  ask({ box, text = "", label = "", done }) {
    this.close();
    this.session = { done, box };
    this.root.hidden = false;
    this.input.value = text || label;
    this.place();
    this.input.focus({ preventScroll: true });
    if (!text) this.input.select();
    this.#refresh();
  }

  // Stand beside the box, inside the stage.
  place() {
    if (!this.session) return;
    const { box } = this.session;
    const low = this.stage.toScreen({ x: box.x0, y: box.y0 });
    const high = this.stage.toScreen({ x: box.x1, y: box.y1 });
    const [wide, tall] = [this.root.offsetWidth, Math.max(this.root.offsetHeight, 220)];
    let left = high.x + 12;
    if (left + wide > this.stage.width) left = low.x - wide - 12;
    const top = Math.min(Math.max(low.y, 8), this.stage.height - tall - 8);
    this.root.style.left = `${Math.max(8, Math.min(left, this.stage.width - wide - 8))}px`;
    this.root.style.top = `${Math.max(8, top)}px`;
  }

  close() {
    if (this.session) this.#finish(null);
  }

  #finish(label, then = "stay") {
    const { done } = this.session;
    this.session = null;
    this.root.hidden = true;
    this.preview(null);
    if (label) this.recent = [label, ...this.recent.filter((one) => one !== label)].slice(0, 12);
    this.stage.root.focus({ preventScroll: true });
    done(label, then);
  }

  #candidates() {
    const labels = this.labels();
    const wanted = typed(this.input.value);
    if (!wanted) return this.recent.filter((label) => labels.includes(label)).slice(0, MOST_SHOWN);
    const rank = (label) => {
      const name = label.toUpperCase();
      if (name === wanted) return 0;
      if (name.startsWith(wanted) || shortName(label).startsWith(wanted)) {
        return this.recent.includes(label) ? 1 : 2;
      }
      return name.includes(wanted) ? 3 : 9;
    };
    return labels.map((label, n) => [rank(label), n, label]).filter(([r]) => r < 9)
      .sort((a, b) => a[0] - b[0] || a[1] - b[1]).slice(0, MOST_SHOWN).map(([, , label]) => label);
  }

  #refresh() {
    if (!this.session) return;
    this.shown = this.#candidates();
    this.active = this.shown.length && this.input.value.trim() ? 0 : -1;
    this.#draw();
  }

  #draw() {
    this.list.replaceChildren(...this.shown.map((label, n) => html(
      "li",
      {
        role: "option", id: `label-option-${n}`, "aria-selected": n === this.active ? "true" : "false",
        class: face(label).tone,
        onpointerdown: (event) => { event.preventDefault(); this.#finish(label); },
      },
      html("b", {}, label), html("span", {}, face(label).sign ? shortName(label) : ""),
    )));
    const label = this.shown[this.active] ?? null;
    if (label) this.input.setAttribute("aria-activedescendant", `label-option-${this.active}`);
    else this.input.removeAttribute("aria-activedescendant");
    this.preview(label);
    this.warn();
    this.place();
  }

  // Say what is wrong with the label that stands there.
  warn() {
    if (!this.session) return;
    const label = this.shown?.[this.active] ?? null;
    const name = this.input.value.trim();
    const unknown = name && !label
      ? `The dataset has no label “${name}”. Ctrl+Enter adds it.` : "";
    this.words.textContent = unknown || (label && this.warning(label)) || "";
  }

  async #key(event) {
    event.stopPropagation();
    const label = this.shown[this.active] ?? null;
    if (event.key === "Escape") this.#finish(null);
    else if (event.key === "Enter" && event.ctrlKey) await this.#add();
    else if (event.key === "Enter" && label) this.#finish(label);
    else if (event.key === "Tab" && label) this.#finish(label, event.shiftKey ? "previous" : "next");
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const count = this.shown.length;
      if (count) this.active = (this.active + (event.key === "ArrowDown" ? 1 : count - 1)) % count;
      this.#draw();
    } else if (event.key !== "Enter" && event.key !== "Tab") return;
    event.preventDefault();
  }

  async #add() {
    const { session } = this;
    const name = this.input.value.trim();
    if (!name) return;
    try {
      await this.addLabel(name);
    } catch (error) {
      this.words.textContent = `Not added: ${error.message}`;
      return;
    }
    if (this.session === session) this.#finish(name);
  }

  // The focus went elsewhere: what stands there counts when it is a label as it is.
  #left() {
    if (!this.session || !document.hasFocus()) return;
    const wanted = typed(this.input.value);
    this.#finish(this.labels().find((label) => label.toUpperCase() === wanted) ?? null);
  }
}
