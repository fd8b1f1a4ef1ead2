// The image with points and layout: zoom, move, drag, a magnifier.

import { svg } from "/static/shared/dom.js";

const MOST_ZOOM = 40;
const POINT_REM = 0.72; // of the window
const CLICK_PX = 4; // of the window; a press that moves farther drags the image
const LENS_PX = 26; // of the image, shown in the magnifier

export class Stage {
  // `onPick`, if given, receives the point of a press without a move on the image itself.
  constructor({ stage, canvas, lens, magnifier }, { onChoose, onMove, onEnd, onPick = null }) {
    this.stage = stage;
    this.canvas = canvas;
    this.lens = lens;
    this.magnifier = magnifier;
    this.handlers = { onChoose, onMove, onEnd, onPick };
    this.view = null;
    this.state = { points: [], outlines: [], fits: [], chosen: null };
    this.stage.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(event.deltaY < 0 ? 1.25 : 0.8, this.at(event));
    }, { passive: false });
    this.stage.addEventListener("pointerdown", (event) => this.press(event));
    new ResizeObserver(() => { if (this.size) this.fitView(); }).observe(this.stage);
  }

  // Show an image of a size in the camera's px.
  show(url, width, height) {
    this.url = url;
    this.size = [width, height];
    this.view = null;
    this.image = svg("image", { href: url, x: -0.5, y: -0.5, width, height, preserveAspectRatio: "none" });
    this.over = svg("g");
    this.canvas.replaceChildren(this.image, this.over);
    this.magnified = svg("image", { href: url, x: -0.5, y: -0.5, width, height, preserveAspectRatio: "none" });
    this.aim = svg("g");
    this.magnifier.replaceChildren(this.magnified, this.aim);
    this.all();
  }

  get scale() {
    const rect = this.stage.getBoundingClientRect();
    return Math.max(this.view[2] / Math.max(rect.width, 1), this.view[3] / Math.max(rect.height, 1)); // px of the image per px of the window
  }

  all() {
    const [w, h] = this.size;
    this.view = [-w * 0.03, -h * 0.03, w * 1.06, h * 1.06];
    this.fitView();
  }

  fitView() {
    if (!this.view) { this.all(); return; }
    this.canvas.setAttribute("viewBox", this.view.join(" "));
    this.draw();
  }

  zoom(by, [x, y]) {
    const [vx, vy, vw, vh] = this.view;
    const k = Math.min(Math.max(vw / by, this.size[0] / MOST_ZOOM), this.size[0] * 1.4) / vw;
    this.view = [x - (x - vx) * k, y - (y - vy) * k, vw * k, vh * k];
    this.fitView();
  }

  // Look at a point from near by.
  goTo([x, y], wide = this.size[0] / 8) {
    const high = (wide * this.view[3]) / this.view[2];
    this.view = [x - wide / 2, y - high / 2, wide, high];
    this.fitView();
  }

  /** @returns {[number, number]} */
  at(event) {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.canvas.getScreenCTM().inverse());
    return [point.x, point.y];
  }

  press(event) {
    if (!this.view || event.button > 1) return;
    const place = event.target.closest?.("[data-point]")?.dataset.point;
    this.stage.focus({ preventScroll: true });
    event.preventDefault();
    this.stage.setPointerCapture(event.pointerId);
    const start = this.at(event);
    const view = [...this.view];
    let move;
    let isClick = true;
    const [cx, cy] = [event.clientX, event.clientY];
    const clicks = (moved) => { isClick = isClick && Math.hypot(moved.clientX - cx, moved.clientY - cy) < CLICK_PX; return isClick; };
    if (place !== undefined) {
      this.handlers.onChoose(Number(place));
      const [px, py] = this.state.points[place].image_px;
      move = (moved) => {
        if (clicks(moved) && this.handlers.onPick) return;
        const [x, y] = this.at(moved);
        this.handlers.onMove(Number(place), [px + x - start[0], py + y - start[1]]);
      };
    } else {
      const { scale } = this;
      move = (moved) => {
        if (clicks(moved) && this.handlers.onPick) return;
        this.view = [view[0] - (moved.clientX - cx) * scale, view[1] - (moved.clientY - cy) * scale, view[2], view[3]];
        this.fitView();
      };
    }
    const end = () => {
      this.stage.removeEventListener("pointermove", move);
      if (isClick) this.handlers.onPick?.(start);
      this.handlers.onEnd();
    };
    this.stage.addEventListener("pointermove", move);
    this.stage.addEventListener("pointerup", end, { once: true });
    this.stage.addEventListener("pointercancel", end, { once: true });
  }

  set(state) {
    this.state = state;
    if (this.view) this.draw();
  }

  draw() {
    const { points, outlines, fits, chosen } = this.state;
    const r = POINT_REM * parseFloat(getComputedStyle(document.documentElement).fontSize) * this.scale;
    const nodes = outlines.map(({ kind, points_px }) => svg("polygon", { class: `outline ${kind}`, points: points_px.map((p) => p.join(",")).join(" ") }));
    for (const { name, points_px } of outlines.filter(({ isNamed }) => isNamed)) {
      const [x, y] = [Math.max(...points_px.map((p) => p[0])), Math.max(...points_px.map((p) => p[1]))];
      nodes.push(svg("text", { class: "outline-name", x: x + r * 0.5, y, "font-size": r * 1.5 }, name));
    }
    points.forEach(({ image_px: [x, y] }, n) => {
      const isChosen = n === chosen;
      const fit = fits[n];
      const group = svg("g", { class: `point${isChosen ? " is-chosen" : ""}${fit && fit.miss_px > 3 ? " is-bad" : ""}`, "data-point": n });
      if (fit && fit.miss_px > r / 60) {
        // The miss is drawn ten times as long, so that it is seen at all.
        const [sx, sy] = fit.shown_px;
        group.append(svg("line", { class: "miss", x1: x, y1: y, x2: x + (sx - x) * 10, y2: y + (sy - y) * 10 }));
      }
      group.append(svg("circle", { class: "reach", cx: x, cy: y, r: r * 1.6 }), svg("circle", { class: "shadow", cx: x, cy: y, r }), svg("circle", { class: "ring", cx: x, cy: y, r }),
        svg("line", { class: "cross", x1: x - r * 0.75, x2: x + r * 0.75, y1: y, y2: y }), svg("line", { class: "cross", x1: x, x2: x, y1: y - r * 0.75, y2: y + r * 0.75 }),
        svg("text", { x: x + r * 1.2, y: y - r * 0.8, "font-size": r * 1.5 }, points[n].name ?? String(n + 1)));
      nodes.push(group);
    });
    this.over.replaceChildren(...nodes);
    this.drawLens();
  }

  drawLens() {
    const point = this.state.points[this.state.chosen];
    this.lens.hidden = !point;
    if (!point) return;
    const [x, y] = point.image_px;
    const box = [x - LENS_PX / 2, y - LENS_PX / 2, LENS_PX, LENS_PX];
    this.magnifier.setAttribute("viewBox", box.join(" "));
    this.aim.replaceChildren(svg("line", { x1: x - 5, x2: x - 1, y1: y, y2: y }), svg("line", { x1: x + 1, x2: x + 5, y1: y, y2: y }),
      svg("line", { x1: x, x2: x, y1: y - 5, y2: y - 1 }), svg("line", { x1: x, x2: x, y1: y + 1, y2: y + 5 }));
    // It must not lie over the point itself.
    const rect = this.stage.getBoundingClientRect();
    const screen = new DOMPoint(x, y).matrixTransform(this.canvas.getScreenCTM());
    this.lens.classList.toggle("is-left", screen.x > rect.left + rect.width * 0.6 && screen.y < rect.top + rect.height * 0.5);
  }
}
