// The felt as a drawing and as numbers: spots and boxes are dragged, typed, added, taken away.

import { html, svg, wagerName } from "/static/shared/dom.js";
import { centerOf, circle, moveSeat, moveTo, newSpot, reachOf, scaleTo, shapeAt, shapesOf } from "/static/tablefiles/shapes.js";

const round = (value) => String(Math.round(value * 10) / 10);

export class FeltEditor {
  constructor(node, draft, { offered }) {
    this.node = node;
    this.draft = draft;
    this.offered = offered; // () => wagers that the table offers
    this.chosen = null;
    this.wrong = new Map();
  }

  show() {
    const focused = document.activeElement?.dataset?.key;
    this.drawing = svg("svg", { class: "felt-drawing", tabindex: "0", role: "application", "aria-label": "The felt: drag shapes, or move the chosen one by arrow keys" });
    this.drawing.addEventListener("pointerdown", (event) => this.press(event));
    this.drawing.addEventListener("keydown", (event) => this.key(event));
    this.list = html("div", { class: "shape-list" });
    this.node.replaceChildren(html("div", { class: "felt-editor" }, this.drawing, this.list));
    this.draw();
    this.write();
    if (focused) this.node.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  }

  draw() {
    const { data } = this.draft;
    const [w, h] = [data.felt?.width_mm || 2130, data.felt?.height_mm || 1120];
    this.drawing.setAttribute("viewBox", `-30 -30 ${w + 60} ${h + 60}`);
    this.drawing.replaceChildren(svg("rect", { class: "felt", x: 0, y: 0, width: w, height: h, rx: 20 }),
      ...shapesOf(data).flatMap(({ key, name, kind, shape, group }) => {
        const points = shape.points_mm ?? [];
        const node = svg("polygon", {
          class: `shape ${kind}${key === this.chosen ? " is-chosen" : ""}${this.wrong.has(key) ? " is-wrong" : ""}`,
          "data-shape": key, points: points.map((p) => p.join(",")).join(" "),
        });
        node.append(svg("title", {}, `${group}, ${name}`));
        return [node];
      }),
      ...(data.seats ?? []).map((seat) => {
        const [x, y] = seat.high?.points_mm ? centerOf(seat.high) : seat.place.center_mm;
        return svg("text", { x, y: y + 10 }, String(seat.seat));
      }));
  }

  at(event) {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.drawing.getScreenCTM().inverse());
    return [point.x, point.y];
  }

  choose(key) {
    this.chosen = key;
    this.draw();
    for (const line of this.list.querySelectorAll(".shape-line")) line.classList.toggle("is-chosen", line.dataset.shape === key);
  }

  press(event) {
    const key = event.target.dataset?.shape;
    if (!key) return;
    event.preventDefault();
    this.drawing.focus();
    this.choose(key);
    const start = this.at(event);
    const center = centerOf(shapeAt(this.draft.data, key));
    this.drawing.setPointerCapture(event.pointerId);
    const move = (moved) => {
      const [x, y] = this.at(moved);
      this.move(key, center[0] + x - start[0], center[1] + y - start[1], "drag");
    };
    const end = () => {
      this.drawing.removeEventListener("pointermove", move);
      this.draft.endStep();
    };
    this.drawing.addEventListener("pointermove", move);
    this.drawing.addEventListener("pointerup", end, { once: true });
    this.drawing.addEventListener("pointercancel", end, { once: true });
  }

  key(event) {
    const step = event.shiftKey ? 10 : event.altKey ? 0.1 : 1;
    const by = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] }[event.key];
    if (by && this.chosen) {
      event.preventDefault();
      const [x, y] = centerOf(shapeAt(this.draft.data, this.chosen));
      this.move(this.chosen, x + by[0], y + by[1], "keys");
    } else if (event.key === "Tab" && this.chosen !== null) {
      const keys = shapesOf(this.draft.data).map((one) => one.key);
      const next = keys[keys.indexOf(this.chosen) + (event.shiftKey ? -1 : 1)];
      if (next) { event.preventDefault(); this.draft.endStep(); this.choose(next); }
      else this.chosen = null;
    } else if (event.key === "Enter" && this.chosen === null) {
      this.choose(shapesOf(this.draft.data)[0]?.key ?? null);
    }
  }

  move(key, x, y, group) {
    this.draft.change((data) => moveTo(shapeAt(data, key), x, y), `${group} ${key}`);
    this.draw();
    this.numbers(key);
  }

  numbers(key) {
    const shape = shapeAt(this.draft.data, key);
    const [x, y] = centerOf(shape);
    const line = this.list.querySelector(`[data-shape="${CSS.escape(key)}"]`);
    const values = [x, y, reachOf(shape)];
    line?.querySelectorAll("input").forEach((input, n) => { input.value = round(values[n]); });
  }

  number(value, label, change, key = undefined) {
    return html("input", {
      type: "text", inputmode: "decimal", value: round(value), "aria-label": label, title: label, "data-key": key,
      onchange: (event) => {
        const read = Number(event.target.value);
        const wrong = event.target.value.trim() === "" || !Number.isFinite(read);
        event.target.setAttribute("aria-invalid", String(wrong));
        if (!wrong) change(read);
      },
    });
  }

  write() {
    const { data } = this.draft;
    const shapes = shapesOf(data);
    const nodes = [html("div", { class: "shape-line shape-head" }, html("span", {}, "Shape"), html("span", {}, "x mm"), html("span", {}, "y mm"), html("span", {}, "reach mm"))];
    nodes.push(html("h3", {}, "Felt"), html("div", { class: "shape-line" }, html("span", {}, "width, depth"),
      this.number(data.felt?.width_mm ?? 0, "Width of the felt, mm", (v) => this.change((d) => { d.felt = { ...d.felt, width_mm: v }; }), "felt.width_mm"),
      this.number(data.felt?.height_mm ?? 0, "Depth of the felt, mm", (v) => this.change((d) => { d.felt = { ...d.felt, height_mm: v }; }), "felt.height_mm"),
      html("span"), html("span"), html("span", { class: "fault", "data-fault": "felt" })));
    nodes.push(html("h3", {}, "Dealer", data.dealer?.house ? null : html("button", { class: "btn", type: "button", onclick: () => this.change((d) => {
      d.dealer.house = circle([(d.felt.width_mm ?? 2130) / 2 + 388, 65]);
    }) }, "+ house wager")));
    nodes.push(...shapes.filter((one) => one.group === "Dealer").map((one) => this.line(one)));
    (data.seats ?? []).forEach((seat, place) => nodes.push(...this.seat(seat, place, shapes)));
    nodes.push(html("div", { class: "row" }, html("button", { class: "btn", type: "button", onclick: () => this.addSeat() }, "+ seat")));
    this.list.replaceChildren(...nodes);
    this.faults(this.draft.faults);
  }

  seat(seat, place, shapes) {
    const missing = this.offered().filter((wager) => wager !== "envy" && !seat.spots?.[wager]);
    const select = html("select", { "aria-label": `Add a spot to seat ${seat.seat}`, onchange: (event) => {
      const wager = event.target.value;
      if (wager) this.change((d) => { d.seats[place].spots[wager] = newSpot(d.seats[place], wager); });
    } }, html("option", { value: "" }, "+ spot"), ...missing.map((wager) => html("option", { value: wager }, wagerName(wager))));
    const [x, y] = seat.place.center_mm;
    const angle = seat.place.angle_deg ?? 0;
    const turn = (nx, ny, na) => this.change((d) => moveSeat(d.seats[place], nx, ny, na));
    return [
      html("h3", {}, `Seat ${seat.seat}`, missing.length ? select : null, html("span", { class: "gap" }),
        html("button", { class: "btn btn-quiet", type: "button", "aria-label": `Take seat ${seat.seat} away`, onclick: () => this.change((d) => { d.seats.splice(place, 1); }) }, "✕")),
      html("div", { class: "shape-line" }, html("span", {}, "all of it; turn °"),
        this.number(x, "Seat: x mm", (v) => turn(v, y, angle), `seats.${place}.place.center_mm.0`), this.number(y, "Seat: y mm", (v) => turn(x, v, angle), `seats.${place}.place.center_mm.1`),
        this.number(angle, "Seat: turn, degrees", (v) => turn(x, y, v), `seats.${place}.place.angle_deg`), html("span"),
        html("span", { class: "fault", "data-fault": `seats.${place}` })),
      ...shapes.filter((one) => one.seat === place).map((one) => this.line(one)),
    ];
  }

  /** @param {import("/static/tablefiles/shapes.js").ShapeLine} line */
  line({ key, name, shape, wager, seat }) {
    const [x, y] = centerOf(shape);
    const canGo = (wager && wager !== "main") || key === "dealer.house";
    const node = html("div", { class: `shape-line${key === this.chosen ? " is-chosen" : ""}`, "data-shape": key },
      html("span", {}, name),
      this.number(x, `${name}: x mm`, (v) => this.move(key, v, centerOf(shapeAt(this.draft.data, key))[1], "typed"), `${key}.x`),
      this.number(y, `${name}: y mm`, (v) => this.move(key, centerOf(shapeAt(this.draft.data, key))[0], v, "typed"), `${key}.y`),
      this.number(reachOf(shape), `${name}: reach mm`, (v) => { if (v > 0) { this.draft.change((d) => scaleTo(shapeAt(d, key), v)); this.draw(); } }, `${key}.reach`),
      canGo ? html("button", { class: "btn btn-quiet", type: "button", "aria-label": `Take ${name} away`, onclick: () => this.change((d) => {
        if (wager) delete d.seats[seat].spots[wager];
        else delete d.dealer.house;
      }) }, "✕") : html("span"),
      html("span", { class: "fault", "data-fault": key }));
    node.addEventListener("focusin", () => { if (this.chosen !== key) this.choose(key); });
    return node;
  }

  addSeat() {
    this.change((d) => {
      const last = structuredClone(d.seats.at(-1));
      last.seat = Math.max(...d.seats.map((seat) => seat.seat)) + 1;
      moveSeat(last, last.place.center_mm[0] - 60, last.place.center_mm[1], last.place.angle_deg ?? 0);
      d.seats.push(last);
    });
  }

  change(act) {
    this.draft.change(act);
    this.draw();
    this.write();
  }

  // Show what is wrong at its line; gives back what has no line here.
  faults(list) {
    for (const node of this.list?.querySelectorAll("[data-fault]") ?? []) node.textContent = "";
    this.wrong = new Map(list.map(({ place, message }) => [place, message]));
    if (this.drawing) this.draw();
    return list.filter(({ place, message }) => {
      for (let key = place; key; key = key.includes(".") ? key.slice(0, key.lastIndexOf(".")) : "") {
        const node = this.list?.querySelector(`[data-fault="${CSS.escape(key)}"]`);
        if (node) { node.textContent = message; return false; }
      }
      return true;
    });
  }
}
