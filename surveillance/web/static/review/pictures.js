// From image to image: loads them, looks ahead, goes to the next, shows what others changed.

import { Doc } from "./model.js";
import { person } from "./panel.js";

const MOST_DOCS = 60;

export class Pictures {
  constructor(app) {
    this.app = app;
    this.docs = new Map(); // images that were loaded, by id
    this.turn = 0;
    this.target = null; // the image that was asked for last, shown or not yet
    this.stepping = Promise.resolve();
    this.upcoming = Promise.resolve(null); // the next that nobody confirmed
  }

  async load(id) {
    const held = this.app.saver.docs.get(id) ?? this.docs.get(id);
    if (held) return held;
    const { content, tag } = await this.app.api.picture(id);
    // Two may have asked at once: there is one doc of an image.
    const met = this.docs.get(id);
    if (met) return met;
    const doc = new Doc(content);
    doc.tag = tag;
    this.docs.set(id, doc);
    this.app.steps.restore(doc);
    for (const [other, old] of this.docs) {
      if (this.docs.size <= MOST_DOCS) break;
      if (!old.waiting && old !== this.app.doc) this.docs.delete(other);
    }
    return doc;
  }

  // Start loading an image that will be shown soon; a failure is reported when it is shown.
  async preload(id) {
    try {
      const doc = await this.load(id);
      await this.app.stage.preload(doc.form.image_url);
    } catch { /* `go` meets the same failure and shows it */ }
  }

  async go(id) {
    if (id === null || id === undefined) return;
    this.app.editing.flush();
    this.app.field.close();
    this.app.pointer.cancel();
    this.turn += 1;
    this.target = id;
    const { turn } = this;
    const wasHeld = this.docs.has(id);
    let doc;
    try {
      doc = await this.load(id);
      this.app.status.reached();
    } catch (error) {
      if (turn === this.turn) this.target = this.app.doc?.id ?? null;
      this.app.status.failed(error, this.app.saver);
      this.app.say(`Image ${id}: ${error.message}.`);
      return;
    }
    if (turn !== this.turn || !(await this.app.stage.show(doc.form)) || turn !== this.turn) return;
    this.app.doc = doc;
    this.app.verdict.asked = "";
    this.app.editing.place = 0;
    this.app.select(null);
    this.app.deal.begin(doc);
    this.app.suggestions.clear();
    this.app.panel.drawHistory(null);
    this.app.filters.writeAddress(doc.id);
    const drawAgain = () => { if (this.app.doc === doc) this.app.render(); };
    this.app.film.show(id).then(drawAgain, () => {});
    this.app.render();
    document.title = `${doc.form.file} · review · feltwatch`;
    this.app.status.speak(`${doc.form.file}, ${doc.boxes.length} boxes, `
      + `${doc.confirmed ? "confirmed" : "not confirmed"}`);
    if (wasHeld) this.poll();
    this.#lookAhead(doc);
  }

  // The next images are fetched while this one is shown.
  #lookAhead(doc) {
    const skip = (id) => this.app.saver.docs.get(id)?.wantConfirmed;
    this.upcoming = this.app.film.nextUnconfirmed(doc.id, skip);
    const { film } = this.app;
    for (const ahead of [this.upcoming, film.neighbour(doc.id, 1), film.neighbour(doc.id, -1)]) {
      ahead.then((id) => (id === null ? null : this.preload(id)), () => {});
    }
  }

  // One after the other, so that keys pressed quickly all count.
  step(by) {
    this.stepping = this.stepping.then(async () => {
      try {
        const id = await this.app.film.neighbour(this.target ?? this.app.doc.id, by);
        if (id !== null) this.go(id);
        else this.app.say(by > 0 ? "This is the last image." : "This is the first image.");
      } catch (error) {
        this.app.status.failed(error, this.app.saver);
      }
    });
  }

  // The boxes of the image before this one in the list, put onto this one.
  async copyPrevious() {
    const { doc } = this.app;
    try {
      const id = await this.app.film.neighbour(doc.id, -1);
      if (id === null) {
        this.app.say("This is the first image: there is none before it to copy from.");
        return;
      }
      const before = await this.load(id);
      if (doc === this.app.doc) this.app.editing.insert(before.boxes, `Copied from ${before.form.file}`);
    } catch (error) {
      this.app.status.failed(error, this.app.saver);
    }
  }

  async nextUnconfirmed() {
    try {
      const id = await this.upcoming.catch(() => this.app.film.nextUnconfirmed(this.app.doc.id));
      if (id === null) this.app.say("No other image of this list waits for confirmation.");
      else await this.go(id);
    } catch (error) {
      this.app.status.failed(error, this.app.saver);
    }
  }

  // What another person did to the image shown.
  async poll() {
    const { doc } = this.app;
    const isQuiet = () => doc === this.app.doc && !doc.waiting && !this.app.editing.pending
      && !this.app.pointer.busy && !this.app.field.open && !this.app.conflicts.open;
    if (!doc || document.hidden || !isQuiet()) return;
    try {
      const { content, tag } = await this.app.api.picture(doc.id, doc.tag);
      this.app.status.reached();
      this.app.status.draw(this.app.saver);
      if (content && isQuiet() && content.revision >= doc.form.revision) {
        const isNew = content.revision > doc.form.revision;
        if (isNew) {
          doc.forgetSteps();
          this.app.steps.forget(doc);
          doc.take(content, tag);
          const by = person(content.confirmed_by ?? content.labelled_by);
          this.app.say(`${by} changed this image.`);
          this.app.selection.keep(doc.boxes);
        } else {
          doc.took(content, tag);
        }
        this.app.render();
      }
      this.app.checkDeal({ again: true });
    } catch (error) {
      if (doc === this.app.doc) this.app.status.failed(error, this.app.saver);
    }
  }
}
