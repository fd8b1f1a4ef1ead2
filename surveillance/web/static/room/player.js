// A clip. It begins at the moment; a browser that cannot play its codec is shown stills.

import { html } from "/static/shared/dom.js";

const LEAD_S = 1.5; // before the moment, to show what led to it
const STILLS_A_SECOND = 3;

// The clip frame by frame, decoded by the server.
class Stills {
  constructor(clip, shown) {
    this.clip = clip;
    this.shown = shown;
    this.at = 0;
    this.timer = null;
    this.node = html("img", { class: "still", alt: "The clip, frame by frame" });
  }

  async show(at) {
    this.at = at;
    const image = new Image();
    image.src = `${this.clip.stills_url}&at_s=${at.toFixed(2)}`;
    try {
      await image.decode();
      this.node.src = image.src;
    } catch {
      this.pause();
      this.node.alt = "The clip cannot be shown: no frame of it can be decoded.";
    }
    this.shown();
  }

  play() {
    const next = async () => {
      await this.show(this.at + 1 / STILLS_A_SECOND);
      if (this.timer) this.timer = setTimeout(next, 1_000 / STILLS_A_SECOND);
    };
    this.timer = setTimeout(next, 0);
  }

  pause() {
    clearTimeout(this.timer);
    this.timer = null;
  }
}

export class Player {
  constructor(clip, camera = "") {
    this.clip = clip;
    this.from = -LEAD_S; // s after the moment, where it begins
    this.video = html("video", {
      src: clip.url, controls: true, playsinline: true, preload: "metadata",
      "aria-label": camera ? `Clip of the alert, ${camera}` : "Clip of the alert",
    });
    this.video.muted = true;
    this.mark = html("div", { class: "moment", title: "the moment" });
    this.words = html("p", { class: "clip-words" });
    this.node = html("div", { class: "clip" }, this.video, html("div", { class: "clip-line" }, this.mark), this.words);
    this.video.addEventListener("loadedmetadata", () => this.#ready());
    this.video.addEventListener("error", () => this.#stills());
    for (const kind of ["ratechange", "timeupdate", "play", "pause"]) {
      this.video.addEventListener(kind, () => this.#showPlace());
    }
  }

  #ready() {
    this.duration = this.video.duration;
    this.node.dataset.ready = "true";
    this.#place();
    this.go(this.from);
    if (this.wanted) this.play();
  }

  #place() {
    const share = this.duration > 0 ? Math.min(1, this.clip.moment_s / this.duration) : 0;
    this.mark.style.left = `${100 * share}%`;
    this.mark.hidden = !this.clip.is_known;
    this.#showPlace();
  }

  #showPlace() {
    const at = this.stills ? this.stills.at : this.video.currentTime;
    const from = at - this.clip.moment_s;
    const place = `${Math.abs(from).toFixed(1)} s ${from < 0 ? "before" : "after"} the moment`;
    const rate = this.video.playbackRate === 1 ? "" : ` · ${this.video.playbackRate}× speed`;
    this.words.textContent = (this.clip.is_known ? place : "the moment in this clip is not known") + rate
      + (this.stills ? " · stills, for this browser cannot play the clip's codec" : "");
  }

  toMoment() {
    this.go(-LEAD_S);
  }

  // Seconds after the moment, below 0 before it.
  get place() {
    return this.node.dataset.ready ? (this.stills ? this.stills.at : this.video.currentTime) - this.clip.moment_s : this.from;
  }

  go(place) {
    this.from = Math.max(place, -this.clip.moment_s);
    if (this.node.dataset.ready) this.#to(this.clip.moment_s + this.from);
  }

  #to(at) {
    const most = Number.isFinite(this.duration) ? Math.max(0, this.duration - 0.05) : at;
    const place = Math.max(0, Math.min(at, most));
    if (this.stills) this.stills.show(place);
    else this.video.currentTime = place;
  }

  // Also before the clip is loaded: it then begins there.
  seek(by_s) {
    this.pause();
    this.go(this.place + by_s);
  }

  slower() {
    const rates = [1, 0.5, 0.25];
    this.video.playbackRate = rates[(rates.indexOf(this.video.playbackRate) + 1) % rates.length];
  }

  get paused() {
    return this.stills ? !this.stills.timer : this.video.paused;
  }

  play() {
    this.wanted = true;
    if (this.stills) this.stills.play();
    else if (this.node.dataset.ready) this.video.play().catch(() => {});
  }

  pause() {
    this.wanted = false;
    if (this.stills) this.stills.pause();
    else this.video.pause();
  }

  toggle() {
    if (this.paused) this.play();
    else this.pause();
  }

  // Let go of the connection as well: a browser has only six.
  stop() {
    this.pause();
    this.video.removeAttribute("src");
    this.video.load();
  }

  #stills() {
    if (this.stills || !this.video.getAttribute("src")) return;
    this.stills = new Stills(this.clip, () => this.#showPlace());
    this.duration = Infinity;
    this.video.replaceWith(this.stills.node);
    this.node.dataset.ready = "true";
    this.mark.hidden = true;
    this.go(this.from);
    if (this.wanted) this.stills.play();
  }
}
