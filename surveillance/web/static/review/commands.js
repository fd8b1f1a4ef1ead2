// What each key does.

import { meaning, showKeys } from "./keys.js";

const PAN_PX = 120;
const ONCE = new Set([
  "confirm", "confirmStay", "unconfirm", "delete", "nextUnconfirmed", "add", "copyPrevious", "paste",
  "accept", "reject", "acceptAll", "rejectAll", "drawTurned",
]);
const FAR_DEG = 15;
const $ = (id) => document.getElementById(id);

export class Commands {
  constructor(app) {
    this.app = app;
    document.addEventListener("keydown", (event) => this.key(event));
  }

  run(name) {
    const pan = (dx, dy) => this.app.stage.pan(dx, dy);
    const commands = {
      next: () => this.app.pictures.step(1), previous: () => this.app.pictures.step(-1),
      nextUnconfirmed: () => this.app.pictures.nextUnconfirmed(),
      confirm: () => this.app.verdict.confirm(true),
      confirmStay: () => this.app.verdict.confirm(false),
      unconfirm: () => this.app.verdict.unconfirm(),
      nextBox: () => this.app.editing.selectNext(1),
      previousBox: () => this.app.editing.selectNext(-1),
      letGo: () => this.letGo(), rename: () => this.app.editing.rename(),
      add: () => this.app.editing.addAt(this.app.pointer.aim()),
      delete: () => this.app.editing.remove(),
      selectAll: () => this.selectAll(),
      selectAlike: () => this.app.editing.selectAlike(),
      copy: () => this.app.editing.copy(), paste: () => this.app.editing.paste(),
      copyPrevious: () => this.app.pictures.copyPrevious(),
      drawTurned: () => this.app.pointer.arm(),
      turnLeft: () => this.app.editing.turn(-1), turnRight: () => this.app.editing.turn(1),
      turnFarLeft: () => this.app.editing.turn(-FAR_DEG),
      turnFarRight: () => this.app.editing.turn(FAR_DEG),
      nextSuggestion: () => this.app.suggestions.next(1),
      previousSuggestion: () => this.app.suggestions.next(-1),
      accept: () => this.app.suggestions.accept(), reject: () => this.app.suggestions.reject(),
      acceptAll: () => this.app.suggestions.acceptAll(),
      rejectAll: () => this.app.suggestions.rejectAll(),
      undo: () => this.app.editing.undo(), redo: () => this.app.editing.redo(),
      zoomIn: () => this.app.stage.zoom(1.25, this.#centre()),
      zoomOut: () => this.app.stage.zoom(0.8, this.#centre()),
      fit: () => this.app.stage.fit(),
      zoomToBox: () => this.zoomToBox(),
      panLeft: () => pan(PAN_PX, 0), panRight: () => pan(-PAN_PX, 0),
      panUp: () => pan(0, PAN_PX), panDown: () => pan(0, -PAN_PX),
      showing: () => this.nextShowing(), history: () => this.app.verdict.toggleHistory(),
      keys: () => showKeys($("keys")), filter: () => $("filter-show").focus(),
      leave: () => $("filter-show").focus(),
    };
    return commands[name]();
  }

  letGo() {
    this.app.editing.flush();
    this.app.pointer.cancel();
    this.app.select(null, { keepPlace: true });
    this.app.render();
  }

  selectAll() {
    this.app.editing.flush();
    this.app.selectAll(this.app.editing.boxes.map((box) => box.uid), this.app.selection.first);
    this.app.render();
  }

  zoomToBox() {
    const box = this.app.editing.selectedBox;
    if (box) this.app.stage.zoomTo(box);
  }

  #centre() {
    const box = this.app.editing.selectedBox;
    return box
      ? this.app.stage.toScreen({ x: (box.x0 + box.x1) / 2, y: (box.y0 + box.y1) / 2 }) : undefined;
  }

  nextShowing() {
    const ways = ["labels", "outlines", "nothing"];
    this.app.stage.showing = ways[(ways.indexOf(this.app.stage.showing) + 1) % ways.length];
    const words = { labels: "Names and boxes.", outlines: "Boxes only.", nothing: "Boxes hidden." };
    this.app.say(words[this.app.stage.showing]);
    this.app.drawStage();
  }

  key(event) {
    if (event.defaultPrevented || event.isComposing) return;
    if (document.querySelector("dialog[open]")) return;
    const { target } = event;
    if (target.matches("input, select, textarea")) {
      if (event.key === "Escape" || event.key === "F6") $("stage").focus();
      return;
    }
    const isElsewhere = target.matches("button, a");
    if (isElsewhere && ["Enter", " ", "Tab"].includes(event.key)) return;
    if (event.key === "F6" && isElsewhere) {
      event.preventDefault();
      $("stage").focus();
      return;
    }
    const meant = meaning(event, this.app.selection.size > 0);
    if (!meant || !this.app.doc) return;
    event.preventDefault();
    // A key held down a moment too long must not confirm or delete the next one unseen.
    if (event.repeat && ONCE.has(meant.command)) return;
    if (meant.arrow) this.app.editing.nudge(meant.arrow);
    else if (meant.letter) this.app.editing.rename(meant.letter);
    else this.run(meant.command);
  }
}
