// Samples of a table's own cards. Joker: a person points at the card in an image, looks at what was
// cut out, and saves. Deck: all cards that lie spread in the image are taken and named over it.

import { attempt, post } from "/static/shared/api.js";
import { byId, html, startValues } from "/static/shared/dom.js";
import { bitmap } from "/static/laid/bitmap.js";
import { Draft } from "/static/tablefiles/draft.js";
import { Pointing } from "/static/laid/pointing.js";

const END_PX = 26; // the width of an end in the sample
const start = startValues();
const draft = new Draft(start.file, { onShow: redraw, onFaults: () => {} });
let taken = null; // the server's answer, and the image it was taken in
let deck = null; // likewise, of the deck

const pointing = new Pointing(start, draft, {
  empty: "Choose an image of the table with its joker laid out: of a camera, a recording or a file.",
  name: () => "joker",
  take,
  outlines: (picture) => [
    ...(sampled() && taken.picture === picture.id
      ? [{ kind: "laid is-chosen", points_px: taken.outline_px, name: "joker", isNamed: true }] : []),
    ...(deckSampled() && deck.picture === picture.id
      ? deck.cards.map((card) => ({ kind: "laid is-chosen", points_px: card.outline_px, name: card.label, isNamed: true })) : []),
  ],
  redraw,
});

// What was taken in this page and not undone since.
const sampled = () => Boolean(taken) && taken.joker_png === draft.data.joker_png;

const deckSampled = () => Boolean(deck) && deck.deck_jpeg === draft.data.deck_jpeg;

async function takeDeck(picture) {
  const rows = byId("deck-rows").value.trim() || null;
  const answer = await post("/api/cards/deck", { picture: picture.id, data: draft.data, rows });
  deck = { ...answer, picture: picture.id };
  draft.change((data) => { data.deck_jpeg = answer.deck_jpeg; });
  lookAt(answer.cards.flatMap((card) => card.outline_px));
  byId("deck-taken").textContent = `Sampled: ${answer.cards.length} of 53 cards. Check the names over the image, then save.`;
}

async function take(picture, at) {
  const answer = await post("/api/cards/joker", { picture: picture.id, at_px: at, data: draft.data });
  taken = { ...answer, picture: picture.id };
  draft.change((data) => { data.joker_png = answer.joker_png; });
  byId("taken").textContent = `Sampled: ${answer.ends === 2 ? "both ends show a mark" : "one end shows a mark"}. Check that it is the joker, then save.`;
}

// Look at the points (px of the image) from so near that their names can be read.
function lookAt(points) {
  const [[left, right], [top, bottom]] = [0, 1].map((axis) => {
    const all = points.map((point) => point[axis]);
    return [Math.min(...all), Math.max(...all)];
  });
  pointing.stage.goTo([(left + right) / 2, (top + bottom) / 2], (right - left) * 1.3);
}

// ---- drawing

function drawDeck() {
  const own = deckSampled();
  const png = draft.data.deck_jpeg;
  byId("deck-warnings").hidden = !own || !deck.warnings.length;
  byId("deck-warnings").replaceChildren(...(own ? deck.warnings.map((words) => html("li", {}, words)) : []));
  byId("forget-deck").disabled = !png;
  const [state, words] = own ? [deck.warnings.length ? "bad" : "ok", "sampled now"] : png ? ["ok", "sampled before"] : ["warn", "no samples yet"];
  byId("deck-state").dataset.state = state;
  byId("deck-state").textContent = words;
  if (!own) byId("deck-taken").textContent = "";
}

// A part of an image from `left` on, for the eye.
function shown(image, left, width, label, name = "") {
  const canvas = html("canvas", { class: name, width, height: image.height, role: "img", "aria-label": label });
  canvas.getContext("2d").drawImage(image, -left, 0);
  return canvas;
}

async function drawEnds(png) {
  const image = await bitmap(png);
  return Array.from({ length: image.width / END_PX }, (_, n) => (
    shown(image, n * END_PX, END_PX, `End ${n + 1} of the joker, as it is looked for`)));
}

async function drawCard({ card_png, card_mm }) {
  const image = await bitmap(card_png);
  return html("figure", {}, shown(image, 0, image.width, "The card as it was cut out, upright", "card"),
    html("figcaption", {}, `${card_mm.map((mm) => mm.toFixed(0)).join(" × ")} mm`));
}

async function drawSample() {
  const png = draft.data.joker_png;
  const own = sampled();
  byId("warnings").hidden = !own || !taken.warnings.length;
  byId("warnings").replaceChildren(...(own ? taken.warnings.map((words) => html("li", {}, words)) : []));
  byId("forget").disabled = !png;
  const [state, words] = own ? [taken.warnings.length ? "bad" : "ok", "sampled now"] : png ? ["ok", "sampled before"] : ["warn", "no sample yet"];
  byId("joker-state").dataset.state = state;
  byId("joker-state").textContent = words;
  if (!own) byId("taken").textContent = "";
  const card = own ? await attempt(() => drawCard(taken)) : null;
  const ends = png ? await attempt(() => drawEnds(png)) : null;
  if (png !== draft.data.joker_png) return; // it was changed meanwhile
  byId("sample").replaceChildren(
    ...[card].filter(Boolean),
    ...(ends ? [html("figure", {}, html("div", { class: "marks" }, ...ends),
      html("figcaption", {}, "its left edge, looked for in hands"))] : []));
}

function redraw() {
  drawSample();
  drawDeck();
  pointing.draw();
  draft.showState();
}

byId("forget").addEventListener("click", () => {
  draft.change((data) => { delete data.joker_png; });
  redraw();
});
byId("forget-deck").addEventListener("click", () => {
  draft.change((data) => { delete data.deck_jpeg; });
  redraw();
});
const sampleDeck = () => pointing.ask("deck", takeDeck);
byId("take-deck").addEventListener("click", sampleDeck);
pointing.addKeys("Cards", [["d", "sample the deck in this image", sampleDeck]]);
pointing.begin();
