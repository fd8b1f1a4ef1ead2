// Which key does what: one table for the keyboard and for the page that tells it.

import { html } from "./svg.js";

// [key as KeyboardEvent tells it, with Ctrl+ and Shift+; command]. With a box selected, letters
// and digits name it; the letters here count while none is.
const ALWAYS = new Map([
  ["PageDown", "next"], ["PageUp", "previous"], [" ", "nextUnconfirmed"],
  ["Enter", "confirm"], ["Ctrl+Enter", "confirmStay"], ["Shift+Enter", "unconfirm"],
  ["Tab", "nextBox"], ["Shift+Tab", "previousBox"], ["Escape", "letGo"],
  ["Insert", "add"], ["Delete", "delete"], ["Backspace", "delete"], ["F2", "rename"],
  ["Ctrl+z", "undo"], ["Ctrl+y", "redo"], ["Ctrl+Shift+z", "redo"],
  ["+", "zoomIn"], ["=", "zoomIn"], ["-", "zoomOut"], ["Home", "fit"], ["End", "zoomToBox"],
  ["?", "keys"], ["F1", "keys"], ["/", "filter"], ["F6", "leave"],
]);
const NONE_SELECTED = new Map([
  ["ArrowRight", "next"], ["ArrowLeft", "previous"],
  ["n", "add"], ["u", "nextUnconfirmed"], ["v", "showing"], ["h", "history"],
  ["Shift+ArrowLeft", "panLeft"], ["Shift+ArrowRight", "panRight"],
  ["Shift+ArrowUp", "panUp"], ["Shift+ArrowDown", "panDown"],
]);

/** @type {[string, [string, string][]][]} */
const HELP = [
  ["Pictures", [
    ["Page Down / Page Up, → / ←", "next, previous"],
    ["Space", "next that nobody confirmed"],
    ["Enter", "confirm and go to the next that nobody confirmed"],
    ["Ctrl Enter", "confirm and stay"],
    ["Shift Enter", "take the confirmation back"],
    ["/", "filters"],
  ]],
  ["Boxes", [
    ["Tab / Shift Tab, click", "select the next, the previous, this one"],
    ["letters, digits", "name the selected box: AS, TD, JOKER, back"],
    ["Tab in the field", "take the name, on to the next box"],
    ["N or Insert, drag", "new box at the mouse; drawn"],
    ["Ctrl drag", "draw on top of other boxes"],
    ["arrows", "move by 1 px (Shift: 10)"],
    ["Ctrl arrows", "move the lower right corner (Alt: upper left)"],
    ["Delete", "delete"],
    ["Ctrl Z / Ctrl Y", "undo, redo"],
    ["Esc", "let go of the box"],
  ]],
  ["View", [
    ["+ / −, wheel", "zoom"],
    ["Home / End", "whole picture / zoom onto the box"],
    ["Shift drag, right button", "pan (Shift arrows with no box selected)"],
    ["V", "names and boxes, boxes, neither"],
    ["H", "history of the picture"],
    ["F6", "leave the picture for the buttons"],
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
  if (event.altKey) return null;
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
}

export function hint(selected, count, place) {
  const k = (...names) => names.flatMap((name) => [html("kbd", {}, name), " "]);
  if (selected) {
    return [
      html("b", {}, `Box ${place} of ${count}`), "   type its name   ",
      ...k("↑", "↓", "←", "→"), "move   ", ...k("Ctrl →"), "resize   ", ...k("Del"), "delete   ",
      ...k("Tab"), "next box   ", ...k("End"), "zoom   ", ...k("Esc"), "let go",
    ];
  }
  return [
    ...k("Enter"), "confirm, go on   ", ...k("←", "→"), "pictures   ", ...k("Space"),
    "next not confirmed   ", ...k("Tab"), "boxes   ", ...k("N"), "new box   ",
    ...k("Ctrl Z"), "undo   ", ...k("V"), "hide   ", ...k("?"), "all keys",
  ];
}
