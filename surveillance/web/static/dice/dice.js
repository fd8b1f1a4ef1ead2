// Where a table's dice lie open: a person points at the middle of their tray in an image, sees what
// is read there, and saves.

import { ApiError, post } from "/static/shared/api.js";
import { byId, startValues } from "/static/shared/dom.js";
import { Draft } from "/static/tablefiles/draft.js";
import { Pointing } from "/static/laid/pointing.js";

const SIZES = ["count", "die_mm", "radius_mm", "height_mm"];

const start = startValues();
const draft = new Draft(start.file, { onShow: show, onFaults: () => {} });
/** @type {{key: string, answer: any}} */
let seen = { key: "", answer: null };

const pointing = new Pointing(start, draft, {
  empty: "Choose an image of the table with its dice laid open: of a camera, a recording or a file.",
  name: () => "dice",
  take,
  outlines: (picture) => {
    const { answer } = seen;
    if (!answer || seen.key !== lookKey(picture, draft.data)) return [];
    return [
      { kind: "laid is-chosen", points_px: answer.outline_px, name: "dice", isNamed: false },
      ...answer.seen.map(({ value, at_px }) => ({ kind: "laid", points_px: about(at_px), name: `${value}`, isNamed: true })),
    ];
  },
  redraw,
});

const dice = () => draft.data.dice;
const lookKey = (picture, data) => JSON.stringify([picture.id, data.dice, data.camera]);

// A small square about a die that was read.
function about([x, y]) {
  const off = 6 * pointing.stage.scale;
  return [[x - off, y - off], [x + off, y - off], [x + off, y + off], [x - off, y + off]];
}

// The sizes in the fields; null where one is none, which the field itself says.
function sizes() {
  const fields = SIZES.map((id) => byId(id));
  if (!fields.every((field) => field.reportValidity() && field.value !== "")) return null;
  return Object.fromEntries(SIZES.map((id) => [id, Number(byId(id).value)]));
}

async function take(picture, at) {
  const given = sizes();
  if (!given) {
    pointing.refuse("Give the number of dice (2 to 4), their side (12 to 25 mm), and radius (30 to 100 mm) and height (0 to 60 mm) of their place.");
    return;
  }
  const own = { ...dice(), ...given, counted_from: byId("counted_from").value };
  const answer = await post("/api/dice/look", { picture: picture.id, data: { ...draft.data, dice: own }, at_px: at });
  draft.change((data) => { data.dice = answer.dice; });
  seen = { key: lookKey(picture, draft.data), answer };
}

// Look again where the dice are known: the image or a size has changed.
async function lookAgain() {
  const { picture } = pointing;
  if (!picture || !draft.data.camera || !dice()) return;
  const key = lookKey(picture, draft.data);
  if (key === seen.key) return;
  seen = { key, answer: null };
  try {
    const answer = await post("/api/dice/look", { picture: picture.id, data: draft.data });
    if (key !== seen.key) return; // it was changed meanwhile
    seen = { key, answer };
    pointing.refuse("");
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (key === seen.key) pointing.refuse(`dice: ${error.message}`);
  }
  draw();
}

// ---- drawing

function draw() {
  const own = dice();
  const answer = own && pointing.picture && seen.key === lookKey(pointing.picture, draft.data) ? seen.answer : null;
  const [state, words] = !own ? ["warn", "no dice yet"] : !answer ? ["ok", "in the table file"]
    : answer.total === null ? ["bad", "not read here"] : ["ok", "read here"];
  byId("dice-state").dataset.state = state;
  byId("dice-state").textContent = words;
  byId("forget").disabled = !own;
  byId("seen").hidden = !answer;
  if (answer) {
    byId("total").textContent = answer.total ?? "?";
    const values = answer.seen.map(({ value }) => value).join(", ");
    byId("faces").textContent = answer.total === null ? values : `= ${answer.seen.map(({ value }) => value).join(" + ")} (${Math.floor(100 * answer.probability)}%)`;
    byId("why").textContent = answer.why ?? "";
    byId("why").hidden = byId("why-title").hidden = answer.why === null;
    const seats = (draft.data.seats ?? []).map(({ seat }) => seat).sort((a, b) => a - b);
    byId("order").textContent = (own.positions ?? ["dealer", ...seats]).map((one, k) => `${k + 1} ${one === "dealer" ? "dealer" : `seat ${one}`}`).join(", ")
      + (own.counted_from === "banker" ? "; turned so that who banks is 1" : "");
  }
  pointing.draw();
}

function redraw() {
  draw();
  lookAgain();
  draft.showState();
}

// The table file was changed here, undone or loaded: the fields follow it.
function show() {
  const own = dice();
  if (own) for (const id of SIZES) if (own[id] !== undefined && document.activeElement !== byId(id)) byId(id).value = String(own[id]);
  byId("counted_from").value = own?.counted_from ?? "dealer";
  redraw();
}

for (const id of SIZES) {
  byId(id).addEventListener("change", () => {
    const given = dice() ? sizes() : null;
    if (!given) return;
    draft.change((data) => { data.dice = { ...data.dice, ...given }; }, id);
    redraw();
  });
}
byId("counted_from").addEventListener("change", () => {
  const from = byId("counted_from").value;
  if (!dice()) return;
  draft.change((data) => { data.dice.counted_from = from; });
  redraw();
});
byId("forget").addEventListener("click", () => {
  draft.change((data) => { delete data.dice; });
  redraw();
});
pointing.addKeys("Dice");
pointing.begin();
show();
