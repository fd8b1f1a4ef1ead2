// The present state of the tables: small changes are taken from the event itself, all else
// (what is due, the last round) is asked for, at most once in a while for each table.

import { get } from "/static/shared/api.js";
import { live } from "/static/shared/live.js";

const PAUSE_MS = 1_200;
// A database that is back is asked again only so long after it was last found down.
const BACK_MS = 3_000;
const SENT_KEYS = ["state", "message", "phase", "round_id", "stream_s", "lag_s", "fps", "dropped",
  "restarts", "coverage", "frame_shown_at", "has_picture", "picture_age_s", "further"];

const WORDS = {
  connecting: "Connecting", running: "Watching", stalled: "No frames arrive",
  frozen: "Frozen image", reconnecting: "Reconnecting", ended: "Ended", failed: "Failed",
  too_slow: "Machine too slow", stale: "No sign of its process", overload: "Left out: overload", off: "Not watched",
};

export class Tables {
  // `changed(line)` is called for each table that is not as it was.
  constructor(lines, changed) {
    this.lines = new Map(lines.map((line) => [line.camera, line]));
    this.changed = changed;
    this.asked = new Map();
    this.heard = new Map();
    this.lying = new Map();
    live.on("state", (event) => this.#state(event));
    for (const kind of ["round", "alert", "alert_changed"]) {
      live.on(kind, (event) => this.ask(event.camera));
    }
    live.on("health", (event) => this.ask(event.camera));
    live.on("record", ({ body }) => {
      if (!body.store_down_since) setTimeout(() => this.askAll(), BACK_MS);
    });
    live.on("missed", () => this.askAll());
    live.on("begun", () => this.askAll());
  }

  #state({ camera, body }) {
    this.heard.set(camera, this.#heard(camera) + 1);
    const line = this.lines.get(camera);
    if (!line) {
      this.ask(camera);
      return;
    }
    const news = Object.fromEntries(SENT_KEYS.filter((key) => key in body).map((key) => [key, body[key]]));
    Object.assign(line, news, { words: WORDS[body.state] ?? line.words });
    line.further = line.further.map((one) => ({ ...one, words: WORDS[one.state] ?? one.state }));
    const lying = JSON.stringify([body.seats, body.round_id]);
    if (lying !== this.lying.get(camera)) {
      this.lying.set(camera, lying);
      this.ask(camera);
    }
    this.changed(line);
  }

  ask(camera) {
    if (this.asked.has(camera)) return;
    this.asked.set(camera, setTimeout(() => this.#ask(camera), this.lines.has(camera) ? PAUSE_MS : 0));
  }

  #heard(camera) {
    return this.heard.get(camera) ?? 0;
  }

  // Take an answer; an event that came while it was on its way is newer.
  #take(line, heard) {
    const own = this.lines.get(line.camera);
    if (own && this.#heard(line.camera) !== heard) {
      for (const key of [...SENT_KEYS, "words"]) line[key] = own[key];
    }
    this.lines.set(line.camera, line);
    this.changed(line);
  }

  async #ask(camera) {
    this.asked.delete(camera);
    const heard = this.#heard(camera);
    try {
      this.#take(await get(`/api/tables/${encodeURIComponent(camera)}/line`), heard);
    } catch {
      // The banner of the lost connection says it; the next news asks again.
    }
  }

  async askAll() {
    const before = new Map(this.heard);
    try {
      for (const line of await get("/api/tables")) this.#take(line, before.get(line.camera) ?? 0);
    } catch {
      // As above.
    }
  }
}
