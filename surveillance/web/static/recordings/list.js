// The videos of a folder, and the audits with how far they are.

import { attempt, get, post, toast } from "/static/shared/api.js";
import { byId, html, startValues, timeElement } from "/static/shared/dom.js";
import { keys } from "/static/shared/keys.js";
import { badge, bytes, isBusy, progressNode } from "/static/recordings/words.js";

const POLL_MS = 1_000;
const start = startValues();
const audits = new Map(start.page.recordings.map((one) => [one.id, one]));
let next = start.page.next;
let folder = null;
let videos = [];

function actButton(recording) {
  if (!start.may_start) return null;
  const act = (what, words) => html("button", {
    class: "btn", type: "button", onclick: () => attempt(async () => {
      keep(await post(`/api/recordings/${recording.id}/${what}`));
      drawAudits();
    }),
  }, words);
  if (isBusy(recording.state)) return act("stop", "Stop");
  if (recording.state === "stopped") return act("resume", "Go on");
  return recording.state === "failed" ? act("resume", "Try again") : null;
}

function drawAudits() {
  const rows = [...audits.values()].sort((a, b) => b.id - a.id);
  const running = rows.filter((one) => isBusy(one.state)).length;
  byId("summary").textContent = running ? `${running} in work` : "";
  byId("more").hidden = !next;
  if (rows.length === 0) {
    byId("audits").replaceChildren(html("p", { class: "empty" }, html("strong", {}, "No recording was audited yet."), "Look into a folder above and choose one."));
    return;
  }
  const focus = document.activeElement?.dataset?.focus;
  byId("audits").replaceChildren(html("table", { class: "grid-table" },
    html("thead", {}, html("tr", {}, ...["Recording", "State", "How far", "Rounds", "Alerts", "Table file", "Started", ""].map((title) => html("th", {
      scope: "col", class: ["Rounds", "Alerts"].includes(title) ? "num" : undefined,
    }, title)))),
    html("tbody", {}, ...rows.map((one) => {
      const act = actButton(one);
      act?.setAttribute("data-focus", `act ${one.id}`);
      return html("tr", { "data-recording": one.id, "data-state": one.state },
        html("td", { class: "file" }, html("a", { href: `/recordings/${one.id}` }, one.file), one.message ? html("div", { class: "message" }, one.message) : null),
        html("td", {}, badge(one.state)), html("td", {}, progressNode(one)),
        html("td", { class: "num" }, one.rounds), html("td", { class: "num" }, one.alerts),
        html("td", {}, one.table_file), html("td", {}, timeElement(one.created_at), html("span", { class: "muted" }, ` ${one.by}`)),
        html("td", { class: "right" }, act));
    }))));
  if (focus) document.querySelector(`[data-focus="${focus}"]`)?.focus();
}

function keep(recording) {
  audits.set(recording.id, recording);
  const line = videos.find((video) => video.file === recording.file && folder === recording.folder);
  if (line && (line.recording === null || recording.id >= line.recording)) {
    const changed = line.state !== recording.state;
    line.recording = recording.id;
    line.state = recording.state;
    if (changed) drawVideos();
  }
}

// ---- the videos of a folder

async function look(text) {
  byId("folder-error").hidden = true;
  try {
    const found = await get("/api/recordings/videos", { folder: text });
    folder = found.folder;
    videos = found.videos;
    byId("folder").value = folder;
  } catch (error) {
    byId("folder-error").hidden = false;
    byId("folder-error").textContent = error.message;
    videos = [];
    folder = null;
  }
  drawVideos();
}

async function queue(video, table) {
  keep(await post("/api/recordings", { folder, file: video.file, table_file: table }));
  drawAudits();
}

function drawVideos() {
  if (!start.may_start) return;
  const fresh = videos.filter((video) => video.recording === null && video.table_files.length);
  byId("queue-all").hidden = fresh.length < 2;
  if (folder === null) {
    byId("videos").replaceChildren();
    return;
  }
  if (videos.length === 0) {
    byId("videos").replaceChildren(html("p", { class: "empty" }, html("strong", {}, "No video in this folder.")));
    return;
  }
  byId("videos").replaceChildren(html("table", { class: "grid-table" },
    html("thead", {}, html("tr", {}, ...["Video", "Size", "Written", "Table file", "", ""].map((title) => html("th", { scope: "col", class: title === "Size" ? "num" : undefined }, title)))),
    html("tbody", {}, ...videos.map((video) => {
      const select = html("select", { "aria-label": `Table file for ${video.file}` },
        ...video.table_files.map(({ path, name }) => html("option", { value: path }, name)));
      const none = video.table_files.length === 0;
      return html("tr", { "data-video": video.file },
        html("td", { class: "file" }, video.file), html("td", { class: "num" }, bytes(video.size)),
        html("td", {}, timeElement(video.written_at)),
        html("td", {}, none ? html("span", { class: "muted" }, "none fits: ", html("a", { href: "/tables" }, "calibrate one")) : select),
        html("td", {}, video.state ? html("a", { href: `/recordings/${video.recording}` }, badge(video.state)) : ""),
        html("td", { class: "right" }, html("button", {
          class: "btn btn-primary", type: "button", disabled: none || isBusy(video.state) || video.state === "stopped",
          onclick: () => attempt(() => queue(video, select.value)),
        }, video.state === "done" ? "Audit again" : "Audit")));
    }))));
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
