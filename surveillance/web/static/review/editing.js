// Changes of boxes: by arrow keys, mouse, field. Each ends as one step of the doc and one save.

import {
  MIN_SIDE_PX, inReadingOrder, movedAll, renamed, reshaped, sameBox, turned, withUid,
} from "./model.js";

const NUDGE_ENDS_MS = 350;
const FAR_PX = 10;
const FIRST_SIDE_SHARE = 0.06; // of the image's height, for the first box made by a key

export class Editing {
  // `app`: doc, selection, select(uid), render(), saved(doc), stage, field, pointer, say(words).
  constructor(app) {
    this.app = app;
    this.pending = null; // boxes that are being moved, not yet a step: {doc, boxes}
    this.ghost = null;
    this.lastSize = null;
    this.place = 0; // in reading order, where Tab goes on after a deletion
    this.clipboard = [];
  }

  get boxes() {
    const { doc } = this.app;
    if (!doc) return [];
    return this.pending?.doc === doc ? this.pending.boxes : doc.boxes;
  }

  get selectedBox() {
    return this.boxes.find((box) => box.uid === this.app.selection.first) ?? null;
  }

  // All boxes that are selected.
  get chosen() {
    return this.boxes.filter((box) => this.app.selection.has(box.uid));
  }

  // Make what is being moved a step; call before anything else happens to the doc.
  flush() {
    clearTimeout(this.timer);
    const { pending } = this;
    if (!pending) return;
    this.pending = null;
    this.step(pending.doc, pending.boxes);
  }

  step(doc, boxes, rejected = doc.rejected) {
    if (doc.edit(boxes, rejected)) {
      doc.wantConfirmed = null;
      this.app.saved(doc);
    }
    this.app.render();
  }

  // `boxes` with others in place of those of the same uid.
  #with(boxes, changed) {
    const by = new Map(changed.map((box) => [box.uid, box]));
    return boxes.map((box) => by.get(box.uid) ?? box);
  }

  #soon(doc, changed) {
    this.pending = { doc, boxes: this.#with(this.boxes, changed) };
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.flush(), NUDGE_ENDS_MS);
    this.app.stage.reveal(changed[0]);
    this.app.render();
  }

  // Arrow keys.
  nudge({ x, y, far, part }) {
    const { doc } = this.app;
    const { chosen } = this;
    if (!chosen.length) return;
    const step = (far ? FAR_PX : 1) * Math.max(1, Math.round(1 / this.app.stage.scale));
    const [dx, dy] = [x * step, y * step];
    const { form } = doc;
    if (part === "whole") this.#soon(doc, movedAll(chosen, dx, dy, form));
    else if (part === "lower") {
      this.#soon(doc, chosen.map((box) => reshaped(box, {
        ...box, x1: Math.max(box.x1 + dx, box.x0 + MIN_SIDE_PX),
        y1: Math.max(box.y1 + dy, box.y0 + MIN_SIDE_PX),
      }, form)));
    } else {
      this.#soon(doc, chosen.map((box) => reshaped(box, {
        ...box, x0: Math.min(box.x0 + dx, box.x1 - MIN_SIDE_PX),
        y0: Math.min(box.y0 + dy, box.y1 - MIN_SIDE_PX),
      }, form)));
    }
  }

  // Keys: every selected box about its own centre, degrees clockwise.
  turn(by) {
    const { doc } = this.app;
    const { chosen } = this;
    if (!chosen.length) return;
    this.#soon(doc, chosen.map((box) => turned(box, (box.angle_deg ?? 0) + by, doc.form)));
    const angle = this.selectedBox?.angle_deg ?? 0;
    this.app.say(chosen.length === 1 ? `Turned to ${angle}°.` : `${chosen.length} boxes turned.`);
  }

  // The mouse moves, resizes or turns; no wish gives it up.
  preview(uid, { edges = null, shift = null, angle = null } = {}) {
    const { doc } = this.app;
    const box = doc.boxes.find((one) => one.uid === uid);
    let changed = null;
    if (box && shift) {
      const all = this.app.selection.has(uid)
        ? doc.boxes.filter((one) => this.app.selection.has(one.uid)) : [box];
      changed = movedAll(all, shift.x, shift.y, doc.form);
    } else if (box && edges) changed = [reshaped(box, edges, doc.form)];
    else if (box && angle !== null) changed = [turned(box, angle, doc.form)];
    this.pending = changed && { doc, boxes: this.#with(doc.boxes, changed) };
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
    const blank = reshaped({
      label: "", x0: 0, y0: 0, x1: 0, y1: 0, angle_deg: edges.angle_deg ?? null, visible: null,
      attributes: {},
    }, edges, doc.form);
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
          this.step(doc, [...doc.boxes, box]);
          this.#goOn(then);
        } else {
          this.app.render();
          if (!label) this.app.say("No name: the new box is dropped.");
        }
      },
    });
  }

  // Name the selected boxes; `text` is what was typed already.
  rename(text = "") {
    this.flush();
    const { doc, field } = this.app;
    const box = this.selectedBox;
    if (!box) return;
    const uids = new Set(this.chosen.map((one) => one.uid));
    field.ask({
      box,
      text,
      label: box.label,
      done: (label, then) => {
        if (label) {
          this.step(doc, doc.boxes.map((one) => (uids.has(one.uid) ? renamed(one, label) : one)));
          if (uids.size > 1) this.app.say(`${uids.size} boxes named ${label}.`);
          this.#goOn(then);
        } else {
          this.app.render();
        }
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
    const { chosen } = this;
    if (!chosen.length) return;
    const gone = new Set(chosen.map((box) => box.uid));
    this.place = inReadingOrder(doc.boxes).findIndex((one) => gone.has(one.uid));
    this.app.select(null, { keepPlace: true });
    this.step(doc, doc.boxes.filter((one) => !gone.has(one.uid)));
    const what = chosen.length === 1 ? chosen[0].label : `${chosen.length} boxes`;
    this.app.say(`Deleted ${what}. Ctrl+Z brings ${chosen.length === 1 ? "it" : "them"} back.`);
  }

  copy() {
    this.clipboard = this.chosen;
    if (this.clipboard.length) this.app.say(`Copied: ${boxCount(this.clipboard.length)}.`);
  }

  paste() {
    if (this.clipboard.length) this.insert(this.clipboard, "Pasted");
    else this.app.say("Nothing was copied. Ctrl+C copies the selected boxes.");
  }

  // Boxes of another image, selected for what comes next; those that are here already are not
  // put a second time.
  insert(boxes, verb) {
    this.flush();
    const { doc } = this.app;
    const { width, height } = doc.form;
    const fresh = boxes
      .filter(({ x0, y0, x1, y1 }) => (x0 + x1) / 2 < width && (y0 + y1) / 2 < height)
      .map((box) => withUid(reshaped(box, box, doc.form)))
      .filter((box) => !doc.boxes.some((one) => sameBox({ ...one, score: null }, box)));
    const outside = boxes.length - fresh.length;
    if (fresh.length) {
      this.app.selectAll(fresh.map((box) => box.uid));
      this.step(doc, [...doc.boxes, ...fresh]);
    }
    this.app.say(`${verb}: ${boxCount(fresh.length)}${
      outside ? `; ${outside} left out (here already, or outside this image)` : ""}.`);
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
    this.app.selection.keep(doc.boxes);
    this.app.say(way === "undo" ? "Undone." : "Done again.");
    this.app.render();
  }

  // Boxes of an earlier revision, as one step that can be undone.
  bringBack(boxes) {
    this.flush();
    this.app.select(null);
    this.step(this.app.doc, boxes.map(withUid));
  }

  // Tab: the next or previous box in reading order.
  selectNext(step) {
    this.flush();
    const order = inReadingOrder(this.boxes);
    if (!order.length) {
      this.app.say("This image has no boxes. N makes one.");
      return;
    }
    const at = order.findIndex((box) => box.uid === this.app.selection.first);
    let next;
    if (at >= 0) next = (at + step + order.length) % order.length;
    else if (step > 0) next = Math.min(this.place, order.length) % order.length;
    else next = (Math.max(0, this.place) - 1 + order.length) % order.length;
    this.app.select(order[next].uid);
    this.app.stage.reveal(order[next]);
    this.app.render();
  }

  // Every box of the selected box's label.
  selectAlike() {
    const label = this.selectedBox?.label;
    if (label === undefined) return;
    this.flush();
    const alike = this.boxes.filter((box) => box.label === label);
    this.app.selectAll(alike.map((box) => box.uid), this.app.selection.first);
    this.app.say(`${boxCount(alike.length)} named ${label} selected.`);
    this.app.render();
  }

  placeOf(uid) {
    return inReadingOrder(this.boxes).findIndex((box) => box.uid === uid) + 1;
  }
}

export const boxCount = (count) => (count === 1 ? "1 box" : `${count} boxes`);
