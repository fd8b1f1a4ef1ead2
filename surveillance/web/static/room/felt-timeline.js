// What lay where in a round and when: a row for each place, a bar for each thing that lay there.

import { dollars, html, wagerName } from "/static/shared/dom.js";

const PLACES = ["packet", "discard", "boxes", "low", "high", "aside"];
const PLACE_WORDS = {
  packet: "packet", discard: "discard", boxes: "both boxes", low: "low hand", high: "high hand",
  aside: "set aside", spots: "by no spot",
};
const COURSE_WORDS = { repeated: "again", undone: "taken back", out_of_order: "out of order" };
const EVENT_WORDS = {
  begun_unseen: "The start was not seen", ended_unseen: "The end was not seen",
  abandoned: "The round was abandoned", next_deal_at_once: "The next deal began at once",
  dealer_cards_again: "The dealer's cards lay there again",
};
const seconds = (text) => `${Number(text).toFixed(1)} s`;
const words = (name) => name.replaceAll("_", " ");

function placeWords(place) {
  if (place in PLACE_WORDS) return PLACE_WORDS[place];
  return place.endsWith(" pay") ? `pay: ${wagerName(place.slice(0, -4))}` : wagerName(place);
}

function rank(place) {
  const known = PLACES.indexOf(place);
  return known < 0 ? PLACES.length : known;
}

// `at`: from seconds to a share of the width, in percent.
function bar(from, until, at, attributes, ...inner) {
  const width = Math.max(at(until) - at(from), 0.25);
  const node = html("span", attributes, ...inner);
  node.style.left = `${at(from)}%`;
  node.style.width = `${width}%`;
  return node;
}

function row(label, ...bars) {
  return html("div", { class: "felt-row" }, html("span", { class: "felt-place" }, label),
    html("div", { class: "felt-track" }, ...bars));
}

function layBar(lay, at, doubts) {
  const about = doubts.filter((doubt) => doubt.lays.includes(lay.id));
  const what = lay.cents ? `${dollars(lay.cents, "chips")} (${lay.what})` : lay.what;
  const title = [`${what}, ${seconds(lay.from_s)} to ${seconds(lay.until_s)}`,
    ...(lay.moved_from ? ["lay elsewhere before"] : []),
    ...about.map((doubt) => `${doubt.what} undecided: ${doubt.why}`)].join("\n");
  const length = Math.max(Number(lay.until_s) - Number(lay.from_s), 0.01);
  const within = (time) => ((Number(time) - Number(lay.from_s)) / length) * 100;
  return bar(lay.from_s, lay.until_s, at,
    { class: `lay${about.length ? " undecided" : ""}`, "data-item": lay.item, title }, what,
    ...(lay.hidden ?? []).map((span) => bar(span.from_s, span.until_s, within,
      { class: "not-at-rest", title: `not seen at rest: ${span.why}${(span.by ?? []).map((seat) => `, arm of seat ${seat}`).join("")}` })));
}

// One row takes things that lay there at the same time, as the cards of a hand do.
function placeRow(place, lays, at, doubts) {
  const groups = new Map();
  for (const lay of lays) {
    const key = lay.item === "card" ? `${lay.from_s} ${lay.until_s}` : lay.id;
    groups.set(key, [...(groups.get(key) ?? []), lay]);
  }
  const joined = [...groups.values()].map((group) => ({
    ...group[0], what: group.map((lay) => lay.what).join(" "),
    id: group.find((lay) => doubts.some((doubt) => doubt.lays.includes(lay.id)))?.id ?? group[0].id,
  }));
  return row(placeWords(place), ...joined.map((lay) => layBar(lay, at, doubts)));
}

function stepBar(step, at) {
  const course = COURSE_WORDS[step.course];
  return bar(step.from_s, step.until_s, at, {
    class: "step", "data-course": step.course ?? "in_order", "data-breach": step.breach ?? "",
    title: `${words(step.step)}${course ? `, ${course}` : ""}, ${seconds(step.from_s)} to ${seconds(step.until_s)}`,
  }, words(step.step));
}

function seatPart(seat, lays, steps, at, doubts) {
  const places = [...new Set(lays.map((lay) => lay.place))].sort((a, b) => rank(a) - rank(b));
  return html("div", { class: "felt-seat" }, html("h3", {}, seat === null ? "Dealer" : `Seat ${seat}`),
    steps.length ? row("steps", ...steps.map((step) => stepBar(step, at))) : null,
    ...places.map((place) => placeRow(place, lays.filter((lay) => lay.place === place), at, doubts)));
}

export function feltTimeline(lines) {
  const of = (kind) => lines.filter((line) => line.kind === kind);
  const [lays, steps, phases] = [of("lay"), of("step"), of("phase")];
  const timed = [...lays, ...steps, ...phases];
  const from = Math.min(...timed.map((line) => Number(line.from_s)));
  const until = Math.max(...timed.map((line) => Number(line.until_s)), from + 1);
  const at = (time) => ((Number(time) - from) / (until - from)) * 100;
  const ofSeat = (list, seat) => list.filter((line) => (line.seat ?? null) === seat);
  const seats = [null, ...new Set([...lays, ...steps].map((line) => line.seat ?? null)
    .filter((seat) => seat !== null).sort((a, b) => a - b))];
  return [
    ...of("event").map((event) => html("p", { class: "not-read" },
      `${EVENT_WORDS[event.name] ?? words(event.name)}, ${seconds(event.at_s)}${event.why ? `: ${event.why}` : ""}`)),
    row("phase", ...phases.map((phase) => bar(phase.from_s, phase.until_s, at,
      { class: "felt-phase", title: `${words(phase.phase)} from ${seconds(phase.from_s)}` }, words(phase.phase)))),
    ...seats.map((seat) => seatPart(seat, ofSeat(lays, seat), ofSeat(steps, seat), at, of("undecided"))),
    html("p", { class: "muted small" }, "Hatched: not seen at rest, taken to lie there. Outlined: something of it is undecided."),
  ];
}
