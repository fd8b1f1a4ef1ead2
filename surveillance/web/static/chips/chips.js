// Samples of a table's chips: a person points at each laid-out stack in an image, and saves.

import { attempt, post } from "/static/shared/api.js";
import { byId, dollars, html, startValues } from "/static/shared/dom.js";
import { Draft } from "/static/tablefiles/draft.js";
import { Pointing } from "/static/laid/pointing.js";
import { face, fill } from "/static/chips/swatch.js";

const start = startValues();
const draft = new Draft(start.file, { onShow: () => { askPairs(); redraw(); }, onFaults: () => {} });
const taken = new Map(); // by chip: the server's answer, and the image it was taken in
let { pairs } = start;
const names = () => Object.keys(draft.data.chips ?? {}).sort((a, b) => draft.data.chips[a].value_cents - draft.data.chips[b].value_cents);
let chosen = names().find((name) => !draft.data.chips[name].side_png) ?? names()[0];

const pointing = new Pointing(start, draft, {
  empty: "Choose an image of the table with its stacks laid out: of a camera, a recording or a file.",
  name: () => chosen,
  take,
  outlines: (picture) => [...taken].filter(([name, own]) => sampleOf(name) && own.picture === picture.id)
    .map(([name, own]) => ({ kind: `laid stack${name === chosen ? " is-chosen" : ""}`, points_px: own.outline_px, name, isNamed: true })),
  redraw,
});

// ---- taking samples

// What was taken in this page and not undone since.
const sampleOf = (name) => {
  const own = taken.get(name);
  return own && own.side_png === draft.data.chips[name]?.side_png ? own : null;
};

const reads = (own) => `${own.counted} of ${own.laid} chips counted, ${own.read_cents === null ? "reads as nothing" : `reads as ${dollars(own.read_cents)} (${(own.read_probability * 100).toFixed(1)}%)`}`;

async function take(picture, at) {
  const laid = byId("laid");
  if (!laid.reportValidity()) return;
  const name = chosen;
  const answer = await post("/api/chips/sample", { picture: picture.id, at_px: at, chip: name, laid: Number(laid.value), data: draft.data });
  const { rgb, face_rgb, side_png, face_png, face_centred } = answer;
  taken.set(name, { ...answer, laid: Number(laid.value), picture: picture.id });
  pairs = answer.pairs;
  draft.change((data) => { data.chips[name] = { ...data.chips[name], rgb, face_rgb, side_png, face_png, face_centred }; });
  const toCheck = warningsOf(name).length;
  byId("taken").textContent = `${name}: sampled, ${reads(taken.get(name))}${toCheck ? `; ${toCheck} to check below` : ""}.`;
  if (!toCheck) chosen = names().find((other) => !draft.data.chips[other].side_png) ?? name;
}

async function askPairs() {
  pairs = (await attempt(() => post("/api/chips/pairs", { data: draft.data }))) ?? pairs;
  redraw();
}

function choose(name) {
  chosen = name;
  pointing.refuse("");
  redraw();
}

function next(by = 1) {
  const all = names();
  choose(all[(all.indexOf(chosen) + by + all.length) % all.length]);
}

// ---- drawing

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
  const canvas = html("canvas", { "aria-hidden": "true", width: 24, height: 12 });
  fill(canvas, chip);
  return html("div", { class: "chip-row", role: "option", id: `chip-${n}`, "data-chip": name, "aria-selected": String(name === chosen), onclick: () => choose(name) },
    html("span", {}, face(chip)), canvas,
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
    html("div", { class: "sample-big" }, canvas, face(chip, "sample-face")),
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
  pointing.draw();
  draft.showState();
}

// ---- keys

byId("chips").addEventListener("keydown", (event) => {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!by) return;
  event.preventDefault();
  next(by);
});
pointing.addKeys("Chips", [
  ["n", "next chip", () => next()],
  ["Shift+n", "chip before", () => next(-1)],
  ...names().slice(0, 9).map((name, n) => [String(n + 1), name, () => choose(names()[n]), { quiet: n > 0 }]),
]);
pointing.begin();
