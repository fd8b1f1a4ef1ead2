// Which image of a table is worked on: of a camera, a recording or a file.

import { ApiError, attempt, get, post } from "/static/shared/api.js";
import { byId, html } from "/static/shared/dom.js";

const LARGEST_FILE = 45_000_000;

export class PictureChoice {
  // `start` is what the page was given; `empty` is shown while there is no image.
  constructor(start, { empty, onPicture }) {
    this.start = start;
    this.picture = start.picture;
    this.empty = empty;
    this.onPicture = onPicture;
    this.videos = [];
    this.video = null;
    byId("picture-from").addEventListener("change", (event) => this.chosen(event.target));
    byId("picture-file").addEventListener("change", (event) => this.sent(event.target));
    // A page whose moment of a recording matters has a field for it.
    byId("picture-at")?.addEventListener("change", () => { if (this.video) this.ofVideo(this.video); });
  }

  begin() {
    this.use(this.picture);
    for (const folder of this.start.folders) {
      get("/api/recordings/videos", { folder }).then((found) => {
        this.videos = [...this.videos, ...found.videos.map(({ file }) => ({ folder: found.folder, file }))];
        this.draw();
      }).catch(() => {});
    }
    // On a server that watches, the table's own camera is meant.
    const [own] = this.start.file.cameras;
    if (!this.picture && this.start.live && own) this.of(own);
  }

  use(picture) {
    this.picture = picture;
    byId("veil").hidden = Boolean(picture);
    byId("veil").textContent = this.empty;
    this.draw();
    if (picture) this.onPicture(picture);
  }

  draw() {
    const { picture } = this;
    byId("picture-from").replaceChildren(
      html("option", { value: "" }, picture ? `${picture.name} (${picture.width_px} × ${picture.height_px})` : "choose …"),
      ...this.start.cameras.map((name) => html("option", { value: `camera ${name}` }, `camera ${name}`)),
      ...this.videos.map(({ folder, file }, n) => html("option", { value: `video ${n}`, "data-folder": folder, "data-file": file }, `recording ${file}`)),
      html("option", { value: "file" }, "an image file …"));
  }

  async take(ask) {
    byId("veil").hidden = false;
    byId("veil").textContent = "Taking the image …";
    this.use((await attempt(ask)) ?? this.picture);
  }

  of(camera) {
    this.video = null;
    return this.take(() => post(`/api/calibration/pictures/camera/${encodeURIComponent(camera)}`));
  }

  chosen(field) {
    const { value, selectedOptions: [option] } = field;
    if (value === "file") { field.value = ""; byId("picture-file").click(); }
    else if (value.startsWith("camera ")) this.of(value.slice(7));
    else if (value.startsWith("video ")) this.ofVideo(option.dataset);
  }

  ofVideo({ folder, file }) {
    this.video = { folder, file };
    const at_s = Number(byId("picture-at")?.value) || 0;
    return this.take(() => post("/api/calibration/pictures/recording", { folder, file, at_s }));
  }

  sent(field) {
    const [file] = field.files;
    field.value = "";
    if (!file) return;
    this.video = null;
    this.take(async () => {
      if (file.size > LARGEST_FILE) throw new ApiError(0, `${file.name} is too large`);
      const sent = await fetch("/api/calibration/pictures", { method: "POST", headers: { "x-feltwatch": "1", "content-type": file.type || "image/*" }, body: file });
      const content = await sent.json().catch(() => null);
      if (!sent.ok) throw new ApiError(sent.status, content?.detail ?? `status ${sent.status}`);
      return content;
    });
  }
}
