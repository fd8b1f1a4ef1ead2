// The list of images on the left: read in pages, so that its length does not matter.

import { html } from "./svg.js";

const PAGE = 40;
const NEAR_END = 12;
const MOST_HELD = 400;

export class Film {
  constructor(root, api, onpick) {
    this.root = root;
    this.api = api;
    this.onpick = onpick;
    this.filter = {};
    this.items = []; // lines of the API, without a gap
    this.nodes = new Map();
    this.moreBefore = false;
    this.moreAfter = false;
    this.current = null;
    this.matching = null; // how many the filter lets through
    this.confirmed = null;
    this.firstPlace = null; // the place of items[0] among them
    this.loading = new Map();
    root.addEventListener("scroll", () => this.#scrolled(), { passive: true });
  }

  // Read the list again about an image (which may itself be outside the filter).
  async load(filter, id) {
    this.filter = filter;
    this.loading.clear();
    const token = Symbol("load");
    this.token = token;
    const [after, before] = await Promise.all([
      this.api.pictures(filter, { at: id, limit: PAGE }),
      id > 1 ? this.api.pictures(filter, { before: id, limit: PAGE / 2 }) : { pictures: [] },
    ]);
    if (token !== this.token) return false;
    this.items = [...before.pictures, ...after.pictures];
    this.moreBefore = Boolean(before.more);
    this.moreAfter = after.more;
    this.nodes.clear();
    this.root.replaceChildren(...this.items.map((line) => this.#node(line)));
    return true;
  }

  async recount() {
    const first = this.items[0];
    const token = this.token;
    const count = await this.api.count(this.filter, first?.id);
    if (token !== this.token) return;
    this.matching = count.matching;
    this.confirmed = count.confirmed;
    if (first && this.items[0] === first) this.firstPlace = count.place;
  }

  // From 1; null when it is not known or the image is outside the list.
  place(id) {
    const index = this.items.findIndex((line) => line.id === id);
    return index < 0 || this.firstPlace === null ? null : this.firstPlace + index;
  }

  // The neighbour of an image: step 1 or -1; null at the end of the list.
  async neighbour(id, step) {
    let line = this.#near(id, step);
    if (!line && (step > 0 ? this.moreAfter : this.moreBefore)) {
      await this.#more(step);
      line = this.#near(id, step);
    }
    return line ? line.id : null;
  }

  #near(id, step) {
    const place = this.items.findIndex((line) => line.id === id);
    if (place >= 0) return this.items[place + step];
    // An image outside the list has neighbours by number only.
    if (this.filter.order) return step > 0 ? this.items[0] : undefined;
    return step > 0
      ? this.items.find((line) => line.id > id)
      : this.items.findLast((line) => line.id < id);
  }

  // The next image of the filter that nobody confirmed, from the start again at the end.
  // `skip(id)` says which of them are as good as confirmed.
  async nextUnconfirmed(id, skip = undefined) {
    const filter = { ...this.filter, confirmed: false };
    for (const after of [id, 0]) {
      const { pictures } = await this.api.pictures(filter, { after, limit: 8 });
      const other = pictures.find((line) => line.id !== id && !skip?.(line.id));
      if (other) return other.id;
    }
    return null;
  }

  async show(id) {
    this.current = id;
    if (!this.items.some((line) => line.id === id)) {
      await this.load(this.filter, id);
      await this.recount();
    }
    if (this.current !== id) return;
    for (const [other, node] of this.nodes) {
      if (other === id) node.setAttribute("aria-current", "true");
      else node.removeAttribute("aria-current");
    }
    this.nodes.get(id)?.scrollIntoView({ block: "center" });
    const index = this.items.findIndex((line) => line.id === id);
    if (index >= 0 && index > this.items.length - NEAR_END && this.moreAfter) this.#more(1);
    if (index >= 0 && index < NEAR_END && this.moreBefore) this.#more(-1);
  }

  // Update the line of a doc that changed since the list was read.
  update(doc) {
    const line = this.items.find((one) => one.id === doc.id);
    if (!line) return;
    const was = line.confirmed_by !== null;
    line.boxes = doc.boxes.length;
    line.confirmed_by = doc.form.confirmed_by;
    line.unsaved = doc.waiting;
    const is = line.confirmed_by !== null;
    if (this.confirmed !== null && was !== is) this.confirmed += is ? 1 : -1;
    const old = this.nodes.get(doc.id);
    if (!old || old.dataset.shown === shownValues(line)) return;
    const node = this.#node(line);
    // The image itself stays: a new one would be loaded again.
    node.replaceChild(old.querySelector("img"), node.querySelector("img"));
    old.replaceWith(node);
    if (doc.id === this.current) node.setAttribute("aria-current", "true");
  }

  #more(step) {
    if (!this.loading.has(step)) {
      const run = this.#read(step).finally(() => {
        if (this.loading.get(step) === run) this.loading.delete(step);
      });
      this.loading.set(step, run);
    }
    return this.loading.get(step);
  }

  async #read(step) {
    const { token } = this;
    const edge = step > 0 ? this.items.at(-1).id : this.items[0].id;
    const place = step > 0 ? { after: edge, limit: PAGE } : { before: edge, limit: PAGE };
    const { pictures, more } = await this.api.pictures(this.filter, place);
    if (token !== this.token) return;
    const nodes = pictures.map((line) => this.#node(line));
    if (step > 0) {
      this.items.push(...pictures);
      this.moreAfter = more;
      this.root.append(...nodes);
    } else {
      const height = this.root.scrollHeight;
      this.items.unshift(...pictures);
      this.moreBefore = more;
      if (this.firstPlace !== null) this.firstPlace -= pictures.length;
      this.root.prepend(...nodes);
      this.root.scrollTop += this.root.scrollHeight - height;
    }
    this.#trim(step);
  }

  // Let go of what is far behind.
  #trim(step) {
    while (this.items.length > MOST_HELD) {
      const line = step > 0 ? this.items.shift() : this.items.pop();
      if (line.id === this.current) {
        if (step > 0) this.items.unshift(line);
        else this.items.push(line);
        return;
      }
      const node = this.nodes.get(line.id);
      if (step > 0) {
        this.root.scrollTop -= node.offsetHeight;
        this.moreBefore = true;
        if (this.firstPlace !== null) this.firstPlace += 1;
      } else {
        this.moreAfter = true;
      }
      node.remove();
      this.nodes.delete(line.id);
    }
  }

  #scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.root;
    if (scrollTop + 2 * clientHeight > scrollHeight && this.moreAfter) this.#more(1).catch(() => {});
    if (scrollTop < clientHeight && this.moreBefore) this.#more(-1).catch(() => {});
  }

  #node(line) {
    const isConfirmed = line.confirmed_by !== null;
    const name = line.file.split("/").at(-1);
    const state = isConfirmed ? `confirmed by ${line.confirmed_by}` : "not confirmed";
    const node = html(
      "button",
      {
        type: "button", tabindex: "-1", "data-id": line.id, "data-shown": shownValues(line),
        title: line.file,
        class: isConfirmed ? "done" : "open",
        "aria-label": `${line.file}, ${line.boxes} boxes, ${state}`,
        onclick: () => this.onpick(line.id),
      },
      html("img", {
        src: `${this.api.base}/pictures/${line.id}/thumbnail`, alt: "", loading: "lazy",
        decoding: "async",
      }),
      html("span", { class: "name" }, name),
      html(
        "span", { class: "state", "aria-hidden": "true" },
        line.unsaved ? "▲ not saved" : isConfirmed ? "✓" : "○",
        html("span", { class: "count" }, line.boxes ? ` ${line.boxes}` : " no boxes"),
      ),
    );
    this.nodes.set(line.id, node);
    return node;
  }
}

// What a line shows that may change.
const shownValues = (line) => `${line.boxes} ${line.confirmed_by} ${Boolean(line.unsaved)}`;
