// The shapes of a felt: where they stand in the data, moved, scaled, made.

import { wagerName } from "/static/shared/dom.js";

const CIRCLE_CORNERS = 16;
const SPOT_RADIUS_MM = 27;
// In a seat's own frame, as on the usual felt.
const SPOT_PLACES = {
  pai_gow_insurance: [-98, -113], ace_high_pai_gow_insurance: [0, -115], emperors_treasure: [98, -113],
  main: [0, -40], pai_gow_insurance_progressive: [-49, -78], emperors_treasure_progressive: [49, -78],
  imperial_side_bet: [98, -113],
};
const DEALER = { low: "low hand", high: "high hand", tray: "tray", rack: "rack", house: "house wager" };
const tenth = (value) => Math.round(value * 10) / 10;

/**
 * @typedef {{ points_mm: [number, number][] }} Shape Points on the felt.
 * @typedef {object} ShapeLine
 * @property {string} key Its place in the data, as in "seats.0.low".
 * @property {string} name
 * @property {string} kind "spot", "box", "tray" or "rack"
 * @property {string} group "Dealer" or "Seat N"
 * @property {number} [seat] Where its seat stands in the data's list.
 * @property {string} [wager] The wager of a spot.
 * @property {any} shape
 */

/** Every shape of a table file's data.
 * @returns {ShapeLine[]}
 */
export function shapesOf(data) {
  const found = [];
  for (const [name, words] of Object.entries(DEALER)) {
    const shape = data.dealer?.[name];
    if (shape) found.push({ key: `dealer.${name}`, name: words, kind: { tray: "tray", rack: "rack", house: "spot" }[name] ?? "box", group: "Dealer", shape });
  }
  (data.seats ?? []).forEach((seat, place) => {
    const group = `Seat ${seat.seat}`;
    for (const box of ["low", "high"]) {
      if (seat[box]) found.push({ key: `seats.${place}.${box}`, name: `${box} hand`, kind: "box", group, seat: place, shape: seat[box] });
    }
    for (const [wager, shape] of Object.entries(seat.spots ?? {})) {
      found.push({ key: `seats.${place}.spots.${wager}`, name: wagerName(wager), kind: "spot", group, seat: place, wager, shape });
    }
  });
  return found;
}

export function shapeAt(data, key) {
  return key.split(".").reduce((inner, part) => inner?.[part], data);
}

export function centerOf(shape) {
  const sum = shape.points_mm.reduce(([x, y], [px, py]) => [x + px, y + py], [0, 0]);
  return sum.map((value) => value / shape.points_mm.length);
}

export function reachOf(shape) {
  const [cx, cy] = centerOf(shape);
  return Math.max(...shape.points_mm.map(([x, y]) => Math.hypot(x - cx, y - cy)));
}

export function moveTo(shape, x, y) {
  const [cx, cy] = centerOf(shape);
  shape.points_mm = shape.points_mm.map(([px, py]) => [tenth(px + x - cx), tenth(py + y - cy)]);
}

export function scaleTo(shape, reach) {
  const [cx, cy] = centerOf(shape);
  const k = reach / reachOf(shape);
  shape.points_mm = shape.points_mm.map(([px, py]) => [tenth(cx + (px - cx) * k), tenth(cy + (py - cy) * k)]);
}

/** @returns {[number, number]} */
function toFelt(place, [u, v]) {
  const a = ((place.angle_deg ?? 0) * Math.PI) / 180;
  const [cx, cy] = place.center_mm;
  return [cx + u * Math.cos(a) - v * Math.sin(a), cy + u * Math.sin(a) + v * Math.cos(a)];
}

export function circle([cx, cy], radius = SPOT_RADIUS_MM) {
  return { points_mm: Array.from({ length: CIRCLE_CORNERS }, (_, n) => {
    const a = (n * 2 * Math.PI) / CIRCLE_CORNERS;
    return [tenth(cx + radius * Math.cos(a)), tenth(cy + radius * Math.sin(a))];
  }) };
}

export function newSpot(seat, wager) {
  return circle(toFelt(seat.place, SPOT_PLACES[wager] ?? [0, -80]));
}

// Move a whole seat: its view, boxes and spots, by an offset or about its own centre.
export function moveSeat(seat, x, y, angle) {
  const [cx, cy] = seat.place.center_mm;
  const turn = ((angle - (seat.place.angle_deg ?? 0)) * Math.PI) / 180;
  const carry = ([px, py]) => {
    const [dx, dy] = [px - cx, py - cy];
    return [tenth(x + dx * Math.cos(turn) - dy * Math.sin(turn)), tenth(y + dx * Math.sin(turn) + dy * Math.cos(turn))];
  };
  for (const shape of [seat.low, seat.high, ...Object.values(seat.spots)]) shape.points_mm = shape.points_mm.map(carry);
  seat.place = { ...seat.place, center_mm: [x, y], angle_deg: angle };
}
