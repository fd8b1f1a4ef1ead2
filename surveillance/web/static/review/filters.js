// Which images are gone through; kept in the address, so that a reload comes back to them.

const NO_SPLIT = "(none)";
const ADDRESS_PAUSE_MS = 100;
const $ = (id) => document.getElementById(id);

export class Filters {
  constructor(app, { splits, suggested }) {
    this.app = app;
    this.wanted = {}; // as the API takes it
    this.filtering = 0;
    for (const { name } of splits) {
      $("filter-split").append(name === null
        ? new Option("none", NO_SPLIT) : new Option(name, name));
    }
    for (const id of ["filter-show", "filter-split", "filter-label", "filter-order"]) {
      $(id).addEventListener("change", async () => app.pictures.go(
        await this.apply(id === "filter-order" && this.byDisagreement ? null : undefined)));
    }
    $("filter-order-all").hidden = !suggested;
    $("filters").addEventListener("submit", (event) => event.preventDefault());
  }

  get byDisagreement() {
    return $("filter-order").value === "disagreement";
  }

  // Returns the image to go to; null when there is none, or the filter changed again.
  async apply(id) {
    this.filtering += 1;
    const { filtering } = this;
    const show = $("filter-show").value;
    const split = $("filter-split").value;
    this.wanted = {
      split: split === NO_SPLIT ? "" : split || undefined,
      label: $("filter-label").value.trim() || undefined,
      confirmed: { unconfirmed: false, confirmed: true }[show],
      without_boxes: show === "empty" ? true : undefined,
      order: this.byDisagreement ? "disagreement" : undefined,
    };
    try {
      const about = id === null ? 0 : id ?? this.app.doc?.id ?? 0;
      await this.app.film.load(this.wanted, about);
      await this.app.film.recount();
      if (filtering !== this.filtering) return null;
      const isIn = this.app.film.items.some((line) => line.id === (id ?? this.app.doc?.id));
      if (id === null || !isIn) {
        const from = this.byDisagreement ? 0 : this.app.doc?.id ?? 0;
        const first = this.app.film.items.find((line) => line.id >= from)
          ?? this.app.film.items[0];
        if (first) return first.id;
        this.app.say("No image matches.");
        this.app.render();
      }
    } catch (error) {
      this.app.status.failed(error, this.app.saver);
    }
    return id ?? this.app.doc?.id ?? null;
  }

  writeAddress(id) {
    const values = { picture: id, show: $("filter-show").value,
      split: $("filter-split").value, label: $("filter-label").value.trim(),
      order: this.byDisagreement ? "disagreement" : "" };
    const kept = Object.entries(values).filter(([, value]) => value !== "");
    const address = `?${new URLSearchParams(kept)}`;
    // A browser stops taking addresses that change too often, as while a key is held down.
    clearTimeout(this.timer);
    const write = () => {
      this.written = performance.now();
      history.replaceState(null, "", address);
    };
    if (performance.now() - (this.written ?? -Infinity) > ADDRESS_PAUSE_MS) write();
    else this.timer = setTimeout(write, ADDRESS_PAUSE_MS);
  }

  readAddress() {
    const values = new URLSearchParams(location.search);
    $("filter-show").value = values.get("show") ?? "";
    $("filter-split").value = values.get("split") ?? "";
    $("filter-label").value = values.get("label") ?? "";
    $("filter-order").value = values.get("order") ?? "number";
    if ($("filter-order").selectedIndex < 0) $("filter-order").value = "number";
    if ($("filter-show").selectedIndex < 0) $("filter-show").value = "";
    if ($("filter-split").selectedIndex < 0) $("filter-split").value = "";
    const id = Number(values.get("picture"));
    return Number.isSafeInteger(id) && id > 0 ? id : null;
  }
}
