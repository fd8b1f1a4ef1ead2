// A camera's picture, about one a second, changed only when the next one is whole.

import { html } from "/static/shared/dom.js";

const EVERY_MS = 1_000;
const MOST_WAIT_MS = 8_000;

export class LivePicture {
  constructor(camera, words) {
    this.camera = camera;
    this.overlay = false;
    this.image = html("img", { alt: words, width: 1280, height: 720, decoding: "async" });
    this.none = html("p", { class: "no-picture" }, "no picture yet");
    this.node = html("div", { class: "picture" }, this.image, this.none);
    this.image.hidden = true;
    this.wait = EVERY_MS;
    this.#next();
  }

  setOverlay(overlay) {
    if (overlay === this.overlay) return;
    this.overlay = overlay;
    clearTimeout(this.timer);
    this.#next();
  }

  async #next() {
    const asked = this.asked = performance.now();
    if (!document.hidden) {
      const image = new Image();
      image.src = `/api/tables/${encodeURIComponent(this.camera)}/picture`
        + `?overlay=${this.overlay ? 1 : 0}&t=${Date.now()}`;
      try {
        await image.decode();
        if (asked !== this.asked) return;
        image.alt = this.image.alt;
        this.image.replaceWith(image);
        this.image = image;
        this.none.hidden = true;
        this.node.classList.remove("old");
        this.wait = EVERY_MS;
      } catch {
        if (asked !== this.asked) return;
        // The last picture stays, but nobody shall take it for a live one.
        this.node.classList.add("old");
        this.none.hidden = !this.image.hidden;
        this.wait = Math.min(this.wait * 2, MOST_WAIT_MS);
      }
    }
    this.timer = setTimeout(() => this.#next(), Math.max(100, this.wait - (performance.now() - asked)));
  }
}

// Whether what is seen is drawn over pictures: remembered, changed by button and key.
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
