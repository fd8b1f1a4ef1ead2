// The mouse on the stage: select, move, resize, draw, pan, zoom. Reports what is wanted; the
// listener changes the boxes.


import { middle, spanned } from "./model.js";

const LEAST_SIDE_PX = 2;
const STILL_PX = 4; // a press that moves less is a click
const WHEEL_STEP = 1.0015;

/**
 * What the mouse does from down to up, from `at` on: "pan", "draw", "band" (selects), "resize",
 * "move" or "turn". A turned box is drawn in two: its "edge", then with no button its "width".
 * @typedef {object} Gesture
 * @property {string} kind
 * @property {{ x: number, y: number }} at px of the image
 * @property {number} clientX
 * @property {number} clientY
 * @property {boolean} moved Farther than a shaking hand.
 * @property {number} [x] Where a pan got to.
 * @property {number} [y]
 * @property {number} [uid] Of the box that is moved or resized.
 * @property {any} [box]
 * @property {any} [handle]
 * @property {{ x: number, y: number }} [end] Where the edge of a turned box ends.
 * @property {boolean} [adds] Whether a click adds to what is selected.
 * @property {any[]} [under] All boxes below the mouse.
 * @property {boolean} [wasOn] Whether the box was selected before.
 */

export class Pointer {
  // `listener`: boxes(), selected(), has(uid), select(uid), toggle(uid), selectWithin(edges),
  // preview(uid, {edges, shift, angle}), commit(uid), draw(edges), ghost(edges|null), say(words).
  constructor(stage, listener) {
    this.stage = stage;
    this.listener = listener;
    this.last = null; // where the mouse is, px of the image; null when it is elsewhere
    /** @type {Gesture | null} */
    this.gesture = null;
    this.armed = false;
    const { root } = stage;
    root.addEventListener("pointerdown", (event) => this.#down(event));
    root.addEventListener("pointermove", (event) => this.#move(event));
    root.addEventListener("pointerup", (event) => this.#up(event));
    root.addEventListener("pointercancel", () => this.cancel());
    root.addEventListener("pointerleave", () => { this.last = null; });
    root.addEventListener("contextmenu", (event) => event.preventDefault());
    root.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
  }

  get busy() {
    return this.gesture !== null;
  }

  cancel() {
    const { gesture } = this;
    this.gesture = null;
    this.armed = false;
    if (!gesture) return;
    this.listener.ghost(null);
    if (gesture.uid !== undefined) this.listener.preview(gesture.uid);
  }

  // What is drawn next is a turned box.
  arm() {
    this.armed = true;
    this.listener.say("Turned box: drag along one edge, move to the edge across, click.");
  }

  #selectedBox() {
    const uid = this.listener.selected();
    return this.listener.boxes().find((box) => box.uid === uid) ?? null;
  }

  #down(event) {
    if (event.target.closest("#labelfield") || !this.stage.size) return;
    event.preventDefault();
    this.stage.root.focus({ preventScroll: true });
    this.stage.root.setPointerCapture(event.pointerId);
    const at = this.stage.toPicture(event.clientX, event.clientY);
    const start = { at, clientX: event.clientX, clientY: event.clientY, moved: false };
    if (this.gesture?.kind === "width") return; // the click that ends it comes with the button up
    const ctrl = event.ctrlKey || event.metaKey;
    if (event.button === 0 && ctrl && event.shiftKey) {
      this.gesture = { ...start, kind: "band" };
      return;
    }
    if (event.button !== 0 || event.shiftKey) {
      this.gesture = { ...start, kind: "pan", x: event.clientX, y: event.clientY };
      return;
    }
    if (this.armed) {
      this.gesture = { ...start, kind: "edge" };
      return;
    }
    if (ctrl) {
      this.gesture = { ...start, kind: "draw", adds: true };
      return;
    }
    const chosen = this.#selectedBox();
    if (chosen && this.stage.isKnob(at, chosen)) {
      this.gesture = { ...start, kind: "turn", uid: chosen.uid, box: chosen };
      return;
    }
    const handle = chosen && this.stage.handleAt(at, chosen);
    if (handle) {
      this.gesture = { ...start, kind: "resize", uid: chosen.uid, box: chosen, handle };
      return;
    }
    const under = this.stage.boxesAt(at, this.listener.boxes());
    if (!under.length) {
      this.gesture = { ...start, kind: "draw" };
      return;
    }
    const isOn = chosen && under.some((box) => box.uid === chosen.uid);
    const held = under.find((box) => this.listener.has(box.uid));
    const box = isOn ? chosen : held ?? under[0];
    if (!isOn && !held) this.listener.select(box.uid);
    this.gesture = { ...start, kind: "move", uid: box.uid, box, under, wasOn: isOn };
  }

  #move(event) {
    const at = this.stage.toPicture(event.clientX, event.clientY);
    this.last = at;
    const { gesture } = this;
    if (!gesture) {
      this.#cursor(at);
      return;
    }
    const far = Math.hypot(event.clientX - gesture.clientX, event.clientY - gesture.clientY);
    gesture.moved ||= far >= STILL_PX || gesture.kind === "width";
    if (!gesture.moved) return;
    if (gesture.kind === "pan") {
      this.stage.pan(event.clientX - gesture.x, event.clientY - gesture.y);
      [gesture.x, gesture.y] = [event.clientX, event.clientY];
    } else if (gesture.kind === "draw" || gesture.kind === "band") {
      this.listener.ghost(this.#drawn(gesture, at));
    } else if (gesture.kind === "edge") {
      this.listener.ghost(spanned(gesture.at, at, at));
    } else if (gesture.kind === "width") {
      this.listener.ghost(spanned(gesture.at, gesture.end, at));
    } else if (gesture.kind === "move") {
      const shift = { x: at.x - gesture.at.x, y: at.y - gesture.at.y };
      this.listener.preview(gesture.uid, { shift });
    } else if (gesture.kind === "turn") {
      this.listener.preview(gesture.uid, { angle: this.#angle(gesture, at, event.shiftKey) });
    } else {
      this.listener.preview(gesture.uid, { edges: this.#resized(gesture, at) });
    }
  }

  #up(event) {
    const { gesture } = this;
    this.gesture = null;
    if (!gesture) return;
    const at = this.stage.toPicture(event.clientX, event.clientY);
    if (gesture.kind === "draw") {
      this.listener.ghost(null);
      if (gesture.moved) this.listener.draw(this.#drawn(gesture, at));
      else if (gesture.adds) {
        const [box] = this.stage.boxesAt(at, this.listener.boxes());
        if (box) this.listener.toggle(box.uid);
      } else this.listener.select(null);
    } else if (gesture.kind === "band") {
      this.listener.ghost(null);
      if (gesture.moved) this.listener.selectWithin(this.#drawn(gesture, at));
    } else if (gesture.kind === "edge") {
      if (gesture.moved) this.gesture = { ...gesture, kind: "width", end: at };
      else this.cancel();
    } else if (gesture.kind === "width") {
      this.armed = false;
      this.listener.ghost(null);
      const edges = spanned(gesture.at, gesture.end, at);
      if (edges.y1 - edges.y0 >= LEAST_SIDE_PX) this.listener.draw(edges);
    } else if (["move", "resize", "turn"].includes(gesture.kind)) {
      if (gesture.moved) this.listener.commit(gesture.uid);
      else if (gesture.kind === "move" && this.listener.many()) this.listener.select(gesture.uid);
      else if (gesture.wasOn && gesture.under.length > 1) this.#nextBelow(gesture);
    }
  }

  // Another click at the same place selects the next box there.
  /** @param {Gesture} gesture */
  #nextBelow({ under, uid }) {
    const place = under.findIndex((box) => box.uid === uid);
    this.listener.select(under[(place + 1) % under.length].uid);
  }

  // The angle at which the knob of a box lies in the direction of the mouse; `steps` of 15°.
  /**
   * @param {Gesture} gesture
   * @param {{ x: number, y: number }} at
   * @param {boolean} steps
   */
  #angle({ box }, at, steps) {
    const { x, y } = middle(box);
    const angle = (Math.atan2(at.y - y, at.x - x) * 180) / Math.PI + 90;
    return steps ? Math.round(angle / 15) * 15 : angle;
  }

  #drawn({ at: start }, at) {
    const { width, height } = this.stage.size;
    const within = (value, most) => Math.min(Math.max(value, 0), most);
    return {
      x0: within(Math.min(start.x, at.x), width), x1: within(Math.max(start.x, at.x), width),
      y0: within(Math.min(start.y, at.y), height), y1: within(Math.max(start.y, at.y), height),
    };
  }

  /**
   * @param {Gesture} gesture
   * @param {{ x: number, y: number }} at
   */
  #resized({ box, handle: [h, v], at: start }, at) {
    const from = this.stage.intoFrame(box, start);
    const to = this.stage.intoFrame(box, at);
    const [dx, dy] = [h ? to.x - from.x : 0, v ? to.y - from.y : 0];
    const edges = {
      x0: box.x0 + (h < 0 ? dx : 0), x1: box.x1 + (h > 0 ? dx : 0),
      y0: box.y0 + (v < 0 ? dy : 0), y1: box.y1 + (v > 0 ? dy : 0),
    };
    if (!box.angle_deg) return edges;
    // The far edges of a turned box stay where they are on the image: its centre moves
    // along the turned axes, not along those of the box's frame.
    const turn = (box.angle_deg * Math.PI) / 180;
    const [ox, oy] = [dx / 2, dy / 2];
    const shift = {
      x: ox * Math.cos(turn) - oy * Math.sin(turn) - ox,
      y: ox * Math.sin(turn) + oy * Math.cos(turn) - oy,
    };
    return {
      x0: edges.x0 + shift.x, x1: edges.x1 + shift.x,
      y0: edges.y0 + shift.y, y1: edges.y1 + shift.y,
    };
  }

  #wheel(event) {
    if (!this.stage.size) return;
    event.preventDefault();
    const frame = this.stage.canvas.getBoundingClientRect();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 30 : 1;
    const factor = WHEEL_STEP ** (-event.deltaY * lines * (event.ctrlKey ? 4 : 1));
    this.stage.zoom(Math.min(Math.max(factor, 0.5), 2), {
      x: event.clientX - frame.left, y: event.clientY - frame.top,
    });
  }

  #cursor(at) {
    const chosen = this.#selectedBox();
    const handle = chosen && this.stage.handleAt(at, chosen);
    let name = "crosshair";
    if (chosen && this.stage.isKnob(at, chosen)) name = "grab";
    else if (handle) {
      const [h, v] = handle;
      if (h && v) name = h === v ? "nwse-resize" : "nesw-resize";
      else name = h ? "ew-resize" : "ns-resize";
    } else if (this.stage.size && this.stage.boxesAt(at, this.listener.boxes()).length) {
      name = "move";
    }
    this.stage.root.style.cursor = name;
  }

  // Where a box made by a key goes: about the mouse, or the middle of the visible part.
  aim() {
    if (this.last) return this.last;
    const frame = this.stage.canvas.getBoundingClientRect();
    return this.stage.toPicture(
      frame.left + this.stage.width / 2, frame.top + this.stage.height / 2,
    );
  }
}

