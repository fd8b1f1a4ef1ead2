// Badges: a sign and words for each state, so that none is shown by colour alone.

import { html } from "/static/shared/dom.js";

export const RESULTS = { win: "✓ win", lose: "✕ lose", push: "= push" };

const PHASES = {
  waiting: "waiting", bets: "bets lie", dealt: "cards dealt", drawing: "cards drawn",
  hands_set: "hands set", dealer_set: "dealer has set",
  settling: "settling", cleared: "cleared",
};

// Where a round stands, with its name.
export const phaseWords = (line) => [PHASES[line.phase] ?? line.phase, line.round_id].filter(Boolean).join(" · ");

export function badge(state, words, attributes = {}) {
  return html("span", { class: "badge", "data-state": state, ...attributes }, words);
}

export const severity = (alert) => badge(alert.kind, alert.severity);

// A further camera with its state; what is wrong with it is its title too.
export function furtherCamera(one) {
  const isWell = one.state === "running" && !one.message;
  const words = isWell || one.state !== "running" ? one.words : one.message;
  return html("span", { class: `further${isWell ? "" : " warned"}`, title: one.message },
    isWell ? "" : "◆ ", html("b", {}, one.name), ` ${words.toLowerCase()}`);
}

// The same where there is little room: the sign alone, its words for whoever asks.
export function sign(alert) {
  const words = alert.severity;
  return badge(alert.kind, "", { role: "img", "aria-label": words, title: words });
}

export const stateBadge = (alert) => badge(alert.state, alert.state);

export function percent(share, digits = 0) {
  return share === null || share === undefined ? "–" : `${(100 * share).toFixed(digits)}%`;
}

const LAMMERS = {
  ENVY: "lammer of the Envy Bonus",
  DEALER: "lammer: Pai Gow Insurance on the dealer's hand",
};

// The word of a lammer at a player's seat.
export const lammerElement = (word) => html("span", { class: "lammer", title: LAMMERS[word] ?? "lammer" }, word);
