// Calibrating: points of the felt on an image, the fit as the server finds it, saved.

import { ApiError, attempt, post, toast } from "/static/shared/api.js";
import { byId, html, startValues } from "/static/shared/dom.js";
import { keys } from "/static/shared/keys.js";
import { Draft } from "/static/tablefiles/draft.js";
import { isSame, marksOf, nameOf } from "/static/calibration/marks.js";
import { PictureChoice } from "/static/calibration/pictures.js";
import { Stage } from "/static/calibration/stage.js";

const FIT_AFTER_MS = 30;
const BAD_PX = 3;
const start = startValues();
const draft = new Draft(start.file, { onShow: redraw, onFaults: () => {} });
let picture = start.picture;
let chosen = 0;
let answer = null;
let marks = marksOf(draft.data);

const stage = new Stage({ stage: byId("stage"), canvas: byId("canvas"), lens: byId("lens"), magnifier: byId("magnifier") }, {
  onChoose: choose, onMove: (n, at) => movePoint(n, at, "drag"), onEnd: () => draft.endStep(),
});
const camera = () => draft.data.camera;
const hundredth = (value) => Math.round(value * 100) / 100;

// ---- the points

function firstCamera() {
  // A table that was never calibrated begins with the felt's corners, well inside the image.
  const { width_px: w, height_px: h } = picture;
  const [fw, fh] = [draft.data.felt.width_mm, draft.data.felt.height_mm];
  const at = [[0.22, 0.22], [0.78, 0.22], [0.92, 0.85], [0.08, 0.85]];
  return { width_px: w, height_px: h, points: [[0, 0], [fw, 0], [fw, fh], [0, fh]].map((felt_mm, n) => ({ felt_mm, image_px: [Math.round(at[n][0] * w), Math.round(at[n][1] * h)] })) };
}

// The camera's px are those of the image it was calibrated on; another size of the same shape is scaled.
function fitToPicture() {
  if (!camera()) {
    draft.change((data) => { data.camera = firstCamera(); });
    return;
  }
  const { width_px: w, height_px: h } = camera();
  if (w === picture.width_px && h === picture.height_px) return;
  const sameShape = Math.abs(w / h - picture.width_px / picture.height_px) < 0.01;
  if (sameShape && picture.width_px < w) {
    toast(`The image has ${picture.width_px} × ${picture.height_px} px; points are kept in the camera's ${w} × ${h}.`);
    return;
  }
  const [kx, ky] = [picture.width_px / w, picture.height_px / h];
  draft.change((data) => {
    data.camera = { ...data.camera, width_px: picture.width_px, height_px: picture.height_px,
      points: data.camera.points.map((p) => ({ ...p, image_px: [hundredth(p.image_px[0] * kx), hundredth(p.image_px[1] * ky)] })) };
  });
  toast(`The table file's camera had ${w} × ${h} px; points were scaled to this image's ${picture.width_px} × ${picture.height_px}.`);
}

function movePoint(n, [x, y], group) {
  const { width_px: w, height_px: h } = camera();
  const inside = [Math.min(Math.max(x, -0.09 * w), 1.09 * w), Math.min(Math.max(y, -0.09 * w), h + 0.09 * w)];
  draft.change((data) => { data.camera.points[n].image_px = inside.map(hundredth); }, `${group} ${n}`);
  draw();
  fit();
}

function choose(n) {
  const { points } = camera();
  chosen = points.length ? (n + points.length) % points.length : null;
  draft.endStep();
  draw();
  for (const row of byId("points").children) {
    row.setAttribute("aria-selected", String(Number(row.dataset.row) === chosen));
    if (Number(row.dataset.row) === chosen) row.scrollIntoView({ block: "nearest" });
  }
}

async function addPoint() {
  const mark = marks[byId("mark").value];
  if (!mark || !camera()) return;
  /** @type {[number, number]} */
  let at = [camera().width_px / 2, camera().height_px / 2];
  if (answer && !answer.problem) {
    // Where the fit shows the mark now: the first corner of a small triangle.
    const [x, y] = mark.felt_mm;
    const house = { points_mm: [[x, y], [x + 2, y], [x, y + 2]] };
    const asked = await post("/api/calibration/fit", { camera: cameraToSend(), data: { ...layout(), dealer: { ...draft.data.dealer, house } } });
    at = asked.outlines.find((one) => one.name === "dealer.house")?.points_px[0] ?? at;
  }
  draft.change((data) => { data.camera.points = [...data.camera.points, { felt_mm: [...mark.felt_mm], image_px: at.map(hundredth) }]; });
  redraw();
  choose(camera().points.length - 1);
  stage.goTo(at);
  byId("stage").focus();
}

function dropPoint(n) {
  if (camera().points.length <= 4) {
    toast("Four points are the least.", "bad");
    return;
  }
  draft.change((data) => { data.camera.points = data.camera.points.filter((_, place) => place !== n); });
  chosen = Math.max(0, Math.min(chosen, camera().points.length - 1));
  redraw();
}

// ---- the fit

const LAYOUT = ["felt", "dealer", "seats", "chip_diameter_mm", "chip_thickness_mm"];
const layout = () => Object.fromEntries(LAYOUT.filter((key) => draft.data[key] !== undefined).map((key) => [key, draft.data[key]]));
const cameraToSend = () => Object.fromEntries(Object.entries(camera()).filter(([, value]) => value !== null));
let timer;
let asked = 0;

function fit() {
  clearTimeout(timer);
  const number = ++asked;
  document.body.dataset.fitted = "false";
  timer = setTimeout(async () => {
    try {
      const found = await post("/api/calibration/fit", { camera: cameraToSend(), data: layout(), fit_lens: byId("fit-lens").checked });
      if (number !== asked) return;
      answer = found;
      if (byId("fit-lens").checked) keepLens(found.camera);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (number !== asked) return;
      answer = { problem: error.message, points: [], outlines: [], sights: [], hints: [], rms_px: null };
    }
    draw();
    drawFit();
    drawSights();
    document.body.dataset.fitted = "true";
  }, FIT_AFTER_MS);
}

function keepLens({ k1, k2 }) {
  const same = (camera().k1 ?? null) === k1 && (camera().k2 ?? null) === k2;
  if (same) return;
  draft.change((data) => {
    for (const [key, value] of Object.entries({ k1, k2 })) {
      if (value === null) delete data.camera[key];
      else data.camera[key] = value;
    }
  }, "lens");
}

// ---- drawing

function draw() {
  stage.set({ points: camera()?.points ?? [], outlines: answer?.outlines ?? [], fits: answer?.points ?? [], chosen });
}

function drawFit() {
  const line = (title, value, unit, digits = 2) => html("div", {}, html("dt", {}, title), html("dd", {}, value === null || value === undefined ? "–" : value.toFixed(digits), html("small", {}, ` ${unit}`)));
  byId("fit").replaceChildren(
    line("error, rms", answer.rms_px, "px"), line("largest", answer.max_px, "px"), line("camera height", answer.height_mm === null || answer.height_mm === undefined ? null : answer.height_mm / 1000, answer.focal_known === false ? "m, about" : "m"),
    line("on the felt, rms", answer.rms_mm, "mm"), line("largest", answer.max_mm, "mm"), line("scale", answer.px_per_mm, "px/mm"));
  byId("problem").hidden = !answer.problem;
  byId("problem").textContent = answer.problem ?? "";
  const lens = byId("lens-words");
  if (answer.camera?.k1 || answer.camera?.k2) {
    lens.textContent = `The corner is moved by ${answer.corner_px.toFixed(1)} px (k1 ${answer.camera.k1 ?? 0}${answer.camera.k2 ? `, k2 ${answer.camera.k2}` : ""}); without it the error is ${answer.plain_rms_px?.toFixed(2) ?? "?"} px rms.`;
  } else {
    lens.textContent = !byId("fit-lens").checked ? ""
      : camera().points.length < 8 ? "Eight points or more are needed for it." : "The points show none.";
  }
  answer.points.forEach(({ miss_px, miss_mm }, n) => {
    const cell = byId("points").querySelector(`[data-row="${n}"] .miss-cell`);
    if (!cell) return;
    cell.replaceChildren(`${miss_px.toFixed(1)} px`, html("small", {}, `${miss_mm.toFixed(1)} mm`));
    cell.classList.toggle("bad", miss_px > BAD_PX);
  });
}

// What of each seat can be read from there, of its spots the worst.
function drawSights() {
  const cell = (value, show) => html("td", { class: "num" }, value === null ? "" : show(value));
  const share = (value) => cell(value, (v) => `${Math.round(v * 100)}%`);
  const px = (value) => cell(value, (v) => v.toFixed(1));
  byId("sights").hidden = !answer.sights.length;
  byId("sight-rows").replaceChildren(...answer.sights.map((one) => html("tr", {},
    html("th", { scope: "row" }, one.seat === null ? "dealer" : one.seat), cell(one.off_vertical_deg, (v) => `${Math.round(v)}°`),
    px(one.px_per_chip), share(one.stacks_right), cell(one.hidden_from, (v) => `${v}+`), px(one.px_per_index), share(one.cards_read))));
  byId("hints").replaceChildren(...answer.hints.map((hint) => html("li", {}, hint)));
}

function drawPoints() {
  const { points } = camera();
  const number = (n, axis) => html("input", {
    type: "text", inputmode: "decimal", value: String(Math.round(points[n].felt_mm[axis] * 10) / 10), "aria-label": `Point ${n + 1}: ${"xy"[axis]} on the felt, mm`,
    onchange: (event) => {
      const value = Number(event.target.value);
      const wrong = event.target.value.trim() === "" || !Number.isFinite(value);
      event.target.setAttribute("aria-invalid", String(wrong));
      if (wrong) return;
      draft.change((data) => { data.camera.points[n].felt_mm[axis] = value; });
      redraw();
    },
  });
  byId("points").replaceChildren(...points.map((point, n) => html("tr", {
    "data-row": n, "aria-selected": String(n === chosen), onclick: (event) => { choose(n); if (event.target.matches("td:first-child")) stage.goTo(point.image_px); },
  },
  html("td", {}, `${n + 1}. ${nameOf(marks, point.felt_mm)}`), html("td", { class: "num" }, number(n, 0)), html("td", { class: "num" }, number(n, 1)),
  html("td", { class: "num miss-cell" }), html("td", {}, html("button", { class: "btn btn-quiet", type: "button", "aria-label": `Take point ${n + 1} away`, onclick: (event) => { event.stopPropagation(); dropPoint(n); } }, "✕")))));
  const free = marks.map((mark, n) => ({ mark, n })).filter(({ mark }) => !points.some((point) => isSame(point.felt_mm, mark.felt_mm)));
  byId("mark").replaceChildren(...free.map(({ mark, n }) => html("option", { value: n }, mark.name)));
}

function redraw() {
  if (!camera()) return;
  marks = marksOf(draft.data);
  drawPoints();
  draw();
  fit();
  draft.showState();
}

// ---- the image

function usePicture(next) {
  picture = next;
  fitToPicture();
  stage.show(picture.url, camera().width_px, camera().height_px);
  redraw();
}

const pictures = new PictureChoice(start, { empty: "Choose an image of the empty table: of a camera, a recording or a file.", onPicture: usePicture });

// ---- keys

byId("stage").addEventListener("keydown", (event) => {
  const step = event.shiftKey ? 5 : event.altKey ? 0.05 : 0.5;
  const by = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] }[event.key];
  if (by && camera()?.points[chosen]) {
    event.preventDefault();
    const [x, y] = camera().points[chosen].image_px;
    movePoint(chosen, [x + by[0], y + by[1]], "keys");
  } else if (event.key === "Tab" && camera()) {
    const next = chosen + (event.shiftKey ? -1 : 1);
    if (next >= 0 && next < camera().points.length) { event.preventDefault(); choose(next); }
  } else if (event.key === "Delete") dropPoint(chosen);
});
const save = () => { if (document.activeElement instanceof HTMLInputElement) document.activeElement.blur(); if (!byId("save").disabled) draft.save(byId("restart").checked && !byId("restart").closest("label").hidden); };
byId("save").addEventListener("click", save);
byId("undo").addEventListener("click", () => draft.undo());
byId("add").addEventListener("click", () => attempt(addPoint));
byId("fit-lens").addEventListener("change", () => {
  if (!byId("fit-lens").checked) keepLens({ k1: null, k2: null });
  redraw();
});
keys.add("Calibration", [
  ["Ctrl+s", "save", save, { typing: true }],
  ["Ctrl+z", "undo", () => draft.undo()],
  ["n", "add the chosen mark as a point", () => attempt(addPoint)],
  ["z", "go to the point", () => camera()?.points[chosen] && stage.goTo(camera().points[chosen].image_px)],
  ["0", "show all", () => stage.all()],
  ["+", "nearer", () => stage.zoom(1.5, camera()?.points[chosen]?.image_px ?? [0, 0])],
  ["-", "farther", () => stage.zoom(1 / 1.5, camera()?.points[chosen]?.image_px ?? [0, 0])],
  ["Tab", "in the image: next point"],
  ["Delete", "in the image: take the point away"],
]);

byId("fit-lens").checked = Boolean(camera()?.k1 || camera()?.k2);
pictures.begin();
draft.showState();
document.body.dataset.editor = "ready";
