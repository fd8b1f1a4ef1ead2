// The displays of a table's jackpots and the lamps of its sensors: a person points at them in an
// image, sees what is read there and what speaks against it, and saves.

import { ApiError, post } from "/static/shared/api.js";
import { byId, dollars, html, startValues, wagerName } from "/static/shared/dom.js";
import { Draft } from "/static/tablefiles/draft.js";
import { Pointing } from "/static/laid/pointing.js";

const CORNERS = ["top left", "top right", "bottom right", "bottom left"];
const NEW_DIGITS = 7;

const start = startValues();
const draft = new Draft(start.file, { onShow: show, onFaults: () => {} });
/** @type {any} */
let fresh = null; // a display that has no corners yet, and is in no table file
/** @type {number | null} */
let chosen = null; // place in `displays()`
/** @type {([number, number] | null)[]} */
let corners = [null, null, null, null]; // of the chosen display, px of the image
/** @type {number | null} */
let corner = null; // the one that the next click sets; null: all are set
let isLamp = false; // the next point is a lit lamp
let lampWarnings = [];
/** @type {{key: string, displays: any[], sensors: any[]}} */
let seen = { key: "", displays: [], sensors: [] };

const pointing = new Pointing(start, draft, {
  empty: "Choose an image of the table with its displays and sensors: of a camera, a recording or a file.",
  name: () => (isLamp ? "lit lamp" : chosen === null || corner === null ? null : `${CORNERS[corner]} corner`),
  take: (picture, at) => (isLamp ? takeLamp(picture, at) : takeCorner(picture, at)),
  outlines,
  redraw,
});

const kept = () => draft.data.displays ?? [];
const displays = () => [...kept(), ...(fresh ? [fresh] : [])];
const jackpots = () => Object.keys(draft.data.rules?.paytables ?? {}).filter((wager) => wager.includes("progressive"));
const sameMeter = (one, other) => one.wager === other.wager && (one.level ?? 1) === (other.level ?? 1);
const title = ({ wager, level }) => `${wagerName(wager)}${(level ?? 1) > 1 ? `, level ${level}` : ""}`;
const cameraPx = () => draft.data.camera.width_px / pointing.picture.width_px;
const reading = (one) => seen.displays.find((other) => sameMeter(one, other));

// ---- changing

function choose(place) {
  chosen = place;
  isLamp = false;
  const given = place === null ? null : displays()[place]?.corners_px;
  corners = given && pointing.picture && draft.data.camera
    ? given.map(([x, y]) => [x / cameraPx(), y / cameraPx()]) : [null, null, null, null];
  const open = corners.findIndex((one) => one === null);
  corner = place === null || open < 0 ? null : open;
  redraw();
}

async function takeCorner(picture, at) {
  corners[corner] = at;
  const open = corners.findIndex((one) => one === null);
  if (open >= 0) {
    corner = open;
    return;
  }
  corner = null;
  await put(corners.map(([x, y]) => [x * cameraPx(), y * cameraPx()]), picture);
}

// Give the chosen display its corners, if the server can take them.
async function put(cornersPx, picture) {
  const own = { ...displays()[chosen], corners_px: cornersPx.map((point) => point.map((v) => Math.round(v * 10) / 10)) };
  delete own.corners_mm;
  const next = kept().map((one, place) => (place === chosen ? own : one));
  if (fresh) next.push(own);
  await look(picture, { ...draft.data, displays: next });
  const place = chosen;
  fresh = null;
  draft.change((data) => { data.displays = next; });
  chosen = place;
}

async function takeLamp(picture, at) {
  const field = byId("diameter");
  if (!field.reportValidity() || field.value === "") {
    pointing.refuse("Give the width of the lamp's lens, 8 to 30 mm.");
    return;
  }
  const answer = await post("/api/jackpots/lamp", { picture: picture.id, at_px: at, data: draft.data, diameter_mm: Number(field.value) });
  lampWarnings = answer.warnings;
  isLamp = false;
  draft.change((data) => { data.sensor_lamp = answer.lamp; });
}

function change(place, key, value) {
  if (fresh && place === kept().length) fresh[key] = value;
  else draft.change((data) => { data.displays[place][key] = value; }, `${key} ${place}`);
  redraw();
}

function remove(place) {
  if (fresh && place === kept().length) fresh = null;
  else {
    draft.change((data) => {
      data.displays.splice(place, 1);
      if (!data.displays.length) delete data.displays;
    });
  }
  choose(null);
}

// ---- asking

const lookKey = (picture, data) => JSON.stringify([picture.id, data.displays, data.sensor_lamp, data.camera, data.seats]);

async function look(picture, data) {
  const answer = await post("/api/jackpots/look", { picture: picture.id, data });
  seen = { key: lookKey(picture, data), ...answer };
}

async function lookAgain() {
  const { picture } = pointing;
  if (!picture || !draft.data.camera) return;
  const key = lookKey(picture, draft.data);
  if (key === seen.key) return;
  seen = { ...seen, key };
  try {
    const answer = await post("/api/jackpots/look", { picture: picture.id, data: draft.data });
    if (key !== seen.key) return; // it was changed meanwhile
    seen = { key, ...answer };
    pointing.refuse("");
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    seen = { key, displays: [], sensors: [] };
    pointing.refuse(error.message);
  }
  drawAll();
}

// ---- drawing

function outlines() {
  const picked = corners.filter((one) => one !== null);
  const own = chosen === null ? undefined : displays()[chosen];
  return [
    ...seen.sensors.map(({ seat, shows, points_px }) => (
      { kind: `sensor${shows === "lit" ? " is-lit" : ""}`, points_px, name: `seat ${seat}`, isNamed: false })),
    ...seen.displays.filter((one) => !own || !sameMeter(one, own))
      .map(({ picked_px }) => ({ kind: "picked", points_px: picked_px, name: "", isNamed: false })),
    ...(chosen !== null && picked.length > 1 ? [{ kind: "picked", points_px: picked, name: "picked", isNamed: false }] : []),
    ...seen.displays.filter(({ found_px }) => found_px)
      .map((one) => ({ kind: "found", points_px: one.found_px, name: title(one), isNamed: true })),
  ];
}

function numberField(place, key, words, { min, max, value }) {
  const field = html("input", { type: "number", min, max, step: 1, value, name: `${key} ${place}` });
  field.addEventListener("change", () => { if (field.reportValidity() && field.value !== "") change(place, key, Number(field.value)); });
  return html("label", { class: "field field-inline" }, html("span", {}, words), field);
}

function decimalsField(place, value) {
  const field = html("select", { name: `decimals ${place}` },
    ...[[2, "cents (2)"], [0, "dollars (0)"]].map(([n, words]) => html("option", { value: String(n), selected: n === value }, String(words))));
  field.addEventListener("change", () => change(place, "decimals", Number(field.value)));
  return html("label", { class: "field field-inline" }, html("span", {}, "after the point"), field);
}

function button(words, act, extra = {}) {
  const made = html("button", { class: "btn", type: "button", ...extra }, words);
  made.addEventListener("click", act);
  return made;
}

function readText(read, isFresh) {
  if (isFresh) return [html("p", { class: "muted" }, "Click on its four corners.")];
  if (!read) return [];
  return [
    html("p", { class: "digits" }, `[${read.shown}]`),
    html("p", {}, read.cents === null ? `undecided: ${read.why}` : `${dollars(read.cents)}, probability ${read.probability.toFixed(3)}`),
    html("p", { class: "muted" }, `digits ${read.digit_px.toFixed(1)} px high`),
    ...(read.warnings.length ? [html("ul", { class: "warnings" }, ...read.warnings.map((words) => html("li", {}, words)))] : []),
  ];
}

function displayItem(one, place) {
  const isFresh = Boolean(fresh) && place === kept().length;
  const read = reading(one);
  const isChosen = place === chosen;
  return html("li", { "aria-current": String(isChosen) },
    html("div", { class: "row" }, html("strong", {}, title(one)), html("span", { class: "gap" }),
      button(isChosen ? "Chosen" : "Choose", () => choose(place), { "aria-pressed": String(isChosen) }),
      button("Remove", () => remove(place))),
    html("div", { class: "row" },
      numberField(place, "digits", "digits", { min: 3, max: 10, value: one.digits }), decimalsField(place, one.decimals ?? 2)),
    ...readText(read, isFresh),
    ...(isChosen ? [html("div", { class: "row" },
      ...CORNERS.map((words, n) => button(`${n + 1} ${words}`, () => { corner = n; pointing.draw(); drawAll(); }, { "aria-pressed": String(n === corner) })),
      ...(read?.found_corners_px ? [button("Take the green corners", () => takeFound(read.found_corners_px), { id: "take-found" })] : []))] : []));
}

async function takeFound(cornersPx) {
  const { picture } = pointing;
  if (!picture) return;
  pointing.refuse("");
  try {
    await put(cornersPx, picture);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    pointing.refuse(error.message);
  }
  choose(chosen);
}

function drawLamps() {
  const lamp = draft.data.sensor_lamp;
  byId("lamp-state").dataset.state = lamp ? "ok" : "warn";
  byId("lamp-state").textContent = lamp ? `${lamp.diameter_mm} mm${lamp.rgb ? "" : ", any colour"}` : "none declared";
  byId("forget-lamp").disabled = !lamp;
  byId("point-lamp").setAttribute("aria-pressed", String(isLamp));
  byId("point-lamp").disabled = !seen.sensors.length;
  byId("lamp-warnings").hidden = !lamp || !lampWarnings.length;
  byId("lamp-warnings").replaceChildren(...lampWarnings.map((words) => html("li", {}, words)));
  byId("sensors").replaceChildren(...seen.sensors.map(({ seat, wager, shows, lit }) => html("li", {},
    html("span", {}, `seat ${seat}, ${wagerName(wager)}`),
    html("span", { class: shows === "lit" ? "is-lit" : "muted" }, shows === "not sure" ? `not sure (${Math.round(lit * 100)}% lit)` : shows))));
}

function drawAll() {
  byId("displays").replaceChildren(...displays().map(displayItem));
  byId("add").disabled = Boolean(fresh) || !jackpots().length;
  byId("no-jackpot").hidden = jackpots().length > 0;
  byId("next").textContent = isLamp ? "Click on a lamp that is lit."
    : chosen === null ? "Choose a display, or add one."
      : corner === null ? "All corners are set; choose one to set it again."
        : `Next: the ${CORNERS[corner]} corner of its row of digits.`;
  drawLamps();
  pointing.draw();
  draft.showState();
}

function redraw() {
  drawAll();
  lookAgain();
}

// After a step back: what was chosen may be gone.
function show() {
  if (chosen !== null && chosen >= displays().length) chosen = null;
  choose(chosen);
}

// ---- the page

function add() {
  const own = { wager: byId("new-wager").value, level: Number(byId("new-level").value) || 1, digits: NEW_DIGITS, decimals: 2 };
  if (kept().some((one) => sameMeter(one, own))) {
    pointing.refuse(`${title(own)} has a display already: choose it and click on its corners.`);
    return;
  }
  pointing.refuse("");
  fresh = own;
  choose(kept().length);
}

function pointAtLamp() {
  isLamp = !isLamp;
  drawAll();
}

byId("new-wager").replaceChildren(...jackpots().map((wager) => html("option", { value: wager }, wagerName(wager))));
byId("add").addEventListener("click", add);
byId("point-lamp").addEventListener("click", pointAtLamp);
byId("forget-lamp").addEventListener("click", () => {
  lampWarnings = [];
  draft.change((data) => { delete data.sensor_lamp; });
  redraw();
});
if (draft.data.sensor_lamp) byId("diameter").value = String(draft.data.sensor_lamp.diameter_mm);
pointing.addKeys("Jackpots", [
  ...CORNERS.map((words, n) => [String(n + 1), `set the ${words} corner next`, () => { corner = n; drawAll(); }]),
  ["l", "point at a lit lamp", pointAtLamp],
]);
pointing.begin();
