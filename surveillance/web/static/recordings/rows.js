// Rows of the recordings page. Each stays the same row while its content changes, so that
// neither the focus, nor a click, nor a choice is lost when news of an audit come in.

import { html, timeElement } from "/static/shared/dom.js";
import { CameraFields, joined } from "/static/recordings/cameras.js";
import { badge, besideLines, bytes, isBusy, progressNode, titleOf } from "/static/recordings/words.js";

const AUDIT_TITLES = ["Recording", "State", "How far", "Rounds", "Alerts", "Table file", "Started", ""];
const VIDEO_TITLES = ["", "Video", "Size", "Written", "Table file", "", ""];
const NUMBERS = ["Rounds", "Alerts", "Size"];

// Rows by key in a table of their own; `make(one)` gives {node, update(one)} for one that is new.
export class Rows {
  constructor(titles, key, make) {
    this.key = key;
    this.make = make;
    this.rows = new Map();
    this.body = html("tbody");
    this.table = html("table", { class: "grid-table" },
      html("thead", {}, html("tr", {}, ...titles.map((title) => html("th", {
        scope: "col", class: NUMBERS.includes(title) ? "num" : undefined,
      }, title)))), this.body);
  }

  show(list) {
    const kept = new Set(list.map(this.key));
    for (const [key, { node }] of this.rows) {
      if (kept.has(key)) continue;
      node.remove();
      this.rows.delete(key);
    }
    list.forEach((one, n) => {
      const key = this.key(one);
      if (!this.rows.has(key)) this.rows.set(key, this.make(one));
      const { node } = this.rows.get(key);
      // One that moves would lose the focus: those that are new are put between the others.
      if (this.body.children[n] !== node) this.body.insertBefore(node, this.body.children[n] ?? null);
      this.rows.get(key).update(one);
    });
  }
}

// What may be done with an audit as it stands: the name in the API and on the button.
function actOf({ state }) {
  if (isBusy(state)) return ["stop", "Stop"];
  if (state === "stopped") return ["resume", "Go on"];
  if (state === "failed") return ["resume", "Try again"];
  return ["resume", "Audit again"]; // its rounds are kept once
}

class AuditRow {
  constructor(one, act) {
    this.act = act;
    this.link = html("a", { href: `/recordings/${one.id}`, title: one.files.join(", ") }, titleOf(one));
    this.beside = besideLines(one).map((line) => html("div", { class: "muted", title: one.cameras.flatMap(({ file, more_files }) => [file, ...more_files]).join(", ") }, line));
    this.message = html("div", { class: "message" });
    this.state = html("td");
    this.progress = html("td");
    this.rounds = html("td", { class: "num" });
    this.alerts = html("td", { class: "num" });
    this.acts = html("td", { class: "right" });
    this.node = html("tr", { "data-recording": one.id },
      html("td", { class: "file" }, this.link, ...this.beside, this.message), this.state, this.progress, this.rounds, this.alerts,
      html("td", {}, one.table_file), html("td", {}, timeElement(one.created_at), html("span", { class: "muted" }, ` ${one.by}`)),
      this.acts);
  }

  update(one) {
    this.node.dataset.state = one.state;
    this.message.textContent = one.message ?? "";
    this.message.hidden = !one.message;
    this.state.replaceChildren(badge(one.state));
    this.progress.replaceChildren(progressNode(one));
    this.rounds.textContent = one.rounds;
    this.alerts.textContent = one.alerts;
    this.#offer(one.id, this.act ? actOf(one) : null);
  }

  // The button changes with what it does; the focus goes to the next one, or to the row.
  #offer(id, offered) {
    const [what, words] = offered ?? [];
    const old = this.acts.firstElementChild;
    if ((old?.textContent ?? undefined) === words) return;
    const hadFocus = old !== null && old === document.activeElement;
    const next = offered && html("button", { class: "btn", type: "button", onclick: () => this.act(id, what) }, words);
    this.acts.replaceChildren(...[next].filter(Boolean));
    if (hadFocus) (next ?? this.link).focus();
  }
}

class VideoRow {
  constructor(video, audit, choose, files) {
    const none = video.table_files.length === 0;
    this.none = none;
    this.box = html("input", { type: "checkbox", "aria-label": `${video.file} in a shift of several files`, onchange: choose, disabled: none });
    this.cameras = new CameraFields(video.file, files, choose);
    const offer = () => this.cameras.show(video.table_files.find(({ path }) => path === this.select.value)?.cameras ?? []);
    this.select = html("select", { "aria-label": `Table file for ${video.file}`, onchange: () => { offer(); choose(); } },
      ...video.table_files.map(({ path, name }) => html("option", { value: path }, name)));
    offer();
    this.state = html("td");
    this.button = html("button", { class: "btn btn-primary", type: "button",
      onclick: () => audit(this.video, this.select.value, this.cameras.chosen) }, "Audit");
    this.node = html("tr", { "data-video": video.file },
      html("td", {}, this.box), html("td", { class: "file" }, video.file), html("td", { class: "num" }, bytes(video.size)),
      html("td", {}, timeElement(video.written_at)),
      html("td", {}, none ? html("span", { class: "muted" }, "none fits: ", html("a", { href: "/tables" }, "calibrate one")) : this.select, this.cameras.node),
      this.state, html("td", { class: "right" }, this.button));
  }

  update(video) {
    this.video = video;
    const content = `${video.recording} ${video.state}`;
    if (content === this.content) return;
    this.content = content;
    const { activeElement: active } = document;
    const focused = this.node.contains(active) && active instanceof HTMLElement ? active : null;
    const link = video.state ? html("a", { href: `/recordings/${video.recording}` }, badge(video.state)) : null;
    this.state.replaceChildren(...[link].filter(Boolean));
    this.button.disabled = this.none || isBusy(video.state) || video.state === "stopped";
    // A button that is off, and a link that is another one, hold no focus.
    if (focused && (!focused.isConnected || focused.matches(":disabled"))) link?.focus();
  }
}

// `act(id, what)` does what a button says; null where one may not.
export const auditRows = (act) => new Rows(AUDIT_TITLES, (one) => one.id, (one) => new AuditRow(one, act));
// `audit(video, tableFile, cameras)` queues it; `choose()` is called when what is chosen changes;
// `files()` are the names of all videos of the folder.
export const videoRows = (audit, choose, files) => (
  new Rows(VIDEO_TITLES, (video) => video.file, (video) => new VideoRow(video, audit, choose, files)));
// What is named for further cameras in any row.
export const besideOf = ({ rows }) => new Set([...rows.values()].flatMap((row) => row.cameras.chosen.flatMap(({ file, more_files }) => [file, ...more_files])));
// The files that are chosen for a shift, the table file of the first, and the files that all of
// them name for each further camera.
export function chosenOf({ rows }) {
  const chosen = [...rows.values()].filter((row) => row.box.checked);
  return { files: chosen.map((row) => row.video.file), table: chosen[0]?.select.value, cameras: joined(chosen.map((row) => row.cameras.chosen)), clear: () => chosen.forEach((row) => { row.box.checked = false; }) };
}
