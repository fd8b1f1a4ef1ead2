// The keyboard of a page: one table for the keys and for the page that lists them ("?").
//
//   keys.add("Alerts", [
//     ["j / ArrowDown", "next alert", () => next()],
//     ["Ctrl+Enter", "save", () => save(), { typing: true }],   // also while one types
//   ]);

import { html, byId } from "/static/shared/dom.js";

const SHOWN = {
  ArrowDown: "↓", ArrowUp: "↑", ArrowLeft: "←", ArrowRight: "→", Escape: "Esc", " ": "Space",
};
const PAUSE_MS = 1_500;
const sections = new Map();
const handlers = new Map();
let begun = ""; // the first key of two, as in "g a"
let timer;

// "Ctrl+Shift+x" of a key press. A sign such as "?" implies its Shift.
export function keyName(event) {
  const { key } = event;
  const isSign = key.length === 1 && !/[\p{L}\p{N} ]/u.test(key);
  const plain = key.length === 1 ? key.toLowerCase() : key;
  return `${event.ctrlKey || event.metaKey ? "Ctrl+" : ""}${event.altKey ? "Alt+" : ""}`
    + `${event.shiftKey && !isSign ? "Shift+" : ""}${plain}`;
}

export function isTyping(target) {
  return target instanceof HTMLElement && (target.isContentEditable
    || target.matches("textarea, select, input:not([type=checkbox], [type=radio], [type=button], [type=range])"));
}

function add(title, lines) {
  sections.set(title, [...(sections.get(title) ?? []), ...lines]);
  for (const [names, , run, options = {}] of lines) {
    if (!run) continue;
    for (const name of names.split(" / ")) handlers.set(name, { run, ...options });
  }
}

function meaning(event) {
  const name = keyName(event);
  const found = begun ? handlers.get(`${begun} ${name}`) : handlers.get(name);
  const begins = !begun && [...handlers.keys()].some((key) => key.startsWith(`${name} `));
  clearTimeout(timer);
  begun = begins && !found ? name : "";
  if (begun) timer = setTimeout(() => { begun = ""; }, PAUSE_MS);
  return found;
}

function pressed(event) {
  if (event.defaultPrevented || event.isComposing) return;
  if (["Shift", "Control", "Alt", "Meta"].includes(event.key)) return;
  const inDialog = document.querySelector("dialog[open]");
  const typing = isTyping(event.target);
  // A button takes Enter and Space itself.
  const own = event.target instanceof HTMLElement && event.target.closest("button, a[href], summary, video");
  if (own && ["Enter", " "].includes(event.key)) return;
  const found = typing || inDialog ? handlers.get(keyName(event)) : meaning(event);
  if (!found || (typing && !found.typing) || (inDialog && !found.dialog)) return;
  event.preventDefault();
  found.run(event);
}

const shown = (names) => names.split(" / ").flatMap((name, n) => [
  n ? " / " : "",
  ...name.split(/(?<=.)[+ ](?=.)/u).flatMap((part, m) => [
    m ? " " : "", html("kbd", {}, SHOWN[part] ?? (part.length === 1 ? part.toUpperCase() : part)),
  ]),
]).filter(Boolean);

function show() {
  const dialog = byId("keys");
  if (dialog.open) {
    dialog.close();
    return;
  }
  const four = document.documentElement.dataset.suits === "four";
  dialog.replaceChildren(
    html("h2", { id: "keys-title" }, "Keys"),
    html("div", { class: "keys-columns" }, ...[...sections].map(([title, lines]) => html(
      "section", {}, html("h3", {}, title),
      html("dl", {}, ...lines.filter(([, , , options]) => !options?.quiet).flatMap(([names, words]) => [
        html("dt", {}, ...shown(names)), html("dd", {}, words),
      ])),
    ))),
    html("form", { method: "dialog", class: "row" },
      html("label", { class: "row" }, html("input", {
        type: "checkbox", checked: four, onchange: (event) => setSuits(event.target.checked),
      }), "a colour for each suit"),
      html("span", { class: "gap" }),
      html("button", { class: "btn", autofocus: true }, "Close ", html("kbd", {}, "Esc"))),
  );
  dialog.showModal();
}

function setSuits(four) {
  if (four) document.documentElement.dataset.suits = "four";
  else delete document.documentElement.dataset.suits;
  localStorage.setItem("feltwatch.suits", four ? "four" : "two");
}

if (localStorage.getItem("feltwatch.suits") === "four") setSuits(true);
document.addEventListener("keydown", pressed);

export const keys = { add, show };
