// The review page: puts its parts together and draws them.

import { Api } from "./api.js";
import { face } from "./cards.js";
import { Commands } from "./commands.js";
import { Conflicts } from "./conflict.js";
import { DOUBLE, Deal } from "./deal.js";
import { Editing, boxCount } from "./editing.js";
import { Film } from "./film.js";
import { Filters } from "./filters.js";
import { hint, showKeys } from "./keys.js";
import { LabelField } from "./labelfield.js";
import { renamed } from "./model.js";
import { Panel } from "./panel.js";
import { askForPerson } from "./person.js";
import { Pictures } from "./pictures.js";
import { Pointer } from "./pointer.js";
import { Saver } from "./saver.js";
import { Selection } from "./selection.js";
import { Stage } from "./stage.js";
import { Status } from "./status.js";
import { Steps } from "./steps.js";
import { Suggestions } from "./suggestions.js";
import { Verdict } from "./verdict.js";

const $ = (id) => document.getElementById(id);
const start = JSON.parse($("start").textContent);

const POLL_MS = 4_000;

class Review {
  constructor() {
    this.api = new Api(start.api);
    this.labels = start.dataset.labels;
    this.doc = null;
    this.selection = new Selection();
    this.typedNow = null;
    this.status = new Status({ alarm: $("alarm"), words: $("alarm-words"), saved: $("saved"),
      notice: $("notice"), spoken: $("spoken") });
    this.conflicts = new Conflicts($("conflict"));
    this.saver = new Saver(this.api, start.dataset.key, {
      changed: (doc) => this.#saverChanged(doc),
      ask: (doc, theirs) => this.conflicts.ask(doc, theirs),
    });
    this.stage = new Stage($("stage"), $("canvas"), $("veil"));
    this.stage.onview = () => { this.drawStage(); this.field?.place(); };
    this.editing = new Editing(this);
    this.steps = new Steps(start.dataset.key);
    this.suggestions = new Suggestions(this, $("suggestions"));
    this.pointer = new Pointer(this.stage, {
      boxes: () => this.editing.boxes,
      selected: () => this.selection.first,
      has: (uid) => this.selection.has(uid),
      many: () => this.selection.size > 1,
      select: (uid) => { this.editing.flush(); this.select(uid); this.render(); },
      toggle: (uid) => {
        this.editing.flush();
        this.selection.toggle(uid);
        this.#announceSelected();
        this.render();
      },
      selectWithin: (edges) => {
        this.editing.flush();
        const within = this.stage.boxesWithin(edges, this.editing.boxes);
        this.selectAll(within.map((box) => box.uid));
        this.render();
      },
      say: (words) => this.say(words),
      preview: (uid, wish) => this.editing.preview(uid, wish),
      commit: () => this.editing.flush(),
      draw: (edges) => this.editing.add(edges),
      ghost: (edges) => { this.editing.ghost = edges; this.drawStage(); },
    });
    this.field = new LabelField($("labelfield"), this.stage, {
      labels: () => this.labels,
      addLabel: async (name) => this.setLabels(await this.api.addLabel(name)),
      warning: (label) => this.deal.warning(label),
      preview: (label) => {
        this.typedNow = label;
        this.checkDeal();
        this.deal.draw(this.#boxesAsTyped(), label);
      },
    });
    this.film = new Film($("film"), this.api, (id) => this.pictures.go(id));
    this.deal = new Deal($("deal"), this.api, {
      onjump: (id) => this.pictures.go(id),
      onchange: () => { this.render(); this.field.warn(); },
    });
    this.panel = new Panel(
      { verdict: $("verdict"), boxes: $("boxes"), facts: $("facts"), history: $("history") },
      {
        select: (uid, adds) => {
          this.editing.flush();
          if (adds) this.selection.toggle(uid);
          else this.select(uid);
          this.render();
        },
        confirm: () => this.verdict.confirm(true),
        unconfirm: () => this.verdict.unconfirm(),
        loadHistory: () => this.verdict.toggleHistory(),
        bringBack: (revision) => this.verdict.bringBack(revision),
      },
    );
    this.pictures = new Pictures(this);
    this.verdict = new Verdict(this);
    this.filters = new Filters(this, start.dataset);
    this.commands = new Commands(this);
  }

  // What the parts ask of the page.

  say(words) {
    this.status.say(words);
  }

  saved(doc) {
    this.verdict.asked = "";
    this.saver.push(doc);
    this.steps.keep(doc);
  }

  select(uid, { keepPlace = false } = {}) {
    this.selection.only(uid);
    const box = this.editing.selectedBox;
    const place = this.editing.placeOf(uid);
    if (!keepPlace) this.editing.place = Math.max(0, place - 1);
    if (box) {
      this.status.speak(`${face(box.label).words}, box ${place} of ${this.editing.boxes.length}`);
    }
  }

  selectAll(uids, first = undefined) {
    this.selection.all(uids, first);
    this.#announceSelected();
  }

  #announceSelected() {
    this.status.speak(`${boxCount(this.selection.size)} selected`);
  }

  setLabels(labels) {
    this.labels = labels;
    $("label-names").replaceChildren(...labels.map((label) => new Option(label, label)));
  }

  // Drawing.

  marks() {
    const doubles = new Set(this.deal.doubles());
    return new Map(this.editing.boxes.filter((box) => doubles.has(box.label))
      .map((box) => [box.uid, DOUBLE]));
  }

  drawStage() {
    if (!this.doc) return;
    this.stage.draw({
      boxes: this.editing.boxes, selection: this.selection, marks: this.marks(),
      ghost: this.editing.ghost, hints: this.suggestions.hints,
    });
  }

  render() {
    const { doc } = this;
    if (!doc) return;
    this.drawStage();
    this.panel.draw(shown(doc), this.editing.boxes, this.selection, this.marks());
    this.suggestions.draw();
    this.checkDeal();
    this.#checkSuggestions();
    this.deal.draw(this.#boxesAsTyped(), this.typedNow);
    this.film.update(doc);
    $("stage").classList.toggle("done", doc.confirmed);
    const suggested = this.suggestions.current;
    $("hint").replaceChildren(...hint(
      this.selection.size, this.editing.boxes.length, this.editing.placeOf(this.selection.first),
      suggested && this.suggestions.words(suggested),
    ));
    this.status.draw(this.saver);
    this.#counts();
  }

  #counts() {
    const { film } = this;
    const place = film.place(this.doc.id);
    const number = (value) => value.toLocaleString("en");
    $("place").textContent = film.matching === null ? ""
      : `${place === null ? "outside the filter" : number(place)} of ${number(film.matching)}`;
    $("progress").hidden = film.matching === null || this.filters.wanted.confirmed !== undefined;
    if (film.matching !== null) {
      const bar = /** @type {HTMLProgressElement} */ (/** @type {Element} */ ($("progress").querySelector("progress")));
      bar.max = Math.max(1, film.matching);
      bar.value = film.confirmed;
      $("progress-words").textContent = `${number(film.confirmed)} confirmed`;
    }
  }

  #saverChanged(doc) {
    if (!doc.waiting) this.status.reached(); // before it is drawn, or the alarm stays
    if (doc === this.doc) this.render();
    else {
      this.film.update(doc);
      this.status.draw(this.saver);
    }
    if (!doc.waiting && doc === this.doc && this.panel.changes) this.verdict.loadHistory();
  }

  // The boxes as they would be with what is being typed.
  #boxesAsTyped() {
    const asked = this.field.session?.box;
    const { boxes, ghost } = this.editing;
    if (!asked || !this.typedNow) return boxes;
    if (asked === ghost) return [...boxes, { ...ghost, label: this.typedNow }];
    return boxes.map((box) => (this.selection.has(box.uid) ? renamed(box, this.typedNow) : box));
  }

  checkDeal(options) {
    const { doc } = this;
    if (!doc || this.pointer.busy || this.editing.pending) return Promise.resolve();
    return this.deal.check(doc, this.#boxesAsTyped(), options);
  }

  #checkSuggestions() {
    if (!start.dataset.suggested || this.pointer.busy || this.editing.pending) return;
    this.suggestions.check(this.doc, this.editing.boxes);
  }

  listen() {
    document.addEventListener("click", (event) => {
      const clicked = /** @type {Element} */ (event.target);
      if (clicked.closest("button") && !clicked.closest("dialog")) {
        $("stage").focus({ preventScroll: true });
      }
    });
    const poll = () => this.pictures.poll();
    $("alarm-retry").addEventListener("click", () => { this.saver.retryAll(); poll(); });
    $("keys-button").addEventListener("click", () => showKeys($("keys")));
    this.askPerson = askForPerson(this.api, start, (words) => this.say(words));
    for (const dialog of document.querySelectorAll("dialog")) {
      dialog.addEventListener("close", () => $("stage").focus({ preventScroll: true }));
    }
    // What is being moved when the page goes is noted, and saved when it is back.
    addEventListener("pagehide", () => {
      this.editing.flush();
      this.steps.flush();
    });
    addEventListener("online", () => this.saver.retryAll());
    document.addEventListener("visibilitychange", poll);
    setInterval(poll, POLL_MS);
  }

  // What an earlier page could not save comes first.
  async #resume() {
    for (const note of this.saver.leftOver()) {
      try {
        const doc = await this.pictures.load(note.id);
        const isLeft = await this.saver.resume(doc, note);
        this.steps.restore(doc, { again: true });
        if (isLeft) {
          this.say(`Edits of ${doc.form.file} that were not saved yet are being saved now.`);
        }
      } catch (error) {
        if (error.status === 404) localStorage.removeItem(this.saver.prefix + note.id);
        else this.status.failed(error, this.saver);
      }
    }
  }

  async begin() {
    this.setLabels(this.labels);
    this.listen();
    const wanted = this.filters.readAddress();
    if (wanted !== null) this.pictures.preload(wanted);
    const resumed = this.#resume();
    const first = await this.filters.apply(wanted);
    let id = wanted ?? first;
    if (wanted === null && id !== null && this.filters.wanted.confirmed === undefined) {
      id = (await this.film.nextUnconfirmed(0).catch(() => null)) ?? id;
    }
    if (id === null) this.say("This dataset has no images yet.");
    await this.pictures.go(id);
    // The address may name an image that is not there.
    if (!this.doc) await this.pictures.go(this.film.items[0]?.id);
    await resumed;
    $("stage").focus();
    document.body.dataset.ready = "true";
    if (start.ask_person) this.askPerson();
  }
}

const shown = (doc) => ({
  form: doc.form, confirmed: doc.confirmed, wantConfirmed: doc.wantConfirmed,
});

new Review().begin();
