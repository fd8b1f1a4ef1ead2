// Playing cards as people recognise them; the same marks as _cards.html.j2 makes.

import { html } from "/static/shared/dom.js";

const SIGNS = { C: "♣", D: "♦", H: "♥", S: "♠" };
const SUITS = { C: "clubs", D: "diamonds", H: "hearts", S: "spades" };
const RANKS = {
  A: "ace", K: "king", Q: "queen", J: "jack", T: "ten", 9: "nine", 8: "eight",
  7: "seven", 6: "six", 5: "five", 4: "four", 3: "three", 2: "two",
};
const PLAIN = "\ufe0e"; // asks for the plain sign of a suit, not the emoji
const IN_TEXT = /\b((?:[2-9TJQKA][CDHS])|JOKER)\b/;

export const DECK = [
  ...["S", "H", "D", "C"].flatMap((suit) => [..."AKQJT98765432"].map((rank) => rank + suit)),
  "JOKER",
];

// What is read aloud: "ace of spades".
export function cardWords(label) {
  if (label === "JOKER") return "joker";
  if (label === "BACK") return "a card face down";
  const [rank, suit] = label ?? "";
  return SIGNS[suit] && RANKS[rank] ? `${RANKS[rank]} of ${SUITS[suit]}` : "a card that was not read";
}

// A card; `name` is the element, "button" for cards that are clicked.
export function cardElement(label, name = "span", attributes = {}) {
  const words = cardWords(label);
  const sign = (text, kind) => html(kind, { "aria-hidden": "true" }, text);
  let tone = "unread";
  let marks = [sign("?", "b")];
  if (label === "JOKER") {
    tone = "joker";
    marks = [sign("★", "b"), sign("JOKER", "i")];
  } else if (label === "BACK") {
    tone = "back";
    marks = [];
  } else if (words !== "a card that was not read") {
    tone = SUITS[label[1]];
    marks = [sign(label[0] === "T" ? "10" : label[0], "b"), sign(SIGNS[label[1]] + PLAIN, "i")];
  }
  const role = name === "button" ? { type: "button" } : { role: "img" };
  return html(name, {
    class: `pcard ${tone}`, ...role, "aria-label": words, title: words,
    "data-card": tone === "unread" ? "" : label, ...attributes,
  }, ...marks);
}

// A row of cards; places up to `size` that were not read are shown as such.
export function handElement(labels, size = 0) {
  const all = [...(labels ?? [])];
  while (all.length < size) all.push("");
  return html("span", { class: "phand" }, ...all.map((label) => cardElement(label)));
}

// A text as nodes, its card labels (6D, JOKER) as cards.
export function withCards(text) {
  return (text ?? "").split(IN_TEXT).filter((part) => part !== "")
    .map((part) => (IN_TEXT.test(part) && RANKS[part[0]] && part.length === 2) || part === "JOKER"
      ? cardElement(part) : part);
}
