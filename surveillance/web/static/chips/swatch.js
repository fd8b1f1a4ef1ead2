// How a chip looks: its side as it was sampled, or its colour, and its face.

import { svg } from "/static/shared/dom.js";

const css = (rgb) => `rgb(${rgb.join(" ")})`;

// Fill a canvas with the chip's side; a side that was never sampled is its body colour.
export async function fill(canvas, { side_png, rgb }) {
  const pen = canvas.getContext("2d");
  pen.fillStyle = css(rgb);
  pen.fillRect(0, 0, canvas.width, canvas.height);
  if (!side_png) return;
  const bytes = Uint8Array.from(atob(side_png), (letter) => letter.charCodeAt(0));
  try {
    const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    pen.imageSmoothingEnabled = false;
    // Strips begin at the foot of a stack.
    pen.setTransform(1, 0, 0, -1, 0, canvas.height);
    pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  } catch {
    // The editor names a side that is no image.
  }
}

export function circle(rgb, name = "chip-face") {
  return svg("svg", { class: name, width: 20, height: 20, viewBox: "0 0 20 20", "aria-hidden": "true" },
    svg("circle", { cx: 10, cy: 10, r: 9, fill: css(rgb), stroke: "#fff8", "stroke-width": 1 }));
}
