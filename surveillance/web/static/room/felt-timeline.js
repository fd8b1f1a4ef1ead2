// What lay where in a round and when: a row for each place, a bar for each thing that lay there.

import { dollars, html, wagerName } from "/static/shared/dom.js";

const PLACES = ["packet", "discard", "boxes", "low", "high", "aside"];
const TICK_STEPS_S = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600];
const MOST_TICKS = 12;
const LETTER_PERCENT = 0.8; // of a track's width, by which a letter takes no more
const PLACE_WORDS = {
  packet: "packet", discard: "discard", boxes: "both boxes", low: "low hand", high: "high hand",
  aside: "set aside", spots: "by no spot", lammers: "lammers", marker: "banker's marker",
  dice: "dice",
};
const COURSE_WORDS = { repeated: "again", undone: "taken back", out_of_order: "out of order" };
const EVENT_WORDS = {
  begun_unseen: "The start was not seen", ended_unseen: "The end was not seen",
  abandoned: "The round was abandoned", misdeal: "The cards were dealt again",
  next_deal_at_once: "The next deal began at once",
  dealer_cards_again: "The dealer's cards lay there again",
};
const seconds = (text) => `${Number(text).toFixed(1)} s`;
const words = (name) => name.replaceAll("_", " ");

const eventWords = (event) => EVENT_WORDS[event.name] ?? words(event.name);

// What lies or shines about a wager's spot is named by a word behind the wager's name.
const ABOUT = ["", " pay", " unread", " lamp"];
const OF_WAGER = / (pay|unread|lamp)$/;
const ABOUT_WORDS = { pay: "pay", unread: "not read", lamp: "lamp" };

function placeWords(place) {
  if (place in PLACE_WORDS) return PLACE_WORDS[place];
  if (place === "undecided") return "not read";
  const [, meter, level] = place.match(/^meters\.(.+)\.(\d+)$/) ?? [];
  if (meter) return `meter: ${wagerName(meter)}${level === "1" ? "" : ` ${level}`}`;
  const [, about] = place.match(OF_WAGER) ?? [];
  const wager = wagerName(place.replace(OF_WAGER, ""));
  return about ? `${ABOUT_WORDS[about]}: ${wager}` : wager;
}

// Cards first, then each wager with its pay beneath, then what lies by no wager.
function inOrder(places) {
  const others = places.filter((place) => !PLACES.includes(place) && !(place in PLACE_WORDS));
  const wagers = [...new Set(others.map((place) => place.replace(OF_WAGER, "")))];
  const order = [...PLACES, ...wagers.flatMap((wager) => ABOUT.map((about) => wager + about)), "spots", "lammers", "marker", "dice"];
  return order.filter((place) => places.includes(place));
}

// `at`: from seconds to a share of the width, in percent.
function bar(from, until, at, attributes, ...inner) {
  const width = Math.max(at(until) - at(from), 0.25);
  const node = html("span", attributes, ...inner);
  node.style.left = `${Math.min(at(from), 100 - 0.25)}%`;
  node.style.width = `${width}%`;
  return node;
}

function row(label, ...bars) {
  return html("div", { class: "felt-row" }, html("span", { class: "felt-place", title: label }, label),
    html("div", { class: "felt-track" }, ...bars));
}

// Lammers lie by no spot, as stray chips do: in a row of their own.
const rowOf = (lay) => (lay.item === "lammer" ? "lammers" : lay.place);

function readBy(lay) {
  if (!lay.cameras) return "";
  return ` · by ${lay.cameras.join(", ")} ${lay.unread_by_first ? "alone" : "too"}`;
}

function layWords(lay) {
  if (!lay.cents) return lay.what;
  return lay.item === "display" ? dollars(lay.cents) : `${dollars(lay.cents, "chips")} (${lay.what})`;
}

function layTitle(lay, about) {
  const what = layWords(lay);
  const without = [lay.after_s && `until ${seconds(lay.after_s)}`, lay.before_s && `from ${seconds(lay.before_s)} on`];
  const known = without.filter(Boolean);
  return [`${what}, ${seconds(lay.from_s)} to ${seconds(lay.until_s)}`,
    ...(known.length ? [`place seen without it ${known.join(" and ")}`] : []),
    ...(lay.moved_from ? ["lay elsewhere before"] : []),
    ...(lay.laid_by ? [`when it came: ${lay.laid_by.map(ownerWords).join(", ")}`] : []),
    ...(lay.gone_by ? [`when it went: ${lay.gone_by.map(ownerWords).join(", ")}`] : []),
    ...(lay.gone_to ? [`went to the ${lay.gone_to} (inferred)`] : []),
    ...(lay.cameras ? [`read by ${lay.unread_by_first ? "" : "the first camera and "}${lay.cameras.join(", ")}`] : []),
    ...about.map((doubt) => `${doubt.what} undecided: ${doubt.why}`)].join("\n");
}

// `room`: how much of the track is free behind the bar, in percent.
function layBar(lay, at, doubts, room) {
  const about = doubts.filter((doubt) => doubt.lays.includes(lay.id));
  const what = layWords(lay);
  const shown = `${what}${readBy(lay)}`;
  const length = Math.max(Number(lay.until_s) - Number(lay.from_s), 0.01);
  const within = (time) => ((Number(time) - Number(lay.from_s)) / length) * 100;
  const needed = shown.length * LETTER_PERCENT;
  const beside = needed > at(lay.until_s) - at(lay.from_s) && needed < room;
  return bar(lay.from_s, lay.until_s, at, {
    class: `lay${about.length ? " undecided" : ""}${beside ? " words-beside" : ""}`,
    "data-item": lay.item, "data-what": lay.item === "lamp" ? lay.what : "", title: layTitle(lay, about),
  }, ...(lay.hidden ?? []).map((span) => bar(span.from_s, span.until_s, within, {
    class: "not-at-rest", title: hiddenWords(span),
  })), html("span", { class: "felt-words" }, shown));
}

const ownerWords = (by) => (by === "dealer" ? "the dealer's arm" : `arm of seat ${by}`);

// `cover`: the stack's line behind which it was hidden.
function hiddenWords(span) {
  const why = span.cover ? `behind ${layWords(span.cover)} (${placeWords(span.cover.place)})` : span.why;
  return [`${span.cover ? "not seen" : "not seen at rest"}: ${why}`, ...(span.by ?? []).map(ownerWords)].join(", ");
}

// A stack that changed as one for each of its sums, each until the next was first read.
function parts(lay) {
  if (!lay.sums) return [lay];
  const starts = [lay.from_s, ...lay.sums.slice(1).map((sum) => sum.from_s)];
  return lay.sums.map(({ what, cents }, number) => {
    const [from, until] = [starts[number], starts[number + 1] ?? lay.until_s];
    const hidden = (lay.hidden ?? []).map((span) => ({
      ...span, from_s: Math.max(Number(span.from_s), Number(from)), until_s: Math.min(Number(span.until_s), Number(until)),
    })).filter((span) => span.from_s < span.until_s);
    return { ...lay, what, cents, from_s: from, until_s: until, hidden };
  });
}

// One row takes things that lay there at the same time, as the cards of a hand do.
function placeRow(place, lays, at, doubts) {
  const groups = new Map();
  for (const lay of lays.flatMap(parts)) {
    const key = lay.item === "card" ? `${lay.from_s} ${lay.until_s}` : `${lay.id} ${lay.from_s}`;
    groups.set(key, [...(groups.get(key) ?? []), lay]);
  }
  const joined = [...groups.values()].map((group) => ({
    ...group[0], what: group.map((lay) => lay.what).join(" "),
    id: group.find((lay) => doubts.some((doubt) => doubt.lays.includes(lay.id)))?.id ?? group[0].id,
  }));
  const room = (lay) => Math.min(100, ...joined.map((other) => at(other.from_s)).filter((start) => start > at(lay.from_s)))
    - at(lay.until_s);
  return row(placeWords(place), ...joined.map((lay) => layBar(lay, at, doubts, room(lay))));
}

const isAlone = (doubt) => !doubt.lays.length && doubt.from_s !== undefined;

// What is undecided of things of which nothing lay there.
function doubtRow(alone, at) {
  if (!alone.length) return null;
  const [from, until] = [alone[0].from_s, alone[0].until_s];
  const text = alone.map((doubt) => `${words(doubt.what)}: ${doubt.why}`);
  return row(placeWords("undecided"), bar(from, until, at, { class: "lay undecided", "data-item": "doubt", title: text.join("\n") },
    html("span", { class: "felt-words" }, text.join("; "))));
}

function secondsRow(from, until, at, events) {
  const step = TICK_STEPS_S.find((one) => (until - from) / one <= MOST_TICKS) ?? TICK_STEPS_S.at(-1);
  const ticks = [];
  for (let tick = Math.ceil(from / step) * step; tick < until; tick += step) {
    ticks.push(bar(tick, tick, at, { class: "felt-tick" }, `${tick} s`));
  }
  return row("time", ...ticks, ...events.map((event) => bar(event.at_s, event.at_s, at,
    { class: "felt-event", title: `${eventWords(event)}, ${seconds(event.at_s)}` })));
}

function stepBar(step, at) {
  const course = COURSE_WORDS[step.course];
  return bar(step.from_s, step.until_s, at, {
    class: "step", "data-course": step.course ?? "in_order", "data-breach": step.breach ?? "",
    title: `${words(step.step)}${course ? `, ${course}` : ""}, ${seconds(step.from_s)} to ${seconds(step.until_s)}`,
  }, words(step.step));
}

function seatPart(seat, lays, steps, at, doubts) {
  const places = inOrder([...new Set(lays.map(rowOf))]);
  return html("div", { class: "felt-seat" }, html("h3", {}, seat === null ? "Dealer" : `Seat ${seat}`),
    steps.length ? row("steps", ...steps.map((step) => stepBar(step, at))) : null,
    ...places.map((place) => placeRow(place, lays.filter((lay) => rowOf(lay) === place), at, doubts)),
    doubtRow(doubts.filter((doubt) => isAlone(doubt) && (doubt.seat ?? null) === seat), at));
}

export function feltTimeline(lines) {
  const of = (kind) => lines.filter((line) => line.kind === kind);
  const [all, steps, phases, doubts] = [of("lay"), of("step"), of("phase"), of("undecided")];
  const lays = all.map((lay) => ({
    ...lay, hidden: (lay.hidden ?? []).map((span) => ({ ...span, cover: all.find(({ id }) => id === span.behind) })),
  }));
  const timed = [...lays, ...steps, ...phases];
  const from = Math.min(...timed.map((line) => Number(line.from_s)));
  const until = Math.max(...timed.map((line) => Number(line.until_s)), from + 1);
  const at = (time) => ((Number(time) - from) / (until - from)) * 100;
  const ofSeat = (list, seat) => list.filter((line) => (line.seat ?? null) === seat);
  const seats = [null, ...new Set([...lays, ...steps, ...doubts.filter(isAlone)].map((line) => line.seat ?? null)
    .filter((seat) => seat !== null).sort((a, b) => a - b))];
  return [
    ...of("event").map((event) => html("p", { class: "not-read" },
      `${eventWords(event)}, ${seconds(event.at_s)}${event.why ? `: ${event.why}` : ""}`)),
    secondsRow(from, until, at, of("event")),
    row("phase", ...phases.map((phase) => bar(phase.from_s, phase.until_s, at,
      { class: "felt-phase", title: `${words(phase.phase)} from ${seconds(phase.from_s)}` }, words(phase.phase)))),
    ...seats.map((seat) => seatPart(seat, ofSeat(lays, seat), ofSeat(steps, seat), at, doubts)),
    html("p", { class: "muted small" }, "Hatched: not seen at rest, taken to lie there. Outlined: something of it is undecided."),
  ];
}
