// Which key does what: one table for the keyboard and for the page that lists it.

import { html } from "./svg.js";

// [key as KeyboardEvent names it, with Ctrl+ and Shift+; command]. With a box selected, letters
// and digits name it; the letters here count while none is.
const ALWAYS = new Map([
  ["PageDown", "next"], ["PageUp", "previous"], [" ", "nextUnconfirmed"],
  ["Enter", "confirm"], ["Ctrl+Enter", "confirmStay"], ["Shift+Enter", "unconfirm"],
  ["Tab", "nextBox"], ["Shift+Tab", "previousBox"], ["Escape", "letGo"],
  ["Insert", "add"], ["Delete", "delete"], ["Backspace", "delete"], ["F2", "rename"],
  ["Ctrl+a", "selectAll"], ["*", "selectAlike"], ["Ctrl+c", "copy"], ["Ctrl+v", "paste"],
  [",", "turnLeft"], [".", "turnRight"], ["[", "turnLeft"], ["]", "turnRight"],
  [";", "turnFarLeft"], [":", "turnFarRight"], ["<", "turnFarLeft"], [">", "turnFarRight"],
  ["{", "turnFarLeft"], ["}", "turnFarRight"],
  ["Ctrl+z", "undo"], ["Ctrl+y", "redo"], ["Ctrl+Shift+z", "redo"],
  ["+", "zoomIn"], ["=", "zoomIn"], ["-", "zoomOut"], ["Home", "fit"], ["End", "zoomToBox"],
  ["?", "keys"], ["F1", "keys"], ["/", "filter"], ["F6", "leave"],
]);
const NONE_SELECTED = new Map([
  ["ArrowRight", "next"], ["ArrowLeft", "previous"],
  ["n", "add"], ["r", "drawTurned"], ["c", "copyPrevious"],
  ["s", "nextSuggestion"], ["Shift+s", "previousSuggestion"],
  ["a", "accept"], ["x", "reject"], ["Shift+a", "acceptAll"], ["Shift+x", "rejectAll"],
  ["u", "nextUnconfirmed"], ["v", "showing"], ["h", "history"],
  ["Shift+ArrowLeft", "panLeft"], ["Shift+ArrowRight", "panRight"],
  ["Shift+ArrowUp", "panUp"], ["Shift+ArrowDown", "panDown"],
]);

/** @type {[string, [string, string][]][]} */
const HELP = [
  ["Images", [
    ["Page Down / Page Up, → / ←", "next, previous"],
    ["Space", "next that nobody confirmed"],
    ["Enter", "confirm, go to the next of those"],
    ["Ctrl Enter", "confirm and stay"],
    ["Shift Enter", "take the confirmation back"],
    ["/", "filters"],
  ]],
  ["Boxes", [
    ["Tab / Shift Tab, click", "select"],
    ["letters, digits", "name it: AS, TD, JOKER, back"],
    ["Tab in the field", "take the name, next box"],
    ["N or Insert, drag", "new box"],
    ["Ctrl drag", "draw on top of other boxes"],
    ["C", "copy those of the last image"],
    ["Delete", "delete"],
    ["Ctrl Z / Ctrl Y", "undo, redo"],
    ["Esc", "let go of the box"],
  ]],
  ["Edges", [
    ["arrows", "move by 1 px (Shift: 10)"],
    ["Ctrl arrows", "lower right corner (Alt: upper left)"],
    ["comma / period", "turn by 1° (Shift: 15°)"],
    ["round handle", "turn"],
    ["R, drag, click", "turned box: one edge, then across"],
  ]],
  ["Several boxes", [
    ["Ctrl click", "one more, or one less"],
    ["Ctrl Shift drag", "all within a frame"],
    ["Ctrl A / *", "all / all of the same name"],
    ["letters, Delete", "name, move, delete them all"],
    ["Ctrl C / Ctrl V", "copy, paste into another image"],
    ["Esc", "let go of them"],
  ]],
  ["Suggestions", [
    ["S / Shift S", "next, previous"],
    ["A / X", "accept, reject"],
    ["Shift A / Shift X", "accept, reject all of the image"],
  ]],
  ["View", [
    ["+ / −, wheel", "zoom"],
    ["Home / End", "whole image / zoom onto the box"],
    ["Shift drag, Shift arrows", "pan"],
    ["V", "names and boxes, boxes, neither"],
    ["H", "history of the image"],
    ["F6", "leave the image for the buttons"],
    ["?", "this page"],
  ]],
];

// The command of a key, or {arrow} or {letter}; null when it means nothing here.
export function meaning(event, hasSelected) {
  const { key } = event;
  const ctrl = event.ctrlKey || event.metaKey;
  const isArrow = key.startsWith("Arrow");
  if (isArrow && hasSelected) {
    const [x, y] = {
      ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1],
    }[key];
    const part = ctrl ? "lower" : event.altKey ? "upper" : "whole";
    return { arrow: { x, y, far: event.shiftKey, part } };
  }
  // AltGr types a sign; Alt alone is the browser's.
  if (event.altKey && !event.getModifierState("AltGraph")) return null;
  const isSign = key.length === 1 && !/[\p{L}\p{N} ]/u.test(key);
  const shift = event.shiftKey && !isSign;
  const plain = key.length === 1 ? key.toLowerCase() : key;
  const name = `${ctrl ? "Ctrl+" : ""}${shift ? "Shift+" : ""}${plain}`;
  if (ALWAYS.has(name)) return { command: ALWAYS.get(name) };
  if (hasSelected) {
    return !ctrl && key.length === 1 && /[\p{L}\p{N}★♠♥♦♣]/u.test(key) ? { letter: key } : null;
  }
  return NONE_SELECTED.has(name) ? { command: NONE_SELECTED.get(name) } : null;
}

const keyed = (text) => text.split(/( \/ |, )/).map((part) => (
  / \/ |, /.test(part) ? part : html("kbd", {}, part)));

export function showKeys(dialog) {
  dialog.replaceChildren(
    html("h2", { id: "keys-title" }, "Keys"),
    html("div", { class: "columns" }, ...HELP.map(([title, lines]) => html(
      "section", {}, html("h3", {}, title),
      html("dl", {}, ...lines.flatMap(([keys, words]) => [
        html("dt", {}, ...keyed(keys)), html("dd", {}, words),
      ])),
    ))),
    html("form", { method: "dialog" }, html("button", {}, "Close ", html("kbd", {}, "Esc"))),
  );
  dialog.showModal();
  dialog.scrollTop = 0;
}

export function hint(selected, count, place, suggested) {
  const k = (...names) => names.flatMap((name) => [html("kbd", {}, name), " "]);
  if (selected > 1) {
    return [
      html("b", {}, `${selected} of ${count} boxes`), "   type a name for all   ",
      ...k("↑", "↓", "←", "→"), "move   ", ...k("Del"), "delete   ", ...k("Ctrl C"), "copy   ",
      ...k("Ctrl click"), "one more or less   ", ...k("Esc"), "let go",
    ];
  }
  if (!selected && suggested) {
    return [
      html("b", {}, `Suggested: ${suggested}`), "   ", ...k("A"), "accept   ", ...k("X"), "reject   ",
      ...k("S"), "next   ", ...k("Shift A"), "accept all   ", ...k("Enter"), "confirm, go on   ",
      ...k("Tab"), "boxes   ", ...k("Ctrl Z"), "undo   ", ...k("?"), "all keys",
    ];
  }
  if (selected) {
    return [
      html("b", {}, `Box ${place} of ${count}`), "   type its name   ",
      ...k("↑", "↓", "←", "→"), "move   ", ...k("Ctrl →"), "resize   ", ...k(",", "."), "turn   ", ...k("Del"), "delete   ",
      ...k("Tab"), "next box   ", ...k("End"), "zoom   ", ...k("Esc"), "let go",
    ];
  }
  return [
    ...k("Enter"), "confirm, go on   ", ...k("←", "→"), "images   ", ...k("Space"),
    "next not confirmed   ", ...k("Tab"), "boxes   ", ...k("N"), "new box   ",
    ...k("C"), "copy from the last   ",
    ...k("Ctrl Z"), "undo   ", ...k("V"), "hide   ", ...k("?"), "all keys",
  ];
}
