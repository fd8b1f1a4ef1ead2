// The image with its boxes: drawing, zoom and pan. Knows px of the screen and of the image.

import { face, isCard, shortName } from "./cards.js";
import { middle } from "./model.js";
import { svg } from "./svg.js";

const MOST_SCALE = 40;
const MARGIN_PX = 12;
const KNOB_REM = 1.6; // how far above a box the knob stands by which it is turned
const CROWD = 300; // boxes on an image beyond which names are shown only where they have room
export const HANDLES = [[-1, -1], [0, -1], [1, -1], [1, 0], [1, 1], [0, 1], [-1, 1], [-1, 0]];

// The width of a plate for words, px.
const textWidth = (words, letter, more) => (
  letter * (0.45 + 0.64 * [...words.replace("\ufe0e", "")].length + more));

export class Stage {
  constructor(root, canvas, veil) {
    this.root = root;
    this.canvas = canvas;
    this.veil = veil;
    this.size = null; // of the image, px
    this.scale = 1;
    this.x = 0;
    this.y = 0;
    this.fitted = true;
    this.showing = "labels"; // labels, outlines, nothing
    this.onview = () => {};
    this.image = svg("image", { preserveAspectRatio: "none" });
    this.layer = svg("g");
    this.hints = svg("g");
    this.top = svg("g"); // the box that is selected first, above the others
    this.ghost = svg("g");
    this.overlay = svg("g", {}, this.layer, this.hints, this.top, this.ghost);
    this.nodes = new Map(); // what is drawn of each box: {box, as, node}, by uid
    this.crowded = false;
    this.canvas.append(this.image, this.overlay);
    this.preloaded = new Map();
    this.token = 0;
    this.letter = parseFloat(getComputedStyle(document.documentElement).fontSize);
    new ResizeObserver(() => this.#resized()).observe(root);
  }

  get width() {
    return this.root.clientWidth;
  }

  get height() {
    return this.root.clientHeight;
  }

  get rem() {
    return this.letter;
  }

  // Start loading an image that will be shown soon.
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

  // Put up an image; resolves when it can be seen, or its trouble can.
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
    this.letter = parseFloat(getComputedStyle(document.documentElement).fontSize);
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

  // Pan just so far that a box is visible.
  reveal(box) {
    const { x, y } = this.toScreen(middle(box));
    const half = { x: this.width / 2, y: this.height / 2 };
    // What lies at the rim of a whole image is visible already.
    if (this.fitted && x > 0 && y > 0 && x < this.width && y < this.height) return;
    if (Math.abs(x - half.x) > 0.8 * half.x || Math.abs(y - half.y) > 0.8 * half.y) {
      this.pan(half.x - x, half.y - y);
    }
  }

  #view(scale, x, y) {
    this.fitted = false;
    this.scale = scale;
    // Part of the image always stays visible.
    const keep = 60;
    this.x = Math.min(Math.max(x, keep - scale * this.size.width), this.width - keep);
    this.y = Math.min(Math.max(y, keep - scale * this.size.height), this.height - keep);
    this.image.setAttribute("transform", `translate(${this.x} ${this.y}) scale(${scale})`);
    this.overlay.setAttribute("transform", `translate(${this.x} ${this.y})`);
    this.image.classList.toggle("grainy", scale >= 4);
    this.onview();
  }

  // A point of the window in px of the image.
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

  // The boxes under a point of the image, the smallest first.
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

  // Whether a point of the image is on the knob by which a box is turned.
  isKnob(point, box) {
    const { x, y } = this.intoFrame(box, point);
    const reach = (0.6 * this.rem) / this.scale;
    const knob = { x: (box.x0 + box.x1) / 2, y: box.y0 - (KNOB_REM * this.rem) / this.scale };
    return Math.hypot(x - knob.x, y - knob.y) <= reach;
  }

  // The boxes whose centre lies within edges.
  boxesWithin(edges, boxes) {
    return boxes.filter((box) => {
      const { x, y } = middle(box);
      return x >= edges.x0 && x <= edges.x1 && y >= edges.y0 && y <= edges.y1;
    });
  }

  // `selection`: what is selected; `marks`: a map from uid to a sign such as "‼" that stands
  // before the label; `hints`: suggested boxes. What did not change since the last call stays.
  draw({ boxes, selection, marks = new Map(), ghost = null, hints = [] }) {
    if (!this.size) return;
    const hidden = this.showing === "nothing";
    const shown = hidden ? boxes.filter((box) => selection.has(box.uid)) : boxes;
    const view = `${this.scale} ${this.showing} ${shown.length > CROWD} ${this.rem}`;
    const gone = new Set(this.nodes.keys());
    this.crowded = shown.length > CROWD;
    const added = document.createDocumentFragment();
    for (const box of shown) {
      const isFirst = box.uid === selection.first;
      const mark = marks.get(box.uid) ?? "";
      const isChosen = selection.has(box.uid);
      const as = `${isChosen} ${isFirst} ${mark} ${view}`;
      const held = this.nodes.get(box.uid);
      gone.delete(box.uid);
      // The first one's name stays visible while the view moves.
      if (held && held.box === box && held.as === as && !isFirst) continue;
      const node = this.#box(box, { isFirst, isChosen, mark });
      this.nodes.set(box.uid, { box, as, node });
      if (isFirst) {
        held?.node.remove();
        this.top.replaceChildren(node);
      } else if (held && held.node.parentNode === this.layer) held.node.replaceWith(node);
      else {
        held?.node.remove();
        added.append(node);
      }
    }
    this.layer.append(added);
    for (const uid of gone) {
      this.nodes.get(uid).node.remove();
      this.nodes.delete(uid);
    }
    this.hints.replaceChildren(...(hidden ? [] : hints.map((hint) => this.#hint(hint))));
    this.ghost.replaceChildren(...(ghost
      ? [this.#box({ ...ghost, label: "" }, { isFirst: true, isChosen: true, mark: "" })] : []));
  }

  // A group for a box and its edges, in px of the screen from the image's corner on.
  #frame(box, attributes) {
    const [x, y] = [this.scale * box.x0, this.scale * box.y0];
    const [width, height] = [this.scale * (box.x1 - box.x0), this.scale * (box.y1 - box.y0)];
    const group = svg("g", attributes);
    if (box.angle_deg) {
      group.setAttribute("transform", `rotate(${box.angle_deg} ${x + width / 2} ${y + height / 2})`);
    }
    const edges = { x, y, width: Math.max(1, width), height: Math.max(1, height) };
    return { group, edges };
  }

  #box(box, { isFirst, isChosen, mark }) {
    const { group, edges } = this.#frame(box, {
      class: `box ${face(box.label).tone}${isFirst ? " selected" : ""}`
        + `${isChosen && !isFirst ? " chosen" : ""}`
        + `${mark ? " doubled" : ""}${(box.score ?? null) === null ? "" : " guessed"}`,
      "data-label": box.label,
    });
    // Of thousands of boxes each is drawn with one line less.
    if (!this.crowded || isChosen) group.append(svg("rect", { class: "halo", ...edges }));
    group.append(svg("rect", { class: "edge", ...edges }));
    if (isFirst) this.#handles(group, edges);
    if (box.label && (isFirst || (this.showing === "labels" && this.#hasRoom(box, edges)))) {
      group.append(...this.#tag(box, edges, isFirst, mark));
    }
    return group;
  }

  #handles(group, { x, y, width, height }) {
    const side = 0.5 * this.rem;
    const reach = KNOB_REM * this.rem;
    group.append(
      svg("line", { class: "stem", x1: x + width / 2, x2: x + width / 2, y1: y, y2: y - reach }),
      svg("circle", { class: "knob", cx: x + width / 2, cy: y - reach, r: 0.34 * this.rem }),
    );
    for (const [h, v] of HANDLES) {
      // Of a small box only what leaves its inside visible.
      if ((!h && width < 4 * side) || (!v && height < 4 * side)) continue;
      if (Math.max(width, height) < 2 * side && (h !== 1 || v !== 1)) continue;
      group.append(svg("rect", {
        class: "handle", width: side, height: side,
        x: x + ((h + 1) / 2) * width - side / 2, y: y + ((v + 1) / 2) * height - side / 2,
      }));
    }
  }

  // Whether the name of one of thousands of boxes can be read without hiding the others.
  #hasRoom(box, { width, height }) {
    if (!this.crowded) return true;
    const letter = 0.85 * this.rem;
    return height > 1.2 * letter && width > 0.5 * letter * (1 + box.label.length);
  }

  #hint({ box, deletes, active, words, key }) {
    const { group, edges } = this.#frame(box, {
      class: `hint ${deletes ? "deletes" : face(box.label).tone}${active ? " active" : ""}`,
      "data-key": key,
    });
    group.append(svg("rect", { class: "halo", ...edges }), svg("rect", { class: "edge", ...edges }));
    if (deletes) {
      const { x, y, width, height } = edges;
      group.append(svg("path", {
        class: "edge", d: `M${x} ${y}l${width} ${height}M${x + width} ${y}l${-width} ${height}`,
      }));
    }
    if (active) {
      const below = { ...edges, y: edges.y + edges.height + 1.7 * this.rem };
      group.append(...this.#words(`? ${words}`, below, 0.95 * this.rem));
    }
    return group;
  }

  #tag(box, edges, isFirst, mark) {
    const { x, y, height } = edges;
    const words = `${mark ? `${mark} ` : ""}${isCard(box.label) ? shortName(box.label) : box.label}`;
    const letter = (isFirst ? 1.05 : 0.85) * this.rem;
    const tall = 1.25 * letter;
    const above = y - tall - 2;
    const top = this.y + above > 0
      ? above : Math.min(y + height + 2, this.height - this.y - tall);
    const more = isCard(box.label) ? 0.25 : 0;
    // The knob of the first one stands above it: its name beside that.
    const free = edges.width / 2 - 0.5 * this.rem - textWidth(words, letter, more);
    let left = x;
    if (isFirst && top === above && free < 0) {
      left = this.x + x + free > 0 ? x + free : x + edges.width / 2 + 0.5 * this.rem;
    }
    return this.#words(words, { x: left, y: top + tall }, letter, more);
  }

  // A line of text on a plate; its lower left corner at (x, y).
  #words(words, { x, y }, letter, more = 0) {
    const wide = textWidth(words, letter, more);
    const tall = 1.25 * letter;
    const text = svg("text", { x: x + 0.18 * letter, y: y - 0.25 * letter, "font-size": letter });
    text.textContent = words;
    return [svg("rect", { class: "tag", x, y: y - tall, width: wide, height: tall, rx: 3 }), text];
  }
}
