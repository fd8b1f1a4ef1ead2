// How a chip looks: its side and its face as they were sampled, or its colours.

import { html, svg } from "/static/shared/dom.js";

const css = (rgb) => `rgb(${rgb.join(" ")})`;

// Draw a sample on a canvas, `flip`: upside down.
async function draw(canvas, png, flip) {
  const pen = canvas.getContext("2d");
  const bytes = Uint8Array.from(atob(png), (letter) => letter.charCodeAt(0));
  try {
    const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    pen.imageSmoothingEnabled = false;
    if (flip) pen.setTransform(1, 0, 0, -1, 0, canvas.height);
    pen.drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.dataset.drawn = `${image.width}`;
  } catch {
    // The editor names a sample that is no image.
  }
}

// Fill a canvas with the chip's side; a side that was never sampled is its body colour.
export async function fill(canvas, { side_png, rgb }) {
  const pen = canvas.getContext("2d");
  pen.fillStyle = css(rgb);
  pen.fillRect(0, 0, canvas.width, canvas.height);
  // Strips begin at the foot of a stack.
  if (side_png) await draw(canvas, side_png, true);
}

// The face from above, or a circle of its mean colour.
export function face({ face_png, face_rgb, rgb }, name = "chip-face") {
  if (!face_png) {
    return svg("svg", { class: name, width: 20, height: 20, viewBox: "0 0 20 20", "aria-hidden": "true" },
      svg("circle", { cx: 10, cy: 10, r: 9, fill: css(face_rgb ?? rgb), stroke: "#fff8", "stroke-width": 1 }));
  }
  const canvas = html("canvas", { class: `${name} is-sampled`, width: 48, height: 48, "aria-hidden": "true" });
  draw(canvas, face_png, false);
  return canvas;
}
