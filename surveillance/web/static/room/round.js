// A round's hands and wagers, seat by seat: what lay there, what was done, what was due and why.

import { handElement } from "/static/shared/cards.js";
import { html } from "/static/shared/dom.js";
import { RESULTS, badge, lammerElement } from "/static/room/signs.js";

export function handBlock(title, hand, attributes = {}) {
  return html("div", { class: "hand-block", ...attributes },
    html("p", { class: "hand-title" }, title, hand.name ? html("em", {}, ` ${hand.name}`) : ""),
    hand.cards.length ? handElement(hand.cards, hand.size)
      : html("p", { class: "not-read" }, "? not read"));
}

const unread = (entries) => entries.map((entry) => html("p", { class: "not-read" },
  "? ", html("b", {}, entry.what), ` not read: ${entry.why}`));

function dealer({ dealer: seen }) {
  return html("section", { class: "dealer-hands", "aria-label": "Dealer" },
    html("h3", {}, "Dealer"),
    handBlock("Low", seen.low), handBlock("High", seen.high),
    html("p", { class: "house-way" }, badge(seen.kind, seen.verdict), " ", seen.house_way),
    seen.due_low ? html("div", { class: "due-hands" }, html("h3", {}, "Due"),
      handBlock("Low", seen.due_low), handBlock("High", seen.due_high)) : null);
}

function wagers(seat, marked) {
  if (!seat.wagers.length) return null;
  const head = ["Wager", "Stake", "Done", "Due", "Verdict"];
  return html("table", { class: "wagers" },
    html("thead", {}, html("tr", {}, ...head.map((words) => html("th", { scope: "col" }, words)))),
    html("tbody", {}, ...seat.wagers.flatMap((wager) => [
      html("tr", { "data-kind": wager.kind, class: wager.wager === marked ? "marked" : "" },
        html("th", { scope: "row" }, wager.name), html("td", {}, wager.stake),
        html("td", {}, wager.done), html("td", {}, wager.due),
        html("td", {}, badge(wager.kind, wager.verdict))),
      wager.rule || wager.why ? html("tr", { class: "why" }, html("td", { colspan: 5 },
        wager.why, wager.why && wager.rule ? " · " : "", html("cite", {}, wager.rule))) : null,
    ].filter(Boolean))));
}

function seatElement(form, marked) {
  const isMarked = marked && marked.seat === form.seat;
  return html("section", {
    class: `seat-hands${isMarked ? " marked" : ""}`, "data-kind": form.kind, "aria-label": `Seat ${form.seat}`,
  },
  html("h3", {}, `Seat ${form.seat}`, ...form.lammers.map(lammerElement),
    html("span", { class: "result", "data-result": form.result }, RESULTS[form.result] ?? form.result)),
  html("div", { class: "two-hands" }, handBlock("Low", form.low), handBlock("High", form.high)),
  form.foul ? html("p", {}, badge("high", "foul"), " ", form.foul) : null,
  wagers(form, isMarked ? marked.wager : null),
  ...unread(form.undecided));
}

// `marked`: {seat, wager} that an alert is about; its seat stands first.
export function roundElement(hands, marked = null) {
  const seats = [...hands.seats];
  if (marked?.seat) seats.sort((a, b) => Number(b.seat === marked.seat) - Number(a.seat === marked.seat));
  return html("div", { class: "round-hands" }, dealer(hands),
    html("div", { class: "seat-grid" }, ...seats.map((form) => seatElement(form, marked))),
    ...unread(hands.undecided));
}
