// A sample of the banker's button or dice cup: a person points at it in an image, looks at what
// was cut out and where it may lie, and saves.

import { attempt, post } from "/static/shared/api.js";
import { byId, html, startValues } from "/static/shared/dom.js";
import { bitmap } from "/static/laid/bitmap.js";
import { Draft } from "/static/tablefiles/draft.js";
import { Pointing } from "/static/laid/pointing.js";

const start = startValues();
const draft = new Draft(start.file, { onShow: redraw, onFaults: () => {} });
let taken = null; // the server's answer, and the image it was taken in
let places = { key: "", drawn: [] }; // where the marker may lie, of one image and table

const pointing = new Pointing(start, draft, {
  empty: "Choose an image of the table with its button or cup laid out: of a camera, a recording or a file.",
  name: () => "marker",
  take,
  outlines: (picture) => [
    ...places.drawn.map(({ name, points_px }) => ({ kind: "place", points_px, name, isNamed: true })),
    ...(sampled() && taken.picture === picture.id
      ? [{ kind: "laid is-chosen", points_px: taken.outline_px, name: "marker", isNamed: false }] : []),
  ],
  redraw,
});

const marker = () => draft.data.banker_marker;
// What was taken in this page and not undone since.
const sampled = () => Boolean(taken) && taken.marker.sample_png === marker()?.sample_png;

// A size that a person typed; the field's own check speaks where it is none.
function size(id) {
  const field = byId(id);
  return field.reportValidity() && field.value !== "" ? Number(field.value) : null;
}

async function take(picture, at) {
  const [diameter, height] = [size("diameter"), size("height")];
  if (diameter === null || height === null) {
    pointing.refuse("Give the marker's diameter (30 to 120 mm) and height (0 to 150 mm).");
    return;
  }
  const answer = await post("/api/banker/marker", { picture: picture.id, at_px: at, data: draft.data, diameter_mm: diameter, height_mm: height });
  taken = { ...answer, picture: picture.id };
  draft.change((data) => { data.banker_marker = { ...data.banker_marker, ...answer.marker }; });
  byId("taken").textContent = `Sampled${answer.place ? ` at ${answer.place}` : ""}. Check that it is the marker, then save.`;
}

// ---- drawing

async function drawSample() {
  const png = marker()?.sample_png;
  const own = sampled();
  byId("warnings").hidden = !own || !taken.warnings.length;
  byId("warnings").replaceChildren(...(own ? taken.warnings.map((words) => html("li", {}, words)) : []));
  byId("forget").disabled = !png;
  const [state, words] = own ? [taken.warnings.length ? "bad" : "ok", "sampled now"] : png ? ["ok", "sampled before"] : ["warn", "no sample yet"];
  byId("marker-state").dataset.state = state;
  byId("marker-state").textContent = words;
  if (!own) byId("taken").textContent = "";
  const image = png ? await attempt(() => bitmap(png)) : null;
  if (png !== marker()?.sample_png) return; // it was changed meanwhile
  if (!image) {
    byId("sample").replaceChildren();
    return;
  }
  const canvas = html("canvas", { width: image.width, height: image.height, role: "img", "aria-label": "The marker's upper face from above, as it is looked for" });
  canvas.getContext("2d").drawImage(image, 0, 0);
  byId("sample").replaceChildren(html("figure", {}, canvas,
    html("figcaption", {}, `${marker().diameter_mm} mm wide, ${marker().height_mm} mm high`)));
}

// The places change with the image and with what the table file says of them.
async function drawPlaces() {
  const { picture } = pointing;
  const { seats, house, reach_mm } = marker() ?? {};
  const key = JSON.stringify([picture?.id, seats, house, reach_mm]);
  if (!picture || !draft.data.camera || key === places.key) return;
  places = { key, drawn: [] };
  const drawn = await attempt(() => post("/api/banker/places", { picture: picture.id, data: draft.data }));
  if (key !== places.key) return; // it was changed meanwhile
  places = { key, drawn: drawn ?? [] };
  pointing.draw();
}

function redraw() {
  drawSample();
  drawPlaces();
  pointing.draw();
  draft.showState();
}

byId("forget").addEventListener("click", () => {
  draft.change((data) => { delete data.banker_marker; });
  redraw();
});
for (const [id, key] of [["diameter", "diameter_mm"], ["height", "height_mm"]]) {
  if (marker()) byId(id).value = String(marker()[key]);
}
pointing.addKeys("Banker's marker");
pointing.begin();
