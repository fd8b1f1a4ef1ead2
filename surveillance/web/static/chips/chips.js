// Samples of a table's chips: a person points at each laid-out stack in a picture, and saves.

import { ApiError, attempt, post } from "/static/shared/api.js";
import { byId, dollars, html, startValues } from "/static/shared/dom.js";
import { keys } from "/static/shared/keys.js";
import { Draft } from "/static/tablefiles/draft.js";
import { PictureChoice } from "/static/calibration/pictures.js";
import { Stage } from "/static/calibration/stage.js";
import { circle, fill } from "/static/chips/swatch.js";

const STEP_PX = 4; // of the window
const start = startValues();
const draft = new Draft(start.file, { onShow: () => { askPairs(); redraw(); }, onFaults: () => {} });
const taken = new Map(); // by chip: the server's answer, and the picture it was taken in
let { pairs } = start;
/** @type {[number, number]} */
let cross = [0, 0];
let busy = false;
const names = () => Object.keys(draft.data.chips ?? {}).sort((a, b) => draft.data.chips[a].value_cents - draft.data.chips[b].value_cents);
let chosen = names().find((name) => !draft.data.chips[name].side_png) ?? names()[0];

const stage = new Stage({ stage: byId("stage"), canvas: byId("canvas"), lens: byId("lens"), magnifier: byId("magnifier") }, {
  onChoose: () => {},
  onMove: (_, at) => moveCross(at),
  onEnd: () => {},
  onPick: (at) => { moveCross(at); take(); },
});

// ---- taking samples

// What was taken in this page and not undone since.
const sampleOf = (name) => {
  const own = taken.get(name);
  return own && own.side_png === draft.data.chips[name]?.side_png ? own : null;
};
const shownMarks = () => [...taken].filter(([name, own]) => sampleOf(name) && own.picture === pictures.picture?.id);

const reads = (own) => `${own.counted} of ${own.laid} chips counted, ${own.read_cents === null ? "reads as nothing" : `reads as ${dollars(own.read_cents)} (${(own.read_probability * 100).toFixed(1)}%)`}`;

async function take() {
  const { picture } = pictures;
  if (!picture || busy || !chosen) return;
  const laid = byId("laid");
  if (!laid.reportValidity()) return;
  const [name, at] = [chosen, [...cross]];
  busy = true;
  document.body.dataset.sampling = "true";
  byId("refused").hidden = true;
  try {
    const answer = await post("/api/chips/sample", { picture: picture.id, at_px: at, chip: name, laid: Number(laid.value), data: draft.data });
    const { rgb, face_rgb, side_png } = answer;
    taken.set(name, { ...answer, laid: Number(laid.value), picture: picture.id });
    pairs = answer.pairs;
    draft.change((data) => { data.chips[name] = { ...data.chips[name], rgb, face_rgb, side_png }; });
    const toCheck = warningsOf(name).length;
    byId("taken").textContent = `${name}: sampled, ${reads(taken.get(name))}${toCheck ? `; ${toCheck} to check below` : ""}.`;
    if (!toCheck) chosen = names().find((other) => !draft.data.chips[other].side_png) ?? name;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    byId("refused").textContent = `${name}: ${error.message}`;
    byId("refused").hidden = false;
  } finally {
    busy = false;
    document.body.dataset.sampling = "false";
  }
  redraw();
}

async function askPairs() {
  pairs = (await attempt(() => post("/api/chips/pairs", { data: draft.data }))) ?? pairs;
  redraw();
}

function moveCross([x, y]) {
  const { width_px: w, height_px: h } = pictures.picture;
  cross = [Math.min(Math.max(x, 0), w), Math.min(Math.max(y, 0), h)];
  draw();
}

function choose(name) {
  chosen = name;
  byId("refused").hidden = true;
  redraw();
}

function next(by = 1) {
  const all = names();
  choose(all[(all.indexOf(chosen) + by + all.length) % all.length]);
}

// ---- drawing

function draw() {
  const marks = shownMarks();
  stage.set({
    points: [{ image_px: cross, name: `${chosen ?? ""}?` }],
    outlines: marks.map(([name, own]) => ({ kind: `stack${name === chosen ? " is-chosen" : ""}`, points_px: own.outline_px, name, isNamed: true })),
    fits: [], chosen: 0,
  });
}

const ofChip = (name) => pairs.filter(({ one, other }) => name === one || name === other);
const otherOf = (pair, name) => (pair.one === name ? pair.other : pair.one);

function warningsOf(name) {
  const own = sampleOf(name);
  const alike = ofChip(name).map(({ warning }) => warning).filter(Boolean);
  return [...(own?.warnings ?? []), ...alike];
}

function row(name, n) {
  const chip = draft.data.chips[name];
  const [nearest] = ofChip(name);
  const state = sampleOf(name) ? "sampled now" : chip.side_png ? "sampled before" : "no sample yet";
  const face = html("span", {}, circle(chip.face_rgb ?? chip.rgb));
  const canvas = html("canvas", { "aria-hidden": "true", width: 24, height: 12 });
  fill(canvas, chip);
  return html("div", { class: "chip-row", role: "option", id: `chip-${n}`, "data-chip": name, "aria-selected": String(name === chosen), onclick: () => choose(name) },
    face, canvas,
    html("span", {}, html("strong", {}, `${n + 1}. ${name} `, html("small", {}, dollars(chip.value_cents))),
      html("small", {}, nearest ? `${state}; nearest: ${otherOf(nearest, name)}, ${nearest.difference.toFixed(0)}` : state)),
    html("span", { class: "badge", "data-state": warningsOf(name).length ? "bad" : sampleOf(name) ? "ok" : "warn" }, warningsOf(name).length ? "check" : chip.side_png ? "sampled" : "to do"),
    ...warningsOf(name).map((words) => html("span", { class: "chip-warning" }, words)));
}

function drawSample() {
  const chip = draft.data.chips?.[chosen];
  byId("sample").hidden = !chip;
  if (!chip) return;
  const own = sampleOf(chosen);
  const canvas = html("canvas", { width: 24, height: 12, role: "img", "aria-label": `Side of ${chosen}, unrolled` });
  fill(canvas, chip);
  const fact = (title, words) => [html("dt", {}, title), html("dd", {}, words)];
  const rgb = (colour) => (colour ? colour.join(", ") : "–");
  byId("sample").replaceChildren(
    html("h2", {}, `Sample of ${chosen}`),
    html("div", { class: "sample-big" }, canvas, circle(chip.face_rgb ?? chip.rgb, "sample-face")),
    html("dl", { class: "sample-facts" },
      ...fact("side", rgb(chip.rgb)), ...fact("face", rgb(chip.face_rgb)),
      ...(own ? [
        ...fact("stack", reads(own)), ...fact("from the felt", own.felt_difference.toFixed(0)),
      ] : [])),
    html("table", { class: "apart" }, html("caption", { class: "muted" }, "How far its side differs from the others (under 20 they are confused)"),
      html("tbody", {}, ...ofChip(chosen).map((pair) => html("tr", {}, html("th", { scope: "row" }, otherOf(pair, chosen)),
        html("td", {}, html("meter", { min: 0, max: 100, low: 20, high: 20, optimum: 100, value: Math.min(pair.difference, 100), "aria-label": `${chosen} and ${otherOf(pair, chosen)}` })),
        html("td", { class: `num${pair.warning ? " is-alike" : ""}` }, pair.difference.toFixed(0)))))));
}

function redraw() {
  const focused = document.activeElement === byId("chips");
  byId("chips").replaceChildren(...names().map(row));
  byId("chips").setAttribute("aria-activedescendant", `chip-${names().indexOf(chosen)}`);
  if (focused) byId("chips").focus();
  drawSample();
  if (pictures.picture) draw();
  draft.tell();
}

// ---- the picture

const pictures = new PictureChoice(start, {
  empty: "Choose a picture of the table with its stacks laid out: of a camera, a recording or a file.",
  onPicture: (picture) => {
    cross = [picture.width_px / 2, picture.height_px / 2];
    stage.show(picture.url, picture.width_px, picture.height_px);
    redraw();
  },
});

// ---- keys

byId("stage").addEventListener("keydown", (event) => {
  if (!pictures.picture) return;
  const step = STEP_PX * stage.scale * (event.shiftKey ? 10 : event.altKey ? 0.25 : 1);
  const by = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] }[event.key];
  if (by) {
    event.preventDefault();
    moveCross([cross[0] + by[0], cross[1] + by[1]]);
  } else if (event.key === "Enter") {
    event.preventDefault();
    take();
  }
});
byId("chips").addEventListener("keydown", (event) => {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!by) return;
  event.preventDefault();
  next(by);
});
const save = () => { if (!byId("save").disabled) draft.save(byId("restart").checked && !byId("restart").closest("label").hidden); };
byId("save").addEventListener("click", save);
byId("undo").addEventListener("click", () => draft.undo());
keys.add("Chips", [
  ["Ctrl+s", "save", save, { typing: true }],
  ["Ctrl+z", "undo", () => draft.undo()],
  ["n", "next chip", () => next()],
  ["Shift+n", "chip before", () => next(-1)],
  ...names().slice(0, 9).map((name, n) => [String(n + 1), name, () => choose(names()[n]), { quiet: n > 0 }]),
  ["Enter", "in the picture: take the sample at the cross"],
  ["z", "go to the cross", () => pictures.picture && stage.goTo(cross)],
  ["0", "show all", () => pictures.picture && stage.all()],
  ["+", "nearer", () => pictures.picture && stage.zoom(1.5, cross)],
  ["-", "farther", () => pictures.picture && stage.zoom(1 / 1.5, cross)],
]);

pictures.begin();
redraw();
if (!draft.data.camera) {
  byId("refused").textContent = "The camera is not calibrated yet: calibrate it, then take samples.";
  byId("refused").hidden = false;
}
document.body.dataset.editor = "ready";
