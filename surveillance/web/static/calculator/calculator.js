// The settlement calculator: cards are laid, the server settles, the answer is drawn.

import { ApiError, attempt, post } from "/static/shared/api.js";
import { DECK, cardElement, cardWords, handElement } from "/static/shared/cards.js";
import { byId, dollars, html, startValues } from "/static/shared/dom.js";
import { isTyping, keys } from "/static/shared/keys.js";
import { Hand } from "/static/calculator/hands.js";
import { fromCents, toCents } from "/static/calculator/money.js";
import { RulesForm } from "/static/calculator/rulesform.js";

const ASK_AFTER_MS = 40;
const TYPING_MS = 2_000;
const GO_MS = 1_500;
const LARGEST_FILE = 300_000;
const MOST_SEATS = 7;
const { games, tables } = startValues();
const state = {
  tableFile: null, rules: structuredClone(games.games[0].example),
  hands: [new Hand("dealer"), new Hand(1)], active: 0, answer: null,
  banker: null, houseStake: null, meters: {}, drawn: {},
};

const form = new RulesForm(byId("rules"), games, { onChange: (rules) => { state.rules = rules; drawAll(); ask(); } });
const game = () => games.games.find((one) => one.id === state.rules.game) ?? games.games[0];
const size = (hand) => (hand.name === "dealer" ? game().dealer_cards : 7);
const offered = () => ["main", ...game().wagers.filter((w) => w !== "main" && w !== "envy" && state.rules.paytables?.[w])];
const tableOf = (wager) => games.pay_tables.find((t) => t.id === state.rules.paytables?.[wager]);
const active = () => state.hands[state.active];
const answerOf = (hand) => (hand.name === "dealer" ? state.answer?.dealer
  : state.answer?.seats.find((seat) => seat.seat === hand.name));
const owner = (card) => state.hands.find((hand) => hand.held.includes(card));

// ---- asking the server

let timer;
let asked = 0;

// What is shown is not the answer any more, and an answer still on its way is too late.
function ask() {
  asked += 1;
  document.body.dataset.settled = "false";
  clearTimeout(timer);
  timer = setTimeout(settle, ASK_AFTER_MS);
}

function question() {
  const [dealer, ...seats] = state.hands;
  const levels = Object.entries(state.meters).filter(([, cents]) => cents !== null);
  const drawn = Object.entries(state.drawn).filter(([, cents]) => cents);
  return {
    table_file: state.tableFile, rules: state.rules, dealer: dealer.question(),
    seats: seats.map((seat) => ({
      ...seat.question(), seat: seat.name, player: seat.player, lammers: [...seat.lammers],
      stakes: Object.fromEntries(Object.entries(seat.stakes).filter(([w, c]) => offered().includes(w) && c !== null)),
    })),
    banker: game().players_bank ? state.banker : null,
    house_stake_cents: game().players_bank && state.banker ? state.houseStake : null,
    meters: levels.map(([key, cents]) => {
      const [wager, level] = key.split(" ");
      return { wager, level: Number(level), cents };
    }).filter(({ wager }) => offered().includes(wager)),
    dynamic_pays: drawn.length ? drawn.map(([category, pay_cents]) => ({ category, pay_cents })) : null,
  };
}

async function settle() {
  const number = asked;
  try {
    const answer = await post("/api/calculator", question());
    if (number !== asked) return;
    state.answer = answer;
    drawProblems(answer.problems);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (number !== asked) return;
    drawProblems([{ place: "", message: error.message }]);
  }
  drawHands();
  drawSums();
  document.body.dataset.settled = "true";
}

// ---- laying cards

function warn(words) {
  byId("warning").textContent = words;
}

function lay(card) {
  const hand = active();
  const other = owner(card);
  if (other) {
    warn(`The ${cardWords(card)} is there already: ${other.place}. One pack has it once.`);
    return;
  }
  if (!hand.add(card, size(hand))) {
    warn(`The ${hand.place} has ${size(hand)} cards already.`);
    return;
  }
  warn("");
  if (hand.held.length === size(hand) && state.active < state.hands.length - 1 && state.hands[state.active + 1].held.length === 0) {
    state.active += 1;
  }
  changed();
}

function takeBack(hand, card) {
  hand.remove(card);
  state.active = state.hands.indexOf(hand);
  warn("");
  changed();
}

function changed() {
  drawPack();
  drawHands();
  ask();
}

function choose(place) {
  state.active = (place + state.hands.length) % state.hands.length;
  drawPack();
  drawHands();
}

function setBy(hand, by) {
  hand.setBy(by, answerOf(hand)?.house_way);
  changed();
}

function addSeat() {
  const free = Array.from({ length: MOST_SEATS }, (_, n) => n + 1).find((n) => !state.hands.some((h) => h.name === n));
  if (!free) return;
  state.hands.push(new Hand(free));
  state.active = state.hands.length - 1;
  drawExtras();
  changed();
}

function dropSeat(hand) {
  state.hands = state.hands.filter((one) => one !== hand);
  state.active = Math.min(state.active, state.hands.length - 1);
  if (state.banker === hand.name) state.banker = null;
  drawExtras();
  changed();
}

// ---- drawing

function drawProblems(problems) {
  const rest = form.faults(problems.filter((p) => p.place.startsWith("rules")));
  if (problems.length > rest.length && byId("rules").hidden && problems.some((p) => p.place.startsWith("rules"))) showRules(true);
  const others = [...problems.filter((p) => !p.place.startsWith("rules")), ...rest];
  byId("problems").replaceChildren(...others.map(({ place, message }) => html("li", { "data-place": place },
    place && place !== "round" ? `${place[0].toUpperCase()}${place.slice(1)}: ${message}` : message)));
}

const packCards = new Map();

function drawPack() {
  if (packCards.size === 0) {
    for (const card of DECK) packCards.set(card, cardElement(card, "button", { onclick: () => lay(card) }));
    byId("pack").append(...packCards.values());
  }
  for (const [card, node] of packCards) {
    const place = owner(card)?.place;
    node.setAttribute("aria-disabled", place ? "true" : "false");
    node.title = place ? `${cardWords(card)}: ${place}` : cardWords(card);
  }
  const hand = active();
  const box = hand.nextBox(size(hand));
  byId("laying-for").textContent = hand.name === "dealer" ? "the dealer" : `seat ${hand.name}`;
  const left = size(hand) - hand.held.length;
  byId("laying-left").textContent = left ? `${box === "cards" ? "" : `${box} hand, `}${left} to come` : "complete";
}

const head = (hand) => (hand.name === "dealer" ? "Dealer" : `Seat ${hand.name}`);

function boxNode(hand, name, title, cards, places) {
  const isTarget = hand === active() && hand.nextBox(size(hand)) === name;
  const slots = Array.from({ length: Math.max(0, places - cards.length) }, () => html("button", {
    class: "slot", type: "button", "aria-label": `${title}: lay here`, "data-focus": `${hand.name}.${name}.slot`,
    onclick: () => { if (name !== "cards") hand.box = name; choose(state.hands.indexOf(hand)); },
  }));
  return html("div", {}, html("span", { class: "box-name" }, title),
    html("div", { class: `box${isTarget ? " is-target" : ""}` },
      ...cards.map((card) => cardElement(card, "button", {
        title: `${cardWords(card)}: take back`, "data-focus": `${hand.name}.card.${card}`, onclick: () => takeBack(hand, card),
      })), ...slots));
}

function cardsNode(hand, answer) {
  if (hand.by === "house_way") {
    const way = answer?.house_way;
    if (way && hand.held.length === size(hand)) {
      return html("div", { class: "hand-cards" },
        named(boxNode(hand, "cards", "Low", way.low, 2), way.low_name),
        named(boxNode(hand, "cards", "High", way.high, 5), way.high_name),
        way.discard ? boxNode(hand, "cards", "Left out", [way.discard], 1) : null);
    }
    return html("div", { class: "hand-cards" }, boxNode(hand, "cards", "Cards", hand.cards, size(hand)));
  }
  return html("div", { class: "hand-cards" },
    named(boxNode(hand, "low", "Low", hand.low, 2), answer?.low?.name),
    named(boxNode(hand, "high", "High", hand.high, 5), answer?.high?.name),
    size(hand) === 8 ? boxNode(hand, "discard", "Left out", hand.discard ? [hand.discard] : [], 1) : null);
}

function named(node, name) {
  if (name) node.append(html("span", { class: "hand-name" }, name));
  return node;
}

function wayNode(hand, answer) {
  const way = answer?.house_way;
  if (!way) return null;
  const parts = [];
  if (hand.by === "hand") {
    parts.push(html("b", {}, answer.matches ? "As the house way sets it. " : "The house way sets it otherwise: "));
    if (!answer.matches) {
      parts.push(handElement(way.low), ` ${way.low_name} and `, handElement(way.high), ` ${way.high_name}. `);
    }
  }
  parts.push(html("b", {}, way.rule), `: ${way.why}`);
  if (way.alternatives.length) {
    parts.push(" As good: ", ...way.alternatives.flatMap(([low, high]) => [handElement(low), " and ", handElement(high), " "]));
  }
  return html("p", { class: "way" }, ...parts);
}

const OUTCOMES = { win: ["ok", "win"], push: ["check", "push"], lose: ["quiet", "lose"] };

function wagerRow(hand, wager, due) {
  const key = `${hand.name}.${wager}`;
  const stake = wager === "envy" ? html("span", { class: "muted" }, "prize") : html("input", {
    class: "stake", type: "text", inputmode: "decimal", "data-focus": key, value: fromCents(hand.stakes[wager]),
    placeholder: "no stake", "aria-label": `${games.wager_titles[wager] ?? wager}: stake in dollars`,
    oninput: (event) => {
      const cents = toCents(event.target.value);
      event.target.setAttribute("aria-invalid", cents === undefined ? "true" : "false");
      if (cents === undefined) { warn("Write a stake in dollars, such as 25 or 2.50."); return; }
      warn("");
      if (cents === null) delete hand.stakes[wager];
      else hand.stakes[wager] = cents;
      ask();
    },
  });
  const [kind, word] = due ? OUTCOMES[due.outcome] ?? ["undecided", "not decided"] : ["", ""];
  const pay = !due ? "" : due.pay_cents === null ? "?" : dollars(due.pay_cents);
  return html("tr", { "data-wager": wager },
    html("th", { scope: "row" }, games.wager_titles[wager] ?? wager), html("td", { class: "num" }, stake),
    html("td", {}, due ? html("span", { class: "badge", "data-state": kind }, word) : ""),
    html("td", { class: "num pay" }, pay,
      due?.commission_cents ? html("small", { class: "muted" }, ` − ${dollars(due.commission_cents)} taken`) : null,
      due?.hand_pay ? html("span", { class: "badge", "data-state": "check" }, "hand pay") : null),
    html("td", { class: "why" }, [due?.why, due?.undecided].filter(Boolean).join("; "),
      due?.rule_text ? html("small", { class: "rule" }, due.rule_text) : null));
}

function wagersNode(hand, answer) {
  const dues = hand.name === "dealer" ? state.answer?.dealer_wagers ?? [] : answer?.wagers ?? [];
  const names = hand.name === "dealer" ? dues.map((due) => due.wager) : offered();
  const extra = hand.name === "dealer" ? [] : dues.filter((due) => !names.includes(due.wager)).map((due) => due.wager);
  if (names.length + extra.length === 0) return null;
  return html("table", { class: "grid-table" },
    html("thead", {}, html("tr", {}, ...["Wager", "Stake", "Outcome", "Payout", "Why, and the rule that says so"].map((title, n) => html("th", {
      scope: "col", class: n === 1 || n === 3 ? "num" : undefined,
    }, title)))),
    html("tbody", {}, ...[...names, ...extra].map((wager) => (hand.name === "dealer"
      ? houseRow(dues.find((due) => due.wager === wager)) : wagerRow(hand, wager, dues.find((due) => due.wager === wager))))));
}

function houseRow(due) {
  const [kind, word] = OUTCOMES[due.outcome] ?? ["undecided", "not decided"];
  return html("tr", {}, html("th", { scope: "row" }, due.title), html("td", { class: "num" }, dollars(due.stake_cents)),
    html("td", {}, html("span", { class: "badge", "data-state": kind }, word)), html("td", { class: "num pay" }, dollars(due.pay_cents)),
    html("td", { class: "why" }, [due.why, due.undecided].filter(Boolean).join("; "), due.rule_text ? html("small", { class: "rule" }, due.rule_text) : null));
}

function handPanel(hand) {
  const answer = answerOf(hand);
  const title = head(hand);
  const isActive = hand === active();
  const toggle = (by, words) => html("button", {
    class: "btn", type: "button", "aria-pressed": hand.by === by ? "true" : "false", "data-focus": `${hand.name}.by.${by}`,
    onclick: () => setBy(hand, by),
  }, words);
  const lammers = hand.name === "dealer" ? [] : game().lammers.map((kind) => html("label", { class: "row" }, html("input", {
    type: "checkbox", checked: hand.lammers.has(kind), "data-focus": `${hand.name}.lammer.${kind}`,
    onchange: (event) => { if (event.target.checked) hand.lammers.add(kind); else hand.lammers.delete(kind); ask(); },
  }), html("span", { class: "lammer" }, kind.toUpperCase())));
  return html("section", { class: `panel hand-panel${isActive ? " is-active" : ""}`, "data-hand": hand.name, "aria-label": title },
    html("div", { class: "hand-head" },
      html("h2", {}, html("button", {
        type: "button", "data-focus": `${hand.name}.head`, "aria-current": isActive ? "true" : undefined, onclick: () => choose(state.hands.indexOf(hand)),
      }, title)),
      toggle("house_way", "house way"), toggle("hand", "by hand"), ...lammers,
      answer?.pai_gow ? html("span", { class: "badge", "data-state": "check" }, `${answer.pai_gow} pai gow`) : null,
      answer?.foul ? html("span", { class: "badge", "data-state": "high" }, "foul") : null,
      hand.by === "hand" && answer?.matches === false && hand.name === "dealer" ? html("span", { class: "badge", "data-state": "high" }, "not the house way") : null,
      html("span", { class: "muted" }, hand.held.length && answer?.undecided ? answer.undecided : ""),
      html("span", { class: "gap" }),
      hand.name === "dealer" ? html("button", { class: "btn", type: "button", "data-focus": "add", onclick: addSeat }, html("kbd", {}, "+"), " seat")
        : html("button", { class: "btn btn-quiet", type: "button", "data-focus": `${hand.name}.drop`, "aria-label": `Take seat ${hand.name} away`, onclick: () => dropSeat(hand) }, "✕")),
    cardsNode(hand, answer),
    answer?.foul_reason ? html("p", { class: "error" }, `Foul: ${answer.foul_reason}`) : null,
    wayNode(hand, answer), wagersNode(hand, answer));
}

const panels = new Map(); // by hand: its panel, and its HTML when it was made

// An unchanged panel stays. Nothing is redrawn under a pointer or a key that is down:
// the click that follows would be lost with the button.
function drawHands() {
  if (pressed.by.size > 0) {
    pressed.then = drawHands;
    return;
  }
  pressed.then = null;
  const { activeElement: old } = document;
  const focus = old?.dataset?.focus;
  const nodes = state.hands.map((hand) => {
    const node = handPanel(hand);
    const made = node.outerHTML;
    if (panels.get(hand)?.made !== made) panels.set(hand, { made, node });
    return panels.get(hand).node;
  });
  for (const hand of panels.keys()) if (!state.hands.includes(hand)) panels.delete(hand);
  const list = byId("hands");
  for (const node of [...list.children]) if (!nodes.includes(node)) node.remove();
  nodes.forEach((node, n) => { if (list.children[n] !== node) list.insertBefore(node, list.children[n] ?? null); });
  if (focus && !old.isConnected) focusAgain(focus, old);
}

// The focus on what took the place of an element; on the hand's next card or slot for a card
// that was taken back, on the dealer for a seat that is gone.
function focusAgain(focus, old) {
  const list = byId("hands");
  const [name] = focus.split(".");
  const node = list.querySelector(`[data-focus="${focus}"]`)
    ?? list.querySelector(`[data-hand="${name}"] .box :is(.slot, .pcard)`)
    ?? list.querySelector("[data-focus='dealer.head']");
  if (!node) return;
  if (node.type === "text") node.value = old.value;
  node.focus({ preventScroll: true });
  if (node.type === "text") node.setSelectionRange(old.selectionStart, old.selectionEnd);
}

const pressed = { by: new Set(), then: null };

function letGo(...by) {
  for (const one of by) pressed.by.delete(one);
  if (pressed.by.size === 0 && pressed.then) setTimeout(() => pressed.then?.()); // after the click itself
}

byId("hands").addEventListener("pointerdown", () => pressed.by.add("pointer"));
byId("hands").addEventListener("keydown", (event) => { if (event.key === " " && /** @type {PageElement} */ (event.target).type === "button") pressed.by.add(" "); });
for (const what of ["pointerup", "pointercancel"]) window.addEventListener(what, () => letGo("pointer"), true);
window.addEventListener("keyup", (event) => { if (event.key === " ") letGo(" "); }, true);
window.addEventListener("blur", () => letGo("pointer", " ")); // of the window alone: it does not bubble

function drawSums() {
  byId("sums").replaceChildren(...(state.answer?.sums ?? []).map(({ party, cents }) => html("span", { class: "sum", "data-party": party },
    `${party} `, html("b", {}, `${cents > 0 ? "+" : ""}${dollars(cents)}`))));
}

function amountField(title, value, change) {
  const input = html("input", {
    type: "text", inputmode: "decimal", value: fromCents(value), placeholder: "not known",
    onchange: (event) => {
      const cents = toCents(event.target.value);
      event.target.setAttribute("aria-invalid", cents === undefined ? "true" : "false");
      if (cents !== undefined) { change(cents); ask(); }
    },
  });
  return html("label", { class: "field" }, html("span", {}, `${title} ($)`), input);
}

function drawExtras() {
  const nodes = [];
  const own = game();
  if (own.players_bank) {
    nodes.push(html("label", { class: "field" }, html("span", {}, "Who banks"), html("select", {
      onchange: (event) => { state.banker = Number(event.target.value) || null; drawExtras(); ask(); },
    }, html("option", { value: "" }, "the house"), ...state.hands.slice(1).map((hand) => html("option", {
      value: hand.name, selected: state.banker === hand.name,
    }, `seat ${hand.name}`)))));
    if (state.banker) nodes.push(amountField("The house's own wager", state.houseStake, (cents) => { state.houseStake = cents; }));
  }
  for (const wager of own.jackpots) {
    const table = tableOf(wager);
    for (let level = 1; level <= (table?.meters ?? 0); level += 1) {
      const key = `${wager} ${level}`;
      const name = `Meter of ${games.wager_titles[wager] ?? wager}${table.meters > 1 ? `, level ${level}` : ""}`;
      nodes.push(amountField(name, state.meters[key] ?? null, (cents) => { state.meters[key] = cents; }));
    }
    for (const [category, sums] of Object.entries(table?.dynamic ?? {})) {
      nodes.push(html("label", { class: "field" }, html("span", {}, `Drawn: ${category.replaceAll("_", " ")}`), html("select", {
        onchange: (event) => { state.drawn[category] = Number(event.target.value) || null; ask(); },
      }, html("option", { value: "" }, "as printed"), ...sums.map((cents) => html("option", { value: cents, selected: state.drawn[category] === cents }, dollars(cents))))));
    }
  }
  byId("extras").replaceChildren(nodes.length ? html("div", { class: "extras-grid" }, ...nodes) : "");
}

function drawAll() {
  drawPack();
  drawHands();
  drawExtras();
}

// ---- the rules

function showRules(shown) {
  byId("rules").hidden = !shown;
  byId("show-rules").setAttribute("aria-pressed", String(shown));
}

function useRules(rules, tableFile = null) {
  state.rules = structuredClone(rules);
  state.tableFile = tableFile;
  state.meters = {};
  state.drawn = {};
  state.banker = null;
  form.show(state.rules);
  drawAll();
  ask();
}

const sources = new Map();

function drawSources(chosen) {
  byId("rules-from").replaceChildren(
    ...(tables.length ? [html("optgroup", { label: "Table files" }, ...[...sources].filter(([key]) => !key.startsWith("game "))
      .map(([key, { title }]) => html("option", { value: key, selected: key === chosen }, title)))] : []),
    html("optgroup", { label: "A usual table of" }, ...[...sources].filter(([key]) => key.startsWith("game "))
      .map(([key, { title }]) => html("option", { value: key, selected: key === chosen }, title))),
  );
}

for (const table of tables) sources.set(`file ${table.id}`, { title: `Table ${table.table}`, rules: table.rules, id: table.id });
for (const one of games.games) sources.set(`game ${one.id}`, { title: one.title, rules: one.example, id: null });

byId("rules-from").addEventListener("change", (event) => {
  const { rules, id } = sources.get(/** @type {PageElement} */ (event.target).value);
  useRules(rules, id);
});
byId("show-rules").addEventListener("click", () => showRules(byId("rules").hidden));
byId("clear").addEventListener("click", clearCards);
byId("own-file").addEventListener("click", () => byId("own-file-input").click());
byId("own-file-input").addEventListener("change", (event) => attempt(async () => {
  const field = /** @type {PageElement} */ (event.target);
  const [file] = field.files;
  field.value = "";
  if (!file) return;
  if (file.size > LARGEST_FILE) throw new ApiError(0, `${file.name} is too large for a table file`);
  const read = await post("/api/calculator/tablefile", { toml: await file.text() });
  const key = `own ${file.name}`;
  tables.push(read);
  sources.set(key, { title: `${file.name} (table ${read.table})`, rules: read.rules, id: null });
  drawSources(key);
  useRules(read.rules);
}));

function clearCards() {
  for (const hand of state.hands) hand.clear();
  state.active = 0;
  warn("");
  changed();
}

// ---- the keyboard

let rank = "";
let rankTimer;
let wentAt = 0;

function typeRank(letter) {
  rank = letter;
  byId("typed").textContent = letter;
  clearTimeout(rankTimer);
  if (letter) rankTimer = setTimeout(() => typeRank(""), TYPING_MS);
}

// Before the keys of the frame: a rank and a suit are two keys.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || document.querySelector("dialog[open]")) return;
  const letter = event.key.toUpperCase();
  if (event.key === "g") { wentAt = Date.now(); return; }
  if (Date.now() - wentAt < GO_MS && !rank) { wentAt = 0; return; }
  if (rank && "CDHS".includes(letter) && letter.length === 1) {
    lay(rank + letter);
    typeRank("");
  } else if (letter.length === 1 && "23456789TJQKA".includes(letter)) {
    typeRank(letter);
  } else if (letter === "0" && rank === "1") {
    typeRank("T");
  } else if (letter === "1") {
    typeRank("1");
  } else if (letter === "X") {
    lay("JOKER");
    typeRank("");
  } else {
    if (rank && event.key.length === 1) { warn(`${rank}${letter} is no card: a rank, then C, D, H or S.`); typeRank(""); event.preventDefault(); }
    return;
  }
  event.preventDefault();
}, true);

keys.add("Calculator", [
  ["A S", "lay the ace of spades; T for ten"],
  ["X", "lay the joker"],
  ["Backspace", "take the last card back", () => { active().removeLast(); warn(""); changed(); }],
  ["]", "next hand", () => choose(state.active + 1)],
  ["[", "hand before", () => choose(state.active - 1)],
  ["w", "set by hand, or by the house way", () => setBy(active(), active().by === "hand" ? "house_way" : "hand")],
  [".", "other box, when setting by hand", () => { const hand = active(); hand.box = hand.box === "low" ? "high" : "low"; drawPack(); drawHands(); }],
  ["+", "another seat", addSeat],
  ["o", "options and pay tables", () => showRules(byId("rules").hidden)],
  ["Delete", "clear the cards", clearCards],
]);

const first = tables.length ? `file ${tables[0].id}` : `game ${games.games[0].id}`;
drawSources(first);
useRules(sources.get(first).rules, sources.get(first).id);
