// An image of a table in which a person points at what was laid out there, by mouse or by keys.

import { ApiError } from "/static/shared/api.js";
import { byId } from "/static/shared/dom.js";
import { keys } from "/static/shared/keys.js";
import { PictureChoice } from "/static/calibration/pictures.js";
import { Stage } from "/static/calibration/stage.js";

const STEP_PX = 4; // of the window
const CALIBRATE = "The camera is not calibrated yet: calibrate it, then take samples.";

export class Pointing {
  // `draft` is the table file. `take(picture, at)` asks the server for the sample at a point and
  // keeps it, `name()` is what is meant to lie there, `outlines()` what is drawn over the image,
  // `redraw()` draws the rest of the page; `empty` is said while there is no image.
  constructor(start, draft, { empty, take, name, outlines, redraw }) {
    this.draft = draft;
    this.handlers = { take, name, outlines, redraw };
    this.busy = false;
    /** @type {[number, number]} */
    this.cross = [0, 0];
    this.stage = new Stage({ stage: byId("stage"), canvas: byId("canvas"), lens: byId("lens"), magnifier: byId("magnifier") }, {
      onChoose: () => {},
      onMove: (_, at) => this.moveCross(at),
      onEnd: () => {},
      onPick: (at) => { this.moveCross(at); this.take(); },
    });
    this.pictures = new PictureChoice(start, {
      empty,
      onPicture: (picture) => {
        this.cross = [picture.width_px / 2, picture.height_px / 2];
        this.stage.show(picture.url, picture.width_px, picture.height_px);
        redraw();
      },
    });
    byId("stage").addEventListener("keydown", (event) => this.#key(event));
    byId("save").addEventListener("click", () => this.save());
    byId("undo").addEventListener("click", () => draft.undo());
  }

  // The page is ready: show what there is.
  begin() {
    this.pictures.begin();
    this.handlers.redraw();
    if (!this.draft.data.camera) this.refuse(CALIBRATE);
    document.body.dataset.editor = "ready";
  }

  get picture() {
    return this.pictures.picture;
  }

  refuse(words) {
    byId("refused").textContent = words;
    byId("refused").hidden = !words;
  }

  // Take the sample at the cross; what speaks against it is said beside the image.
  take() {
    return this.ask(this.handlers.name(), (picture) => this.handlers.take(picture, [...this.cross]));
  }

  // Ask the server about the image, by `question`, for what is called `name`.
  async ask(name, question) {
    const { picture } = this;
    if (!picture || this.busy || !name) return;
    this.busy = true;
    document.body.dataset.sampling = "true";
    this.refuse("");
    try {
      await question(picture);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.refuse(`${name}: ${error.message}`);
    } finally {
      this.busy = false;
      document.body.dataset.sampling = "false";
    }
    this.handlers.redraw();
  }

  moveCross([x, y]) {
    const { width_px: w, height_px: h } = this.picture;
    this.cross = [Math.min(Math.max(x, 0), w), Math.min(Math.max(y, 0), h)];
    this.draw();
  }

  draw() {
    if (!this.picture) return;
    const points = [{ image_px: this.cross, name: `${this.handlers.name() ?? ""}?` }];
    this.stage.set({ points, outlines: this.handlers.outlines(this.picture), fits: [], chosen: 0 });
  }

  save() {
    if (!byId("save").disabled) this.draft.save(byId("restart").checked && !byId("restart").closest("label").hidden);
  }

  // `own` are the page's keys beside those of the image and the table file.
  addKeys(title, own = []) {
    const seen = (act) => () => this.picture && act();
    keys.add(title, [
      ["Ctrl+s", "save", () => this.save(), { typing: true }],
      ["Ctrl+z", "undo", () => this.draft.undo()],
      ...own,
      ["Enter", "in the image: take the sample at the cross"],
      ["z", "go to the cross", seen(() => this.stage.goTo(this.cross))],
      ["0", "show all", seen(() => this.stage.all())],
      ["+", "nearer", seen(() => this.stage.zoom(1.5, this.cross))],
      ["-", "farther", seen(() => this.stage.zoom(1 / 1.5, this.cross))],
    ]);
  }

  #key(event) {
    if (!this.picture) return;
    const step = STEP_PX * this.stage.scale * (event.shiftKey ? 10 : event.altKey ? 0.25 : 1);
    const by = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] }[event.key];
    if (by) {
      event.preventDefault();
      this.moveCross([this.cross[0] + by[0], this.cross[1] + by[1]]);
    } else if (event.key === "Enter") {
      event.preventDefault();
      this.take();
    }
  }
}
