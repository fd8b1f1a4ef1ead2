// Boxes and images as values: nothing here touches the page or the network.
// A box is an object that is never changed; `uid` identifies it while the page is open.

let lastUid = 0;

const NUMBERS = ["x0", "y0", "x1", "y1", "angle_deg", "visible", "score"];

export function withUid(box) {
  lastUid += 1;
  return Object.freeze({ ...box, uid: lastUid });
}

export function toWire({ uid, ...box }) {
  return box;
}

export function sameBox(a, b) {
  if (a === b) return true;
  return a.label === b.label
    && NUMBERS.every((name) => (a[name] ?? null) === (b[name] ?? null))
    && JSON.stringify(a.attributes ?? {}) === JSON.stringify(b.attributes ?? {});
}

export function sameBoxes(a, b) {
  return a === b || a.length === b.length && a.every((box, n) => sameBox(box, b[n]));
}

// A short text, the same for boxes of the same values.
export function digest(boxes) {
  const text = JSON.stringify(boxes.map(
    (box) => [box.label, ...NUMBERS.map((name) => box[name] ?? null), box.attributes ?? {}],
  ));
  let [low, high] = [0xdeadbeef, 0x41c6ce57];
  for (let n = 0; n < text.length; n += 1) {
    const code = text.charCodeAt(n);
    low = Math.imul(low ^ code, 2654435761);
    high = Math.imul(high ^ code, 1597334677);
  }
  return `${text.length}.${low >>> 0}.${high >>> 0}`;
}

// The boxes that only `a` and only `b` has; equal ones are paired off.
export function differences(a, b) {
  const left = [...b];
  const onlyA = a.filter((box) => {
    const place = left.findIndex((other) => sameBox(box, other));
    if (place >= 0) left.splice(place, 1);
    return place < 0;
  });
  return { onlyA, onlyB: left };
}

// Boxes that came from the server, with the uids of those that are the same as before.
export function takeOver(boxes, before) {
  const left = [...before];
  return boxes.map((box) => {
    const place = left.findIndex((other) => sameBox(box, other));
    return place < 0 ? withUid(box) : left.splice(place, 1)[0];
  });
}

const round = (value) => Math.round(value * 100) / 100;
export const MIN_SIDE_PX = 2;

// A box with new edges, put right: left before right, inside the image unless it is turned.
// What a model thought of the old edges holds no more.
export function reshaped(box, edges, size) {
  let [x0, x1] = edges.x0 <= edges.x1 ? [edges.x0, edges.x1] : [edges.x1, edges.x0];
  let [y0, y1] = edges.y0 <= edges.y1 ? [edges.y0, edges.y1] : [edges.y1, edges.y0];
  if (!box.angle_deg) {
    [x0, x1] = [Math.max(0, x0), Math.min(size.width, x1)];
    [y0, y1] = [Math.max(0, y0), Math.min(size.height, y1)];
    if (x1 - x0 < MIN_SIDE_PX) [x0, x1] = widened(x0, x1, size.width);
    if (y1 - y0 < MIN_SIDE_PX) [y0, y1] = widened(y0, y1, size.height);
  } else {
    x1 = Math.max(x1, x0 + MIN_SIDE_PX);
    y1 = Math.max(y1, y0 + MIN_SIDE_PX);
  }
  return Object.freeze({
    ...box, x0: round(x0), y0: round(y0), x1: round(x1), y1: round(y1), score: null,
  });
}

function widened(low, high, most) {
  const start = Math.min(Math.max(0, (low + high - MIN_SIDE_PX) / 2), most - MIN_SIDE_PX);
  return [start, start + MIN_SIDE_PX];
}

// A box pushed by (dx, dy) px that keeps its size and stays inside the image.
export function moved(box, dx, dy, size) {
  const within = (low, high, step, most) => {
    if (low < 0 || high > most) return step;
    return Math.min(Math.max(step, -low), most - high);
  };
  const x = within(box.x0, box.x1, dx, size.width);
  const y = within(box.y0, box.y1, dy, size.height);
  if (!x && !y) return box;
  return Object.freeze({
    ...box, x0: round(box.x0 + x), x1: round(box.x1 + x),
    y0: round(box.y0 + y), y1: round(box.y1 + y), score: null,
  });
}

// Boxes pushed by (dx, dy) px together: none leaves the image and none its place in the group.
export function movedAll(boxes, dx, dy, size) {
  const shifts = boxes.map((box) => {
    const there = moved(box, dx, dy, size);
    return { x: there.x0 - box.x0, y: there.y0 - box.y0 };
  });
  const least = (values) => values.reduce((a, b) => (Math.abs(b) < Math.abs(a) ? b : a));
  const [x, y] = [least(shifts.map((s) => s.x)), least(shifts.map((s) => s.y))];
  return boxes.map((box) => moved(box, x, y, size));
}

// A box turned to an angle about its centre, degrees clockwise; upright is no angle.
export function turned(box, angle, size) {
  const within = Math.round((((angle + 180) % 360) + 360) % 360 * 10) / 10 - 180;
  const angle_deg = within === 0 ? null : Math.round(within * 10) / 10;
  return reshaped({ ...box, angle_deg }, box, size);
}

// The edges and angle of the box with one edge from `a` to `b` and the other through `c`.
export function spanned(a, b, c) {
  const width = Math.hypot(b.x - a.x, b.y - a.y);
  const [ux, uy] = [(b.x - a.x) / width, (b.y - a.y) / width];
  const height = (c.x - a.x) * -uy + (c.y - a.y) * ux;
  const x = (a.x + b.x - uy * height) / 2;
  const y = (a.y + b.y + ux * height) / 2;
  let angle = (Math.atan2(uy, ux) * 180) / Math.PI;
  if (angle > 90) angle -= 180;
  if (angle <= -90) angle += 180;
  const tall = Math.abs(height);
  return {
    x0: x - width / 2, x1: x + width / 2, y0: y - tall / 2, y1: y + tall / 2,
    angle_deg: Math.round(angle * 10) / 10 || null,
  };
}

export function renamed(box, label) {
  return box.label === label ? box : Object.freeze({ ...box, label, score: null });
}

export const middle = (box) => ({ x: (box.x0 + box.x1) / 2, y: (box.y0 + box.y1) / 2 });

// Boxes as a person reads: rows from the top, each from the left. A row is what overlaps its
// first box by half.
export function readingOrder(boxes) {
  const rows = [];
  for (const box of [...boxes].sort((a, b) => a.y0 - b.y0)) {
    const row = rows.find(([first]) => {
      const shared = Math.min(first.y1, box.y1) - Math.max(first.y0, box.y0);
      return shared > Math.min(first.y1 - first.y0, box.y1 - box.y0) / 2;
    });
    if (row) row.push(box);
    else rows.push([box]);
  }
  return rows.flatMap((row) => row.sort((a, b) => a.x0 - b.x0));
}

const orders = new WeakMap(); // reading orders by the array of boxes, which never changes

export function inReadingOrder(boxes) {
  if (!orders.has(boxes)) orders.set(boxes, readingOrder(boxes));
  return orders.get(boxes);
}

const MOST_STEPS = 300;

// One image that is worked on: what the server has, what is wanted, and the steps between.
export class Doc {
  constructor(form) {
    this.id = form.id;
    this.past = [];
    this.future = [];
    this.boxes = [];
    this.wantConfirmed = null; // true or false while a confirmation is not saved
    this.tried = []; // digests of boxes that were sent without an answer
    /** @type {string[] | null} */
    this.rejected = null; // keys of rejected suggestions; null until they are known
    /** @type {string[] | null} */
    this.savedRejected = null;
    this.saving = false;
    this.trouble = null; // the ApiError of the last save, until one works
    this.take(form);
  }

  // The image as the server has it now, boxes and all.
  take(form, tag = null) {
    this.tried = [];
    this.form = form;
    this.tag = tag;
    this.saved = form.boxes;
    this.boxes = takeOver(form.boxes, this.boxes);
  }

  // The server's answer to a save: later edits stay.
  took(form, tag = null) {
    this.tried = [];
    this.form = form;
    this.tag = tag;
    this.saved = form.boxes;
  }

  get dirty() {
    // Asked for many times a step: compared once for each pair of versions.
    if (this.compared?.boxes !== this.boxes || this.compared.saved !== this.saved) {
      this.compared = {
        boxes: this.boxes, saved: this.saved, dirty: !sameBoxes(this.boxes, this.saved),
      };
    }
    return this.compared.dirty;
  }

  get rejectionsDirty() {
    return this.rejected !== null && String(this.rejected) !== String(this.savedRejected);
  }

  // Whether a newer version is one that was sent from here: only the answer got lost.
  isOwn(theirs) {
    return theirs.revision === this.form.revision + 1 && theirs.confirmed_by === null
      && this.tried.includes(digest(theirs.boxes));
  }

  get waiting() {
    return this.saving || this.dirty || this.rejectionsDirty || this.wantConfirmed !== null;
  }

  get confirmed() {
    if (this.dirty) return false;
    return this.wantConfirmed ?? this.form.confirmed_by !== null;
  }

  get state() {
    return { boxes: this.boxes, rejected: this.rejected };
  }

  edit(boxes, rejected = this.rejected) {
    if (sameBoxes(boxes, this.boxes) && String(rejected) === String(this.rejected)) return false;
    this.past.push(this.state);
    if (this.past.length > MOST_STEPS) this.past.shift();
    this.future = [];
    this.#put({ boxes, rejected });
    return true;
  }

  undo() {
    return this.#travel(this.past, this.future);
  }

  redo() {
    return this.#travel(this.future, this.past);
  }

  #travel(from, to) {
    if (!from.length) return false;
    to.push(this.state);
    this.#put(from.pop());
    return true;
  }

  #put({ boxes, rejected }) {
    this.boxes = boxes;
    // A step made before the rejections were known takes none back.
    if (rejected !== null) this.rejected = rejected;
  }

  forgetSteps() {
    this.past = [];
    this.future = [];
  }
}
