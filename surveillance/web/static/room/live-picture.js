// A camera's image, about one a second, changed only when the next one is whole.

import { html } from "/static/shared/dom.js";

const EVERY_MS = 1_000;
const MOST_WAIT_MS = 8_000;
const OLD_AFTER_MS = 5_000; // without an answer: a net that is cut says nothing
const GIVE_UP_MS = 20_000;
const STALE_S = 2; // an older image is not a live one

const gaveUp = (ms) => new Promise((_, reject) => { setTimeout(() => reject(new Error("no answer")), ms); });

export class LivePicture {
  // Nothing is asked for before `show` says that there is an image.
  // `further`: the name of a further camera over the table, of which nothing is drawn over.
  constructor(camera, words, further = "") {
    this.camera = camera;
    this.further = further;
    this.overlay = false;
    this.begun = false;
    this.image = html("img", { alt: words, width: 1280, height: 720, decoding: "async" });
    this.none = html("p", { class: "no-picture" }, "no image yet");
    this.age = html("p", { class: "picture-age" });
    this.node = html("div", { class: "picture" }, this.image, this.none, this.age);
    this.shownAt = null;
    this.image.hidden = true;
    this.wait = EVERY_MS;
  }

  show(isThere, age_s) {
    if (age_s !== null && age_s !== undefined) this.shownAt = performance.now() - age_s * 1_000;
    this.#showAge();
    if (this.begun || !isThere) return;
    this.begun = true;
    setInterval(() => this.#showAge(), 500);
    this.#next();
  }

  // An image grows old without any event: its age is counted here.
  #showAge() {
    if (this.shownAt === null) return;
    const age_s = (performance.now() - this.shownAt) / 1_000;
    this.age.textContent = age_s > 90 ? `${Math.round(age_s / 60)} min old` : `${age_s.toFixed(1)} s old`;
    this.node.classList.toggle("stale", age_s > STALE_S);
  }

  setOverlay(overlay) {
    if (overlay === this.overlay) return;
    this.overlay = overlay;
    if (!this.begun) return;
    clearTimeout(this.timer);
    this.#next();
  }

  // The last image stays, marked as not live.
  #old() {
    this.node.classList.add("old");
    this.none.hidden = !this.image.hidden;
  }

  async #next() {
    const asked = this.asked = performance.now();
    if (!document.hidden) {
      const image = new Image();
      const further = this.further && `&further=${encodeURIComponent(this.further)}`;
      image.src = `/api/tables/${encodeURIComponent(this.camera)}/picture`
        + `?overlay=${this.overlay ? 1 : 0}&t=${Date.now()}${further}`;
      const late = setTimeout(() => { if (asked === this.asked) this.#old(); }, OLD_AFTER_MS);
      try {
        await Promise.race([image.decode(), gaveUp(GIVE_UP_MS)]);
        if (asked !== this.asked) return;
        image.alt = this.image.alt;
        this.image.replaceWith(image);
        this.image = image;
        this.none.hidden = true;
        this.node.classList.remove("old");
        this.wait = EVERY_MS;
      } catch {
        image.removeAttribute("src");
        if (asked !== this.asked) return;
        this.#old();
        this.wait = Math.min(this.wait * 2, MOST_WAIT_MS);
      } finally {
        clearTimeout(late);
      }
    }
    this.timer = setTimeout(() => this.#next(), Math.max(100, this.wait - (performance.now() - asked)));
  }
}

// The further cameras' images beside the first one: small ones, each of which can be made the large one.
export class CameraSwitch {
  constructor(first, camera, table) {
    this.of = { camera, table };
    this.strip = html("div", { class: "further-pictures", role: "group", "aria-label": "Cameras" });
    this.all = [{ name: camera, picture: first }];
    this.large = first;
    first.node.after(this.strip);
    this.strip.hidden = true;
  }

  show(further) {
    for (const one of further) {
      let own = this.all.find(({ picture }) => picture.further === one.name);
      if (!own) {
        own = { name: one.name, picture: new LivePicture(this.of.camera, `Table ${this.of.table}, ${one.name}, live`, one.name) };
        this.all.push(own);
        this.#draw();
      }
      own.picture.show(one.has_picture, one.picture_age_s);
    }
  }

  next() {
    if (this.all.length > 1) this.#enlarge(this.all[(this.all.findIndex(({ picture }) => picture === this.large) + 1) % this.all.length].picture);
    return this.all.length > 1;
  }

  #enlarge(picture) {
    this.large.node.replaceWith(picture.node);
    this.large = picture;
    this.#draw();
  }

  #draw() {
    const small = this.all.filter(({ picture }) => picture !== this.large);
    this.strip.hidden = !small.length;
    this.strip.replaceChildren(...small.map(({ name, picture }) => html("button", {
      type: "button", "aria-label": `Enlarge ${name}`, title: `Enlarge ${name}`,
      onclick: () => { this.#enlarge(picture); this.strip.querySelector("button")?.focus(); },
    }, picture.node, html("span", {}, name))));
  }
}

// Whether detections are drawn over images: remembered, changed by button and key.
export function overlaySwitch(button, change) {
  let on = localStorage.getItem("feltwatch.overlay") !== "off";
  const apply = () => {
    button.ariaPressed = String(on);
    change(on);
  };
  const turn = () => {
    on = !on;
    localStorage.setItem("feltwatch.overlay", on ? "on" : "off");
    apply();
  };
  button.addEventListener("click", turn);
  apply();
  return turn;
}
