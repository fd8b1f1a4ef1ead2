// Which boxes are selected: one of them first, whose name and handles are shown.

export class Selection {
  constructor() {
    this.first = null;
    this.uids = new Set();
  }

  get size() {
    return this.uids.size;
  }

  has(uid) {
    return this.uids.has(uid);
  }

  only(uid) {
    this.first = uid;
    this.uids = new Set(uid === null ? [] : [uid]);
  }

  all(uids, first = uids[0] ?? null) {
    this.uids = new Set(uids);
    this.first = this.uids.has(first) ? first : uids[0] ?? null;
  }

  // One more, or one less.
  toggle(uid) {
    if (this.uids.has(uid)) {
      this.uids.delete(uid);
      if (this.first === uid) this.first = this.uids.values().next().value ?? null;
    } else {
      this.uids.add(uid);
      this.first = uid;
    }
    this.uids = new Set(this.uids);
  }

  // Let go of boxes that are no longer there.
  keep(boxes) {
    const there = new Set(boxes.map((box) => box.uid));
    this.all([...this.uids].filter((uid) => there.has(uid)), this.first);
  }
}
