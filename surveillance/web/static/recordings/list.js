// The videos of a folder, and the audits with how far they are.

import { attempt, get, post, toast } from "/static/shared/api.js";
import { byId, html, startValues } from "/static/shared/dom.js";
import { keys } from "/static/shared/keys.js";
import { auditRows, chosenOf, videoRows } from "/static/recordings/rows.js";
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
const audit = (video, tableFile) => attempt(() => queue(video, tableFile));
let videoTable = videoRows(audit, drawShift);

// What is there already stays there: put anew it would lose the focus.
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
    videoTable = videoRows(audit, drawShift);
    byId("folder").value = folder;
  } catch (error) {
    byId("folder-error").hidden = false;
    byId("folder-error").textContent = error.message;
    videos = [];
    folder = null;
  }
  drawVideos();
}

async function queue(video, table, more = []) {
  keep(await post("/api/recordings", { folder, file: video.file, table_file: table, more_files: more }));
  drawAudits();
}

function drawShift() {
  const many = chosenOf(videoTable).files.length;
  byId("queue-shift").hidden = many < 2;
  byId("queue-shift").textContent = `Audit ${many} files as one shift`;
}

function drawVideos() {
  if (!start.may_start) return;
  const fresh = videos.filter((video) => video.recording === null && video.table_files.length);
  byId("queue-all").hidden = fresh.length < 2;
  byId("queue-shift").hidden = true;
  if (folder === null) {
    byId("videos").replaceChildren();
    return;
  }
  videoTable.show(videos);
  drawShift();
  put(byId("videos"), videos.length ? videoTable.table : empty("No video in this folder."));
}

byId("folder-form")?.addEventListener("submit", (event) => {
  event.preventDefault();
  look(byId("folder").value);
});
byId("queue-all")?.addEventListener("click", () => attempt(async () => {
  const fresh = videos.filter((video) => video.recording === null && video.table_files.length);
  for (const video of fresh) await queue(video, video.table_files[0].path);
  toast(`${fresh.length} recordings wait for their audit.`, "good");
}));
byId("queue-shift")?.addEventListener("click", () => attempt(async () => {
  const { files: [file, ...more], table, clear } = chosenOf(videoTable);
  await queue({ file }, table, more);
  clear();
  drawShift();
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
