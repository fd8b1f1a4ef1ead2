// The 53 cards as people recognise them.

export const SUITS = ["S", "H", "D", "C"];
export const RANKS = ["A", "K", "Q", "J", "T", "9", "8", "7", "6", "5", "4", "3", "2"];
const SIGNS = { S: "♠", H: "♥", D: "♦", C: "♣" };
const SUIT_WORDS = { S: "spades", H: "hearts", D: "diamonds", C: "clubs" };
const RANK_WORDS = { A: "ace", K: "king", Q: "queen", J: "jack", T: "ten" };
const PLAIN = "\ufe0e"; // asks for the plain sign of a suit, not the emoji

export const DECK = [...SUITS.flatMap((suit) => RANKS.map((rank) => rank + suit)), "JOKER"];
const IN_DECK = new Set(DECK);

export const isCard = (label) => IN_DECK.has(label);

// {rank, sign, tone, words}; for other labels the rank is the label itself.
export function face(label) {
  if (label === "JOKER") return { rank: "★", sign: "JKR", tone: "joker", words: "joker" };
  if (!isCard(label)) return { rank: label, sign: "", tone: "other", words: label };
  const [rank, suit] = label;
  return {
    rank: rank === "T" ? "10" : rank,
    sign: SIGNS[suit] + PLAIN,
    tone: { S: "spade", H: "heart", D: "diamond", C: "club" }[suit],
    words: `${RANK_WORDS[rank] ?? rank} of ${SUIT_WORDS[suit]}`,
  };
}

export function shortName(label) {
  const { rank, sign } = face(label);
  return label === "JOKER" ? "★ JOKER" : rank + sign;
}

// What a person may type for a label: "10s", "t♠" and "TS" are one.
export function typed(text) {
  return text.trim().toUpperCase()
    .replace(/^10(?=[SHDC♠♥♦♣])/u, "T")
    .replace(/♠/gu, "S").replace(/♥/gu, "H").replace(/♦/gu, "D").replace(/♣/gu, "C")
    .replace(PLAIN, "");
}
