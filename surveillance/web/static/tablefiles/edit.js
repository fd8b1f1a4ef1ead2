// The editor of a table file: forms over its data, checked as they are typed.

import { byId, html, startValues } from "/static/shared/dom.js";
import { keys } from "/static/shared/keys.js";
import { RulesForm } from "/static/calculator/rulesform.js";
import { ChipsEditor } from "/static/tablefiles/chips.js";
import { Draft } from "/static/tablefiles/draft.js";
import { FeltEditor } from "/static/tablefiles/felt.js";

const { file, games } = startValues();
const PARTS = ["rules", "felt", "chips"];
const draft = new Draft(file, { onShow: showAll, onFaults: showFaults });
const rules = new RulesForm(byId("part-rules"), games, { onChange: (changed) => {
  draft.change((data) => { data.rules = changed; });
} });
const felt = new FeltEditor(byId("part-felt"), draft, { offered: () => ["main", ...Object.keys(draft.data.rules?.paytables ?? {})] });
const chips = new ChipsEditor(byId("part-chips"), draft);

function partOf(place) {
  const [first] = place.split(".");
  if (first === "rules") return "rules";
  return ["chips", "lammers", "table"].includes(first) ? "chips" : "felt";
}

function showFaults(faults) {
  const own = Object.fromEntries(PARTS.map((part) => [part, faults.filter(({ place }) => partOf(place) === part)]));
  const rest = [...rules.faults(own.rules), ...felt.faults(own.felt), ...chips.faults(own.chips)];
  for (const part of PARTS) {
    const tab = byId(`tab-${part}`);
    const count = own[part].length;
    tab.querySelector(".badge")?.remove();
    if (count) tab.append(" ", html("span", { class: "badge", "data-state": "bad" }, String(count)));
  }
  const where = (place) => (place.startsWith("camera") ? html("a", { href: byId("to-calibrate").href }, "calibrate") : null);
  byId("faults").replaceChildren(...rest.map(({ place, message }) => html("li", { "data-place": place }, place ? `${place}: ${message} ` : message, where(place))));
}

function showAll() {
  rules.show(draft.data.rules ?? {});
  felt.show();
  chips.show();
  showFaults(draft.faults);
  draft.showState();
}

function showPart(part) {
  for (const one of PARTS) {
    byId(`part-${one}`).hidden = one !== part;
    byId(`tab-${one}`).setAttribute("aria-selected", String(one === part));
    byId(`tab-${one}`).tabIndex = one === part ? 0 : -1;
  }
  if (part === "felt") felt.show();
  history.replaceState(null, "", `#${part}`);
}

for (const part of PARTS) {
  byId(`tab-${part}`).addEventListener("click", () => showPart(part));
  byId(`tab-${part}`).addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = PARTS[(PARTS.indexOf(part) + step + PARTS.length) % PARTS.length];
    showPart(next);
    byId(`tab-${next}`).focus();
  });
}
const save = () => { if (document.activeElement instanceof HTMLElement) document.activeElement.blur(); if (!byId("save").disabled) draft.save(byId("restart").checked && !byId("restart-field").hidden); };
byId("save").addEventListener("click", save);
byId("undo").addEventListener("click", () => draft.undo());
keys.add("Table file", [
  ["Ctrl+s", "save", save, { typing: true }],
  ["Ctrl+z", "undo", () => draft.undo()],
  ["1", "game and rules", () => showPart("rules")],
  ["2", "felt and spots", () => showPart("felt")],
  ["3", "chips and lammers", () => showPart("chips")],
  ["Tab / ←→↑↓", "in the drawing: choose a shape, move it (Shift 10 mm, Alt 0.1 mm)"],
]);
addEventListener("hashchange", () => { if (PARTS.includes(location.hash.slice(1))) showPart(location.hash.slice(1)); });
showAll();
showPart(PARTS.includes(location.hash.slice(1)) ? location.hash.slice(1) : "rules");
document.body.dataset.editor = "ready";
