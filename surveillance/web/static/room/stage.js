// The stage: evidence before and after side by side, each image alone, or a camera's clip.

import { html } from "/static/shared/dom.js";
import { Player } from "/static/room/player.js";

const HEADS = { before: "Before", after: "After" };

// Before and after as each camera shows them, the first one's to begin with.
function pairsOf(pictures) {
  const cameras = [...new Set(["", ...pictures.map(({ camera }) => camera)])];
  return cameras.flatMap((camera) => {
    const pair = ["before", "after"].map((role) => pictures.find((picture) => picture.camera === camera && picture.role === role));
    return pair[0] && pair[1] ? [{ kind: "pair", words: `${camera && `${camera}: `}before | after`, pictures: pair }] : [];
  });
}

// A view of each clip, the first camera's to begin with; each has a player of its own.
function clipsOf({ clip, further_clips: further }) {
  const all = [{ camera: "", clip }, ...further].filter((one) => one.clip);
  return all.map((one) => ({
    kind: "clip", words: `${one.camera && `${one.camera}: `}clip`, pictures: [], player: new Player(one.clip, one.camera),
  }));
}

const shownOf = (alert) => JSON.stringify([alert.pictures, alert.clip, alert.further_clips]);

export class Stage {
  constructor() {
    this.stage = html("div", { class: "stage" });
    this.strip = html("div", { class: "strip", role: "tablist", "aria-label": "Evidence" });
    this.missing = html("p", { class: "clip-missing", hidden: true });
    this.node = html("section", { class: "evidence", "aria-label": "Evidence" }, this.stage, this.strip, this.missing);
  }

  // Show what came since, such as the clip; the open view stays.
  update(alert) {
    if (shownOf(alert) === this.shown) return;
    const now = this.views[this.at];
    if (now?.kind === "clip") return;
    this.show(alert);
    if (now) this.go(Math.max(0, this.views.findIndex((view) => view.kind === now.kind && view.words === now.words)));
  }

  show(alert) {
    this.#stop();
    const { pictures } = alert;
    this.shown = shownOf(alert);
    this.waits = !pictures.length && !alert.bundle_url;
    this.views = [
      ...pairsOf(pictures),
      ...clipsOf(alert),
      ...pictures.map((picture) => ({ kind: "picture", words: picture.words, pictures: [picture] })),
    ];
    const missing = alert.further_clips.filter((one) => one.missing);
    this.missing.textContent = missing.map((one) => `No clip of ${one.camera}: ${one.missing}.`).join(" ");
    this.missing.hidden = !missing.length;
    this.strip.replaceChildren(...this.views.map((view, n) => this.#tab(view, n)));
    this.strip.hidden = this.views.length < 2;
    const first = this.views.findIndex((view) => view.kind !== "clip");
    this.at = -1;
    this.go(Math.max(0, first));
  }

  clear() {
    this.#stop();
    this.views = [];
  }

  #stop() {
    this.views?.forEach((view) => view.player?.stop());
  }

  // The player that is shown.
  get player() {
    return this.views?.[this.at]?.player;
  }

  #tab(view, n) {
    const picture = view.pictures[0];
    const inside = view.kind === "clip" ? [html("span", { class: "tab-clip", "aria-hidden": "true" }, "▶")]
      : view.kind === "pair" ? view.pictures.map((one) => html("img", { src: one.url, alt: "", loading: "lazy" }))
        : [html("img", { src: picture.url, alt: "", loading: "lazy" })];
    return html("button", {
      type: "button", role: "tab", "aria-selected": "false", class: view.kind, title: view.words, onclick: () => this.go(n),
    }, ...inside, html("span", { class: "tab-words" }, view.words.replace(/, [\d:.]+$/, "")));
  }

  go(n) {
    if (!this.views.length) {
      this.stage.replaceChildren(html("p", { class: "empty" }, html("strong", {},
        this.waits ? "The pictures are being kept; they show here at once." : "No picture was kept for this alert.")));
      return;
    }
    const at = (n + this.views.length) % this.views.length;
    if (at === this.at) return;
    const before = this.player;
    this.at = at;
    const view = this.views[at];
    before?.pause();
    // Another camera's clip goes on at the same moment.
    if (before && view.player) view.player.go(before.place);
    [...this.strip.children].forEach((tab, m) => tab.setAttribute("aria-selected", String(m === at)));
    this.strip.children[at]?.scrollIntoView({ block: "nearest", inline: "nearest" });
    this.stage.dataset.kind = view.kind;
    this.stage.replaceChildren(...(view.kind === "clip" ? [view.player.node]
      : view.pictures.map((picture) => html("figure", {},
        html("img", { src: picture.url, alt: picture.words, "data-n": picture.n }),
        html("figcaption", {}, picture.role ? html("b", {}, HEADS[picture.role], " ") : "", picture.words)))));
  }

  step(by) {
    this.go(this.at + by);
  }

  // Show a clip, the first one unless another is shown.
  #goToClip() {
    if (!this.player) this.go(this.views.findIndex((view) => view.kind === "clip"));
  }

  // Show the clip and play it, or stop it.
  play() {
    if (!this.views?.some((view) => view.player)) return false;
    const isShown = Boolean(this.player);
    this.#goToClip();
    if (isShown) this.player.toggle();
    else this.player.play();
    return true;
  }

  seek(by_s) {
    this.player?.seek(by_s);
  }

  toMoment() {
    if (!this.views?.some((view) => view.player)) return;
    this.#goToClip();
    this.player.toMoment();
  }

  slower() {
    this.player?.slower();
  }

  enlarge() {
    if (document.fullscreenElement) document.exitFullscreen();
    else this.stage.requestFullscreen?.();
  }
}
