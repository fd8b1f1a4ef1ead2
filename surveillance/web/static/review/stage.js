// The picture with its boxes: drawing, zoom and pan. Knows px of the screen and of the picture.

import { face, isCard, shortName } from "./cards.js";
import { middle } from "./model.js";
import { svg } from "./svg.js";

const MOST_SCALE = 40;
const MARGIN_PX = 12;
export const HANDLES = [[-1, -1], [0, -1], [1, -1], [1, 0], [1, 1], [0, 1], [-1, 1], [-1, 0]];

export class Stage {
  constructor(root, canvas, veil) {
    this.root = root;
    this.canvas = canvas;
    this.veil = veil;
    this.size = null; // of the picture, px
    this.scale = 1;
    this.x = 0;
    this.y = 0;
    this.fitted = true;
    this.showing = "labels"; // labels, outlines, nothing
    this.onview = () => {};
    this.image = svg("image", { preserveAspectRatio: "none" });
    this.layer = svg("g");
    this.canvas.append(this.image, this.layer);
    this.preloaded = new Map();
    this.token = 0;
    new ResizeObserver(() => this.#resized()).observe(root);
  }

  get width() {
    return this.root.clientWidth;
  }

  get height() {
    return this.root.clientHeight;
  }

  get rem() {
    return parseFloat(getComputedStyle(document.documentElement).fontSize);
  }

  // Start loading a picture that will be shown soon.
  preload(url) {
    const held = this.preloaded.get(url);
    if (held) return held;
    const image = new Image();
    image.src = url;
    const ready = image.decode().then(() => image);
    ready.catch(() => this.preloaded.delete(url));
    this.preloaded.set(url, ready);
    if (this.preloaded.size > 8) this.preloaded.delete(this.preloaded.keys().next().value);
    return ready;
  }

  // Put up a picture; resolves when it can be seen, or its trouble can.
  async show(form) {
    this.token += 1;
    const { token } = this;
    const isOther = this.url !== form.image_url;
    this.url = form.image_url;
    const slow = setTimeout(() => this.#say(`Loading ${form.file} …`), 150);
    let trouble = "";
    try {
      const image = await this.preload(form.image_url);
      if (image.naturalWidth !== form.width || image.naturalHeight !== form.height) {
        trouble = `The manifest says ${form.width} × ${form.height} px, but the file has `
          + `${image.naturalWidth} × ${image.naturalHeight}: run dataset check.`;
      }
    } catch {
      trouble = `${form.file} cannot be shown: the file is missing or broken.`;
    }
    clearTimeout(slow);
    if (token !== this.token) return false;
    this.size = { width: form.width, height: form.height };
    this.image.setAttribute("width", form.width);
    this.image.setAttribute("height", form.height);
    this.image.setAttribute("href", form.image_url);
    this.#say(trouble);
    if (isOther) this.fit();
    return true;
  }

  #say(words) {
    this.veil.textContent = words;
    this.veil.hidden = !words;
  }

  #resized() {
    if (!this.size) return;
    if (this.fitted) this.fit();
    else this.#view(this.scale, this.x, this.y);
  }

  get fitScale() {
    const width = Math.max(50, this.width - 2 * MARGIN_PX);
    const height = Math.max(50, this.height - 2 * MARGIN_PX);
    return Math.min(width / this.size.width, height / this.size.height, 8);
  }

  fit() {
    const scale = this.fitScale;
    this.#view(
      scale, (this.width - scale * this.size.width) / 2, (this.height - scale * this.size.height) / 2,
    );
    this.fitted = true;
  }

  // Zoom about a point of the screen within the stage; the middle when none is given.
  zoom(factor, at = { x: this.width / 2, y: this.height / 2 }) {
    const scale = Math.min(Math.max(this.scale * factor, this.fitScale / 2), MOST_SCALE);
    const ratio = scale / this.scale;
    this.#view(scale, at.x - (at.x - this.x) * ratio, at.y - (at.y - this.y) * ratio);
  }

  pan(dx, dy) {
    this.#view(this.scale, this.x + dx, this.y + dy);
  }

  zoomTo(box) {
    const side = Math.max(box.x1 - box.x0, box.y1 - box.y0, 8);
    const wanted = (0.35 * Math.min(this.width, this.height)) / side;
    const scale = Math.min(MOST_SCALE, Math.max(this.fitScale, wanted));
    const { x, y } = middle(box);
    this.#view(scale, this.width / 2 - scale * x, this.height / 2 - scale * y);
  }

  // Pan just so far that a box is in sight.
  reveal(box) {
    const { x, y } = this.toScreen(middle(box));
    const half = { x: this.width / 2, y: this.height / 2 };
    if (Math.abs(x - half.x) > 0.8 * half.x || Math.abs(y - half.y) > 0.8 * half.y) {
      this.pan(half.x - x, half.y - y);
    }
  }

  #view(scale, x, y) {
    this.fitted = false;
    this.scale = scale;
    // Some of the picture always stays in sight.
    const keep = 60;
    this.x = Math.min(Math.max(x, keep - scale * this.size.width), this.width - keep);
    this.y = Math.min(Math.max(y, keep - scale * this.size.height), this.height - keep);
    this.image.setAttribute("transform", `translate(${this.x} ${this.y}) scale(${scale})`);
    this.image.classList.toggle("grainy", scale >= 4);
    this.onview();
  }

  // A point of the window in px of the picture.
  toPicture(clientX, clientY) {
    const frame = this.canvas.getBoundingClientRect();
    return {
      x: (clientX - frame.left - this.x) / this.scale,
      y: (clientY - frame.top - this.y) / this.scale,
    };
  }

  toScreen({ x, y }) {
    return { x: this.x + this.scale * x, y: this.y + this.scale * y };
  }

  // A point turned into the box's own frame, where its edges are upright.
  intoFrame(box, point) {
    if (!box.angle_deg) return point;
    const { x, y } = middle(box);
    const turn = (-box.angle_deg * Math.PI) / 180;
    const [dx, dy] = [point.x - x, point.y - y];
    return {
      x: x + dx * Math.cos(turn) - dy * Math.sin(turn),
      y: y + dx * Math.sin(turn) + dy * Math.cos(turn),
    };
  }

  // The boxes under a point of the picture, the smallest first.
  boxesAt(point, boxes) {
    const slack = 3 / this.scale;
    return boxes
      .filter((box) => {
        const { x, y } = this.intoFrame(box, point);
        return x >= box.x0 - slack && x <= box.x1 + slack
          && y >= box.y0 - slack && y <= box.y1 + slack;
      })
      .sort((a, b) => (a.x1 - a.x0) * (a.y1 - a.y0) - (b.x1 - b.x0) * (b.y1 - b.y0));
  }

  // The handle of a box under a point: [-1..1, -1..1], or null.
  handleAt(point, box) {
    const { x, y } = this.intoFrame(box, point);
    const reach = (0.55 * this.rem) / this.scale;
    // Small boxes keep a middle by which they can be moved.
    const inner = (low, high) => Math.min(reach, (high - low) / 4);
    const near = (at, low, high) => {
      const toLow = at - low;
      const toHigh = at - high;
      if (toHigh > -inner(low, high) && toHigh < reach) return 1;
      if (toLow < inner(low, high) && toLow > -reach) return -1;
      return toLow >= 0 && toHigh <= 0 ? 0 : null;
    };
    const [h, v] = [near(x, box.x0, box.x1), near(y, box.y0, box.y1)];
    return h === null || v === null || (h === 0 && v === 0) ? null : [h, v];
  }

  // `marks`: a map from uid to a sign such as "‼" that stands before the label.
  draw(boxes, selected, marks = new Map(), ghost = null) {
    this.layer.replaceChildren();
    if (!this.size || (this.showing === "nothing" && selected === null)) return;
    const rest = this.showing === "nothing" ? [] : boxes.filter((box) => box.uid !== selected);
    for (const box of rest) this.layer.append(this.#box(box, false, marks.get(box.uid)));
    const chosen = boxes.find((box) => box.uid === selected);
    if (chosen) this.layer.append(this.#box(chosen, true, marks.get(chosen.uid)));
    if (ghost) this.layer.append(this.#box({ ...ghost, label: "" }, true));
  }

  #box(box, isSelected, mark = "") {
    const [x, y] = [this.x + this.scale * box.x0, this.y + this.scale * box.y0];
    const [width, height] = [this.scale * (box.x1 - box.x0), this.scale * (box.y1 - box.y0)];
    const group = svg("g", {
      class: `box ${face(box.label).tone}${isSelected ? " selected" : ""}`
        + `${mark ? " doubled" : ""}${box.score === null ? "" : " guessed"}`,
      "data-label": box.label,
    });
    if (box.angle_deg) {
      group.setAttribute("transform", `rotate(${box.angle_deg} ${x + width / 2} ${y + height / 2})`);
    }
    const edges = { x, y, width: Math.max(1, width), height: Math.max(1, height) };
    group.append(svg("rect", { class: "halo", ...edges }), svg("rect", { class: "edge", ...edges }));
    if (isSelected) {
      const side = 0.5 * this.rem;
      for (const [h, v] of HANDLES) {
        group.append(svg("rect", {
          class: "handle", width: side, height: side,
          x: x + ((h + 1) / 2) * width - side / 2, y: y + ((v + 1) / 2) * height - side / 2,
        }));
      }
    }
    if (box.label && (this.showing === "labels" || isSelected)) {
      group.append(...this.#tag(box, x, y, height, isSelected, mark));
    }
    return group;
  }

  #tag(box, x, y, height, isSelected, mark) {
    const words = `${mark ? `${mark} ` : ""}${isCard(box.label) ? shortName(box.label) : box.label}`;
    const letter = (isSelected ? 1.05 : 0.85) * this.rem;
    const signs = [...words.replace("\ufe0e", "")];
    const wide = letter * (0.45 + 0.64 * signs.length + (isCard(box.label) ? 0.25 : 0));
    const tall = 1.25 * letter;
    const top = y - tall - 2 > 0 ? y - tall - 2 : Math.min(y + height + 2, this.height - tall);
    const text = svg("text", { x: x + 0.18 * letter, y: top + letter, "font-size": letter });
    text.textContent = words;
    return [svg("rect", { class: "tag", x, y: top, width: wide, height: tall, rx: 3 }), text];
  }
}
