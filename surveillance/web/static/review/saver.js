// Saves every step, in order, one image beside the other. What is not saved yet also lies in
// the browser's own store, so that neither a reload nor a dead server loses it.

import { digest, sameBoxes, toWire, withUid } from "./model.js";

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 8_000;
const MOST_TRIED = 20;

export class Saver {
  // `changed(doc)` is called whenever a doc's state of saving changed; `ask(doc, theirs)` shows
  // a conflict and gives a promise of "mine" or "theirs".
  constructor(api, key, { changed, ask }) {
    this.api = api;
    this.prefix = `feltwatch.review.${key}.`;
    this.changed = changed;
    this.ask = ask;
    this.docs = new Map(); // docs with something to save, by id
    this.wakers = new Map();
    this.storeFull = false;
  }

  get waiting() {
    return [...this.docs.values()];
  }

  get troubles() {
    return this.waiting.filter((doc) => doc.trouble);
  }

  // Call after every edit, undo or confirmation of a doc.
  push(doc) {
    this.docs.set(doc.id, doc);
    if (doc.saving) {
      this.#note(doc);
      this.changed(doc);
      // A save that was refused waits for a change: here it is.
      if (doc.trouble) this.#wake(doc);
      return;
    }
    this.#run(doc);
  }

  retryAll() {
    for (const doc of this.docs.values()) this.#wake(doc);
  }

  // What an earlier page could not save: [{id, sha256, revision, boxes, confirmed}].
  leftOver() {
    const found = [];
    for (let n = localStorage.length - 1; n >= 0; n -= 1) {
      const name = localStorage.key(n);
      if (!name?.startsWith(this.prefix)) continue;
      try {
        const note = JSON.parse(localStorage.getItem(name));
        if (Number.isInteger(note.id) && Array.isArray(note.boxes)) found.push(note);
      } catch {
        localStorage.removeItem(name);
      }
    }
    return found;
  }

  // Put left over boxes onto the doc just loaded; gives back whether there was anything to save.
  async resume(doc, note) {
    if (note.sha256 !== doc.form.sha256) {
      this.#forget(doc);
      return false;
    }
    const isSame = sameBoxes(note.boxes, doc.saved);
    const isOwn = doc.form.revision === note.revision + 1 && doc.form.confirmed_by === null
      && (note.tried ?? []).includes(digest(doc.saved));
    if (!isSame && !isOwn && note.revision !== doc.form.revision) {
      const mine = note.boxes.map(withUid);
      const theirs = doc.form;
      doc.boxes = mine;
      if ((await this.ask(doc, theirs)) === "theirs") {
        doc.take(theirs, doc.tag);
        this.#forget(doc);
        this.changed(doc);
        return false;
      }
    } else if (!isSame) {
      doc.edit(note.boxes.map(withUid));
    }
    if (Array.isArray(note.rejected)) doc.rejected = note.rejected;
    const confirmed = doc.form.confirmed_by !== null;
    doc.wantConfirmed = note.confirmed === null || note.confirmed === confirmed
      ? null : note.confirmed;
    if (!doc.waiting) {
      this.#forget(doc);
      return false;
    }
    this.push(doc);
    return true;
  }

  async #run(doc) {
    doc.saving = true;
    let pause = FIRST_PAUSE_MS;
    while (doc.dirty || doc.rejectionsDirty || doc.wantConfirmed !== null) {
      try {
        await this.#step(doc);
        doc.trouble = null;
        pause = FIRST_PAUSE_MS;
        if (doc.dirty || doc.rejectionsDirty || doc.wantConfirmed !== null) this.#note(doc);
      } catch (error) {
        doc.trouble = error;
        this.changed(doc);
        await this.#sleep(doc, error.passing ? pause : Infinity);
        pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
      }
    }
    doc.saving = false;
    doc.trouble = null;
    this.docs.delete(doc.id);
    this.#forget(doc);
    this.changed(doc);
  }

  async #step(doc) {
    const sent = doc.boxes.map(toWire);
    const wasDirty = doc.dirty;
    const confirmed = doc.wantConfirmed;
    if (wasDirty) doc.tried = [...doc.tried, digest(sent)].slice(-MOST_TRIED);
    this.#note(doc);
    this.changed(doc);
    if (!wasDirty && doc.rejectionsDirty) {
      const keys = doc.rejected;
      await this.api.saveRejected(doc.id, keys);
      doc.savedRejected = keys;
      return;
    }
    try {
      const { content, tag } = wasDirty
        ? await this.api.saveBoxes(doc.id, doc.form.revision, sent)
        : await this.api.saveConfirmation(doc.id, doc.form.revision, confirmed);
      doc.took(content, tag);
      // What was taken is saved, even should the answer write a number another way.
      if (wasDirty) doc.saved = sent;
      if (!wasDirty && doc.wantConfirmed === confirmed) doc.wantConfirmed = null;
    } catch (error) {
      if (error.status !== 409) throw error;
      await this.#settle(doc, sent, error.body.picture);
    }
  }

  // Somebody's change came first, or the answer to an earlier try was lost.
  async #settle(doc, sent, theirs) {
    if (sameBoxes(theirs.boxes, sent)) {
      doc.took(theirs);
      if (doc.wantConfirmed === (theirs.confirmed_by !== null)) doc.wantConfirmed = null;
      return;
    }
    if (doc.isOwn(theirs)) {
      doc.took(theirs);
      return;
    }
    const choice = await this.ask(doc, theirs);
    if (choice === "theirs") {
      doc.forgetSteps();
      doc.wantConfirmed = null;
      doc.take(theirs);
    } else {
      doc.took(theirs);
    }
  }

  #sleep(doc, pause) {
    return new Promise((resolve) => {
      const timer = Number.isFinite(pause) ? setTimeout(resolve, pause) : 0;
      this.wakers.set(doc.id, () => {
        clearTimeout(timer);
        resolve();
      });
    }).finally(() => this.wakers.delete(doc.id));
  }

  #wake(doc) {
    this.wakers.get(doc.id)?.();
  }

  #note(doc) {
    const note = {
      id: doc.id, sha256: doc.form.sha256, revision: doc.form.revision,
      boxes: doc.boxes.map(toWire), confirmed: doc.wantConfirmed,
      tried: doc.tried, rejected: doc.rejectionsDirty ? doc.rejected : null,
    };
    try {
      localStorage.setItem(this.prefix + doc.id, JSON.stringify(note));
      this.storeFull = false;
    } catch {
      this.storeFull = true; // the page says so; the saves themselves go on
    }
  }

  #forget(doc) {
    localStorage.removeItem(this.prefix + doc.id);
  }
}
