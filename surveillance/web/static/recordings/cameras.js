// The files of a table's further cameras, beside the video that is to be audited.

import { html } from "/static/shared/dom.js";

// The list of all videos of the folder, that every field of a file offers.
export const FILES = "camera-files";

// A further camera's recording is often named after the first one's and the camera.
function guess(file, name, files) {
  const dot = file.lastIndexOf(".");
  const named = `${file.slice(0, dot)}-${name}${file.slice(dot)}`;
  return files.includes(named) ? named : "";
}

export class CameraFields {
  // `files()` are the names of all videos of the folder; `changed()` is called when one is named.
  constructor(file, files, changed) {
    this.file = file;
    this.files = files;
    this.changed = changed;
    this.names = [];
    this.fields = new Map();
    this.node = html("div", { class: "cameras" });
  }

  // Show fields for the cameras of another table file; what was named of them stays.
  show(names) {
    for (const name of names) if (!this.fields.has(name)) this.fields.set(name, this.#field(name));
    this.names = names;
    this.node.replaceChildren(...names.map((name) => this.fields.get(name).node));
  }

  #field(name) {
    const file = html("input", { list: FILES, value: guess(this.file, name, this.files()), size: 18,
      "aria-label": `File of camera ${name} for ${this.file}`, placeholder: "no file", oninput: this.changed, autocomplete: "off", spellcheck: "false" });
    const offset = html("input", { type: "number", step: "0.1", value: "0", min: "-86400", max: "86400",
      "aria-label": `Seconds later that camera ${name} began for ${this.file}`, title: "seconds later than the first recording that it began" });
    return { file, offset, node: html("label", {}, html("span", {}, name), file, html("span", {}, "began"), offset, html("span", {}, "s later")) };
  }

  // The files that are named, as the API takes them.
  get chosen() {
    return this.names.map((name) => ({ name, file: this.fields.get(name).file.value.trim(),
      offset_s: this.fields.get(name).offset.valueAsNumber || 0 })).filter(({ file }) => file);
  }
}
