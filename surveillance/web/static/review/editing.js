// Changes of boxes: by arrow keys, mouse, field. Each ends as one step of the doc and one save.

import { MIN_SIDE_PX, moved, readingOrder, renamed, reshaped, withUid } from "./model.js";

const NUDGE_ENDS_MS = 350;
const FAR_PX = 10;
const FIRST_SIDE_SHARE = 0.06; // of the picture's height, for the first box made by a key

export class Editing {
  // `app`: doc, selected, select(uid), render(), saved(doc), stage, field, pointer, say(words).
  constructor(app) {
    this.app = app;
    this.pending = null; // a box that is being moved, not yet a step: {doc, box}
    this.ghost = null;
    this.lastSize = null;
    this.place = 0; // in reading order, where Tab goes on after a deletion
  }

  get boxes() {
    const { doc } = this.app;
    if (!doc) return [];
    if (this.pending?.doc !== doc) return doc.boxes;
    const { box } = this.pending;
    return doc.boxes.map((one) => (one.uid === box.uid ? box : one));
  }

  get selectedBox() {
    return this.boxes.find((box) => box.uid === this.app.selected) ?? null;
  }

  // Make what is being moved a step; call before anything else happens to the doc.
  flush() {
    clearTimeout(this.timer);
    const { pending } = this;
    if (!pending) return;
    this.pending = null;
    const { doc, box } = pending;
    this.#step(doc, doc.boxes.map((one) => (one.uid === box.uid ? box : one)));
  }

  #step(doc, boxes) {
    if (doc.edit(boxes)) {
      doc.wantConfirmed = null;
      this.app.saved(doc);
    }
    this.app.render();
  }

  // Arrow keys.
  nudge({ x, y, far, part }) {
    const { doc } = this.app;
    const box = this.selectedBox;
    if (!box) return;
    const step = (far ? FAR_PX : 1) * Math.max(1, Math.round(1 / this.app.stage.scale));
    const [dx, dy] = [x * step, y * step];
    let changed;
    if (part === "whole") changed = moved(box, dx, dy, doc.form);
    else if (part === "lower") {
      const x1 = Math.max(box.x1 + dx, box.x0 + MIN_SIDE_PX);
      const y1 = Math.max(box.y1 + dy, box.y0 + MIN_SIDE_PX);
      changed = reshaped(box, { ...box, x1, y1 }, doc.form);
    } else {
      const x0 = Math.min(box.x0 + dx, box.x1 - MIN_SIDE_PX);
      const y0 = Math.min(box.y0 + dy, box.y1 - MIN_SIDE_PX);
      changed = reshaped(box, { ...box, x0, y0 }, doc.form);
    }
    this.pending = { doc, box: changed };
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.flush(), NUDGE_ENDS_MS);
    this.app.stage.reveal(changed);
    this.app.render();
  }

  // The mouse moves or resizes; neither edges nor shift gives it up.
  preview(uid, edges, shift) {
    const { doc } = this.app;
    const box = doc.boxes.find((one) => one.uid === uid);
    if (!box || (!edges && !shift)) {
      this.pending = null;
    } else {
      const changed = shift
        ? moved(box, shift.x, shift.y, doc.form) : reshaped(box, edges, doc.form);
      this.pending = { doc, box: changed };
    }
    this.app.render();
  }

  // A new box about a point, of the size of the last one.
  addAt(point) {
    const { form } = this.app.doc;
    const side = FIRST_SIDE_SHARE * form.height;
    const { width, height } = this.lastSize ?? { width: 0.75 * side, height: side };
    const wide = Math.min(width, form.width);
    const tall = Math.min(height, form.height);
    const x0 = Math.min(Math.max(point.x - wide / 2, 0), form.width - wide);
    const y0 = Math.min(Math.max(point.y - tall / 2, 0), form.height - tall);
    this.add({ x0, y0, x1: x0 + wide, y1: y0 + tall });
  }

  // A new box: it is a step as soon as it has a name.
  add(edges) {
    this.flush();
    const { doc, field } = this.app;
    const blank = reshaped(
      { label: "", x0: 0, y0: 0, x1: 0, y1: 0, angle_deg: null, visible: null, attributes: {} },
      edges, doc.form,
    );
    this.app.select(null);
    this.ghost = blank;
    this.app.render();
    field.ask({
      box: blank,
      label: field.recent[0] ?? "",
      done: (label, then) => {
        this.ghost = null;
        if (label && this.app.doc === doc) {
          const box = withUid({ ...blank, label });
          this.lastSize = { width: box.x1 - box.x0, height: box.y1 - box.y0 };
          this.app.select(box.uid);
          this.#step(doc, [...doc.boxes, box]);
          this.#goOn(then);
        } else {
          this.app.render();
          if (!label) this.app.say("No name: the new box is dropped.");
        }
      },
    });
  }

  // Name the selected box; `text` is what was typed already.
  rename(text = "") {
    this.flush();
    const { doc, field } = this.app;
    const box = this.selectedBox;
    if (!box) return;
    field.ask({
      box,
      text,
      label: box.label,
      done: (label, then) => {
        if (label && doc.boxes.some((one) => one.uid === box.uid)) {
          this.#step(doc, doc.boxes.map((one) => (one.uid === box.uid ? renamed(one, label) : one)));
        } else {
          this.app.render();
        }
        if (label) this.#goOn(then);
      },
    });
  }

  #goOn(then) {
    if (then === "next") this.selectNext(1);
    if (then === "previous") this.selectNext(-1);
  }

  remove() {
    this.flush();
    const { doc } = this.app;
    const box = this.selectedBox;
    if (!box) return;
    this.place = readingOrder(doc.boxes).findIndex((one) => one.uid === box.uid);
    this.app.select(null, { keepPlace: true });
    this.#step(doc, doc.boxes.filter((one) => one.uid !== box.uid));
    this.app.say(`Deleted ${box.label}. Ctrl+Z brings it back.`);
  }

  undo() {
    this.#travel("undo");
  }

  redo() {
    this.#travel("redo");
  }

  #travel(way) {
    this.flush();
    const { doc } = this.app;
    if (!doc[way]()) {
      this.app.say(way === "undo"
        ? "Nothing left to undo here; H shows the history." : "Nothing to do again.");
      return;
    }
    doc.wantConfirmed = null;
    this.app.saved(doc);
    if (!doc.boxes.some((box) => box.uid === this.app.selected)) this.app.select(null);
    this.app.render();
  }

  // Boxes of an earlier revision, as one step that can be undone.
  bringBack(boxes) {
    this.flush();
    this.app.select(null);
    this.#step(this.app.doc, boxes.map(withUid));
  }

  // Tab: the next or previous box in reading order.
  selectNext(step) {
    this.flush();
    const order = readingOrder(this.boxes);
    if (!order.length) {
      this.app.say("This picture has no boxes. N makes one.");
      return;
    }
    const at = order.findIndex((box) => box.uid === this.app.selected);
    let next;
    if (at >= 0) next = (at + step + order.length) % order.length;
    else if (step > 0) next = Math.min(this.place, order.length) % order.length;
    else next = (Math.max(0, this.place) - 1 + order.length) % order.length;
    this.app.select(order[next].uid);
    this.app.stage.reveal(order[next]);
    this.app.render();
  }

  placeOf(uid) {
    return readingOrder(this.boxes).findIndex((box) => box.uid === uid) + 1;
  }
}

