// The cards of the dealer and the seats: who has which, and who sets them.

export class Hand {
  constructor(name) {
    this.name = name; // "dealer" or a seat's number
    this.by = "house_way";
    this.cards = []; // set by the house way
    this.low = [];
    this.high = [];
    this.discard = null;
    this.box = "low";
    this.stakes = {};
    this.lammers = new Set();
    this.player = null;
  }

  get held() {
    return this.by === "house_way" ? this.cards : [...this.low, ...this.high, ...(this.discard ? [this.discard] : [])];
  }

  get place() {
    return this.name === "dealer" ? "dealer" : `seat ${this.name}`;
  }

  // Where the next card goes; null when there is no room.
  nextBox(size) {
    if (this.held.length >= size) return null;
    if (this.by === "house_way") return "cards";
    if (this.box === "low" && this.low.length < 2) return "low";
    if (this.high.length < 5) return "high";
    if (this.low.length < 2) return "low";
    return size === 8 && !this.discard ? "discard" : null;
  }

  add(card, size) {
    const box = this.nextBox(size);
    if (box === null) return false;
    if (box === "discard") this.discard = card;
    else this[box].push(card);
    if (box === "low" && this.low.length === 2) this.box = "high";
    return true;
  }

  remove(card) {
    for (const box of ["cards", "low", "high"]) this[box] = this[box].filter((one) => one !== card);
    if (this.discard === card) this.discard = null;
  }

  removeLast() {
    const last = this.held.at(-1);
    if (last) this.remove(last);
    return last;
  }

  clear() {
    [this.cards, this.low, this.high, this.discard, this.box] = [[], [], [], null, "low"];
  }

  // Setting by hand begins with the cards as the house way has set them.
  setBy(by, way) {
    if (by === this.by) return;
    if (by === "hand") {
      this.low = way ? [...way.low] : this.cards.slice(0, 2);
      this.high = way ? [...way.high] : this.cards.slice(2, 7);
      this.discard = way ? way.discard : this.cards[7] ?? null;
      this.box = this.low.length < 2 ? "low" : "high";
    } else {
      this.cards = this.held;
    }
    this.by = by;
  }

  question() {
    return {
      by: this.by, cards: this.by === "house_way" ? this.cards : [],
      ...(this.by === "hand" ? { low: this.low, high: this.high, discard: this.discard } : {}),
    };
  }
}
