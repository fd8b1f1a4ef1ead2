// The videos of a folder, and the audits with how far they are.

import { attempt, get, post, toast } from "/static/shared/api.js";
import { byId, html, startValues } from "/static/shared/dom.js";
import { keys } from "/static/shared/keys.js";
import { FILES } from "/static/recordings/cameras.js";
import { auditRows, besideOf, chosenOf, videoRows } from "/static/recordings/rows.js";
import { isBusy } from "/static/recordings/words.js";

const POLL_MS = 1_000;
const start = startValues();
const audits = new Map(start.page.recordings.map((one) => [one.id, one]));
let next = start.page.next;
let folder = null;
let videos = [];

const act = (id, what) => attempt(async () => {
  keep(await post(`/api/recordings/${id}/${what}`));
  drawAudits();
});
const auditTable = auditRows(start.may_start ? act : null);
const audit = (video, tableFile, cameras) => attempt(() => queue(video, tableFile, cameras));
const files = () => videos.map((video) => video.file);
let videoTable = videoRows(audit, drawButtons, files);

// A node that is there already stays: replaced it would lose the focus.
function put(place, node) {
  if (place.firstElementChild !== node) place.replaceChildren(node);
}

const empty = (words, ...more) => html("p", { class: "empty" }, html("strong", {}, words), ...more);

function drawAudits() {
  const rows = [...audits.values()].sort((a, b) => b.id - a.id);
  const running = rows.filter((one) => isBusy(one.state)).length;
  byId("summary").textContent = running ? `${running} in work` : "";
  byId("more").hidden = !next;
  auditTable.show(rows);
  put(byId("audits"), rows.length ? auditTable.table
    : empty("No recording was audited yet.", "Look into a folder above and choose one."));
}

function keep(recording) {
  audits.set(recording.id, recording);
  if (folder !== recording.folder) return;
  const lines = videos.filter((video) => recording.files.includes(video.file) && recording.id >= (video.recording ?? 0));
  const changed = lines.filter((line) => line.state !== recording.state || line.recording !== recording.id);
  for (const line of changed) [line.recording, line.state] = [recording.id, recording.state];
  if (changed.length) drawVideos();
}

// ---- the videos of a folder

async function look(text) {
  byId("folder-error").hidden = true;
  try {
    const found = await get("/api/recordings/videos", { folder: text });
    folder = found.folder;
    videos = found.videos;
    videoTable = videoRows(audit, drawButtons, files);
    byId(FILES).replaceChildren(...files().map((file) => html("option", { value: file })));
    byId("folder").value = folder;
  } catch (error) {
    byId("folder-error").hidden = false;
    byId("folder-error").textContent = error.message;
    videos = [];
    folder = null;
  }
  drawVideos();
}

async function queue(video, table, cameras, more = []) {
  keep(await post("/api/recordings", { folder, file: video.file, table_file: table, more_files: more, cameras }));
  drawAudits();
}

function drawButtons() {
  byId("queue-all").hidden = freshOf().length < 2;
  const many = chosenOf(videoTable).files.length;
  byId("queue-shift").hidden = many < 2;
  byId("queue-shift").textContent = `Audit ${many} files as one shift`;
}

// Those that were not audited, but for the files of further cameras of others.
function freshOf() {
  const beside = besideOf(videoTable);
  return videos.filter((video) => video.recording === null && video.table_files.length && !beside.has(video.file));
}

function drawVideos() {
  if (!start.may_start) return;
  byId("queue-shift").hidden = true;
  if (folder === null) {
    byId("videos").replaceChildren();
    byId("queue-all").hidden = true;
    return;
  }
  videoTable.show(videos);
  drawButtons();
  put(byId("videos"), videos.length ? videoTable.table : empty("No video in this folder."));
}

byId("folder-form")?.addEventListener("submit", (event) => {
  event.preventDefault();
  look(byId("folder").value);
});
byId("queue-all")?.addEventListener("click", () => attempt(async () => {
  const fresh = freshOf();
  for (const video of fresh) {
    const { select, cameras } = videoTable.rows.get(video.file);
    await queue(video, select.value, cameras.chosen);
  }
  toast(`${fresh.length} recordings wait for their audit.`, "good");
}));
byId("queue-shift")?.addEventListener("click", () => attempt(async () => {
  const { files: [file, ...more], table, cameras, clear } = chosenOf(videoTable);
  await queue({ file }, table, cameras, more);
  clear();
  drawButtons();
}));
byId("more").addEventListener("click", () => attempt(async () => {
  const page = await get("/api/recordings", { cursor: next });
  page.recordings.forEach(keep);
  next = page.next;
  drawAudits();
}));

async function poll() {
  try {
    if (!document.hidden && [...audits.values()].some((one) => isBusy(one.state))) {
      const page = await get("/api/recordings", { limit: 50 });
      page.recordings.forEach(keep);
      drawAudits();
    }
  } catch {
    // The next look says it again; a page left open overnight must not fill with toasts.
  }
  setTimeout(poll, POLL_MS);
}

keys.add("Recordings", [["f", "choose a folder", () => byId("folder")?.focus()]]);
drawAudits();
if (start.may_start && start.folders.length) {
  byId("folder").value = start.folders[0];
  look(start.folders[0]);
}
setTimeout(poll, POLL_MS);
