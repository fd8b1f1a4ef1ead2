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

// Cameras of several videos as those of one shift: each with all of its files, and the first offset.
export function joined(lists) {
  const byName = new Map();
  for (const { name, file, more_files, offset_s } of lists.flat()) {
    const own = byName.get(name) ?? { name, offset_s, files: new Set() };
    [file, ...more_files].forEach((one) => own.files.add(one));
    byName.set(name, own);
  }
  return [...byName.values()].map(({ name, offset_s, files: [file, ...more_files] }) => ({ name, file, more_files, offset_s }));
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
    const of = `camera ${name} for ${this.file}`;
    const files = html("span", { class: "files" }, this.#file(`File of ${of}`, guess(this.file, name, this.files())));
    const more = html("button", { class: "btn btn-quiet", type: "button", title: "one more file of this camera's shift",
      "aria-label": `One more for camera ${name} of ${this.file}`, onclick: () => {
        files.append(this.#file(`File ${files.children.length + 1} of ${of}`, ""));
        files.lastElementChild.focus();
      } }, "+");
    const offset = html("input", { type: "number", step: "0.1", value: "0", min: "-86400", max: "86400",
      "aria-label": `Seconds later that camera ${name} began for ${this.file}`, title: "seconds later than the first recording that it began" });
    const node = html("div", { class: "camera", role: "group", "aria-label": of },
      html("span", {}, name), files, more, html("label", {}, html("span", {}, "began"), offset, html("span", {}, "s later")));
    return { files, offset, node };
  }

  #file(label, value) {
    return html("input", { list: FILES, value, size: 18, "aria-label": label, placeholder: "no file", oninput: this.changed, autocomplete: "off", spellcheck: "false" });
  }

  // The files that are named, as the API takes them.
  get chosen() {
    return this.names.map((name) => {
      const { files, offset } = this.fields.get(name);
      const [file, ...more_files] = [...files.children].map((field) => field.value.trim()).filter(Boolean);
      return { name, file, more_files, offset_s: offset.valueAsNumber || 0 };
    }).filter(({ file }) => file);
  }
}
