// The marks of a felt that people can point at, by name.

import { centerOf, shapesOf } from "/static/tablefiles/shapes.js";

/** @type {[string, number, number][]} */
const CORNERS = [["left, dealer's edge", 0, 0], ["right, dealer's edge", 1, 0], ["right, players' edge", 1, 1], ["left, players' edge", 0, 1]];
const SAME_MM = 0.06;

// [{name, felt_mm}], the corners of the felt first.
export function marksOf(data) {
  const [w, h] = [data.felt?.width_mm ?? 0, data.felt?.height_mm ?? 0];
  const found = CORNERS.map(([name, x, y]) => ({ name: `felt corner ${name}`, felt_mm: [x * w, y * h] }));
  for (const { name, kind, group, shape } of shapesOf(data)) {
    if (kind === "spot") found.push({ name: `${group}, ${name}: middle`, felt_mm: centerOf(shape).map((v) => Math.round(v * 10) / 10) });
    else if (shape.points_mm.length <= 6) {
      shape.points_mm.forEach((felt_mm, n) => found.push({ name: `${group}, ${name}: corner ${n + 1}`, felt_mm: [...felt_mm] }));
    }
  }
  return found;
}

export const isSame = (a, b) => Math.abs(a[0] - b[0]) < SAME_MM && Math.abs(a[1] - b[1]) < SAME_MM;

export function nameOf(marks, felt_mm) {
  return marks.find((mark) => isSame(mark.felt_mm, felt_mm))?.name ?? "a place of its own";
}
