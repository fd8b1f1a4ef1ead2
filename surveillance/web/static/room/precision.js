// How often each code was right, by the verdicts, with Wilson's 95% interval drawn.

import { html, svg } from "/static/shared/dom.js";
import { percent } from "/static/room/signs.js";

const WIDTH = 160;

function bar({ precision, low, high }) {
  if (precision === null) return html("span", { class: "muted" }, "no verdict");
  const x = (share) => (share * WIDTH).toFixed(1);
  return svg("svg", { viewBox: `0 0 ${WIDTH} 16`, class: "interval", role: "img",
    "aria-label": `${percent(precision)}, 95% interval ${percent(low)} to ${percent(high)}` },
  svg("rect", { x: 0, y: 6.5, width: WIDTH, height: 3, class: "scale" }),
  svg("rect", { x: x(low), y: 4, width: Math.max(1, (high - low) * WIDTH).toFixed(1), height: 8, class: "range" }),
  svg("rect", { x: Math.max(0, precision * WIDTH - 1.5), y: 0, width: 3, height: 16, class: "point" }));
}

export function precisionTable(lines) {
  if (!lines.length) return html("p", { class: "empty" }, html("strong", {}, "No alert was raised in this time."));
  const head = ["Code", "Open", "Confirmed", "Rejected", "Corrected", "Right", "95% interval", ""];
  return html("table", { class: "grid-table precision" },
    html("thead", {}, html("tr", {}, ...head.map((words, n) => html("th", { scope: "col", class: n && n < 7 ? "num" : "" }, words)))),
    html("tbody", {}, ...lines.map((line) => html("tr", {},
      html("th", { scope: "row" }, html("code", {}, line.code), " ", html("span", { class: "muted" }, line.title)),
      ...["open", "confirmed", "rejected", "corrected"].map((key) => html("td", { class: "num" }, line[key])),
      html("td", { class: "num" }, html("b", {}, percent(line.precision))),
      html("td", { class: "num" }, line.precision === null ? "–" : `${percent(line.low)} – ${percent(line.high)}`),
      html("td", {}, bar(line))))));
}
