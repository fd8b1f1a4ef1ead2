// The steps that can be undone, kept in the browser's own store over a reload. A step is written
// as what it changed: the boxes of an image come once a step only where all of them changed.

import { digest, toWire, withUid } from "./model.js";

const PAUSE_MS = 300;
const MOST_CHARS = 300_000; // of one image
const MOST_PICTURES = 12;

export class Steps {
  constructor(key) {
    this.prefix = `feltwatch.steps.${key}.`;
    this.waiting = new Map(); // docs to write down, by id
  }

  // Write a doc's steps down soon.
  keep(doc) {
    this.waiting.set(doc.id, doc);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.flush(), PAUSE_MS);
  }

  flush() {
    clearTimeout(this.timer);
    for (const doc of this.waiting.values()) this.#write(doc);
    this.waiting.clear();
  }

  forget(doc) {
    this.waiting.delete(doc.id);
    localStorage.removeItem(this.prefix + doc.id);
  }

  // Give a doc its steps back, if they lead to the boxes that it has now. `again`: also where it
  // has some.
  restore(doc, { again = false } = {}) {
    if (!again && (doc.past.length || doc.future.length)) return;
    const text = localStorage.getItem(this.prefix + doc.id);
    if (!text) return;
    try {
      const note = JSON.parse(text);
      if (note.sha256 !== doc.form.sha256 || note.boxes !== digest(doc.boxes)) return;
      doc.past = unfold(doc.state, note.past);
      doc.future = unfold(doc.state, note.future);
    } catch {
      localStorage.removeItem(this.prefix + doc.id);
    }
  }

  #write(doc) {
    const note = {
      sha256: doc.form.sha256, at: Date.now(), boxes: digest(doc.boxes),
      past: fold(doc.state, doc.past), future: fold(doc.state, doc.future),
    };
    try {
      this.#trim();
      localStorage.setItem(this.prefix + doc.id, JSON.stringify(note));
    } catch {
      // The store is full: what is not saved yet matters more than what could be undone.
      localStorage.removeItem(this.prefix + doc.id);
    }
  }

  // Let the steps go that were written down longest ago.
  #trim() {
    const found = [];
    for (let n = 0; n < localStorage.length; n += 1) {
      const name = localStorage.key(n);
      if (!name?.startsWith(this.prefix)) continue;
      const at = Number(/"at":(\d+)/.exec(localStorage.getItem(name) ?? "")?.[1] ?? 0);
      found.push({ name, at });
    }
    found.sort((a, b) => b.at - a.at);
    for (const { name } of found.slice(MOST_PICTURES - 1)) localStorage.removeItem(name);
  }
}

// Each state as what differs from the one nearer to now: the boxes at both ends stay.
function fold(now, states) {
  const steps = [];
  let left = MOST_CHARS;
  let newer = now;
  for (const state of states.toReversed()) {
    const [a, b] = [state.boxes, newer.boxes];
    const most = Math.min(a.length, b.length);
    let start = 0;
    while (start < most && a[start] === b[start]) start += 1;
    let end = 0;
    while (end < most - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
    const step = {
      start, end, boxes: a.slice(start, a.length - end).map(toWire), rejected: state.rejected,
    };
    left -= JSON.stringify(step).length;
    if (left < 0) break;
    steps.push(step);
    newer = state;
  }
  return steps;
}

function unfold(now, steps) {
  const states = [];
  let { boxes } = now;
  for (const { start, end, boxes: middle, rejected } of steps) {
    boxes = [
      ...boxes.slice(0, start), ...middle.map(withUid), ...boxes.slice(boxes.length - end),
    ];
    states.push({ boxes, rejected });
  }
  return states.reverse();
}
