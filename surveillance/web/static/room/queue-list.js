// The list of alerts: pages as one goes down; what comes in meanwhile moves nothing.

import { attempt, get } from "/static/shared/api.js";
import { html, moment } from "/static/shared/dom.js";
import { sign, stateBadge } from "/static/room/signs.js";

const PAGE = 60;
const NEAR_END = 15;
const ASK_AGAIN_MS = 4_000; // while the database cannot be asked

export class AlertList {
  // `chosen(line)` is called with the alert that is gone to, null when there is none.
  constructor({ list, foot, fresh, filters, chosen }) {
    this.list = list;
    this.foot = foot;
    this.fresh = fresh;
    this.filters = filters;
    this.chosen = chosen;
    this.lines = [];
    this.at = -1;
    this.next = null;
    this.waiting = new Set();
    list.addEventListener("click", (event) => {
      const item = event.target.closest("li");
      if (item) this.go(this.lines.findIndex((line) => line.id === Number(item.dataset.id)));
    });
    list.addEventListener("scroll", () => {
      if (list.scrollTop + list.clientHeight > list.scrollHeight - 400) this.more();
    });
    fresh.addEventListener("click", () => this.load());
  }

  get current() {
    return this.lines[this.at] ?? null;
  }

  // Load from the top; stay on `id` when it is among them.
  async load(id = this.current?.id) {
    const asked = this.asked = Symbol("asked");
    const page = await attempt(() => get("/api/alerts", { ...this.filters.wanted(), limit: PAGE }));
    if (asked !== this.asked) return;
    if (!page) {
      this.foot.textContent = "▲ This list cannot be read now; it is asked for again by itself.";
      this.foot.classList.add("warned");
      clearTimeout(this.again);
      this.again = setTimeout(() => this.load(id), ASK_AGAIN_MS);
      return;
    }
    this.lines = page.alerts;
    this.next = page.next;
    this.#know(page);
    this.waiting.clear();
    this.#fresh();
    this.list.replaceChildren(...this.lines.map((line) => this.#item(line)));
    const at = this.lines.findIndex((line) => line.id === id);
    this.at = -1;
    this.go(at < 0 ? 0 : at);
    this.#foot();
  }

  // Alerts that came since the list was loaded without an event.
  async look() {
    const { asked } = this;
    let page;
    try {
      page = await get("/api/alerts", { ...this.filters.wanted(), limit: PAGE });
    } catch {
      // The banner of the lost connection says it.
    }
    if (asked !== this.asked || !(page || this.asOf)) return;
    this.#know(page ?? { as_of: this.asOf });
    this.#foot();
    for (const line of page?.alerts ?? []) {
      const own = this.lines.find((other) => other.id === line.id);
      if (!own) this.arrived(line.id);
      else if (own.state !== line.state) this.update(line);
    }
  }

  // A list that the server remembers may lack alerts: it is asked for until it is the database's.
  #know(page) {
    this.asOf = page.as_of;
    clearTimeout(this.again);
    if (this.asOf) this.again = setTimeout(() => this.look(), ASK_AGAIN_MS);
  }

  async more() {
    if (!this.next || this.loading) return;
    this.loading = true;
    const page = await attempt(() => get("/api/alerts", {
      ...this.filters.wanted(), limit: PAGE, cursor: this.next,
    }));
    this.loading = false;
    if (!page) return;
    const there = new Set(this.lines.map((line) => line.id));
    const added = page.alerts.filter((line) => !there.has(line.id));
    this.lines.push(...added);
    this.next = page.next;
    this.list.append(...added.map((line) => this.#item(line)));
    this.#foot();
  }

  go(at) {
    if (!this.lines.length) {
      this.at = -1;
      this.chosen(null);
      return;
    }
    const place = Math.max(0, Math.min(this.lines.length - 1, at));
    if (place !== this.at) {
      this.at = place;
      this.#mark();
      this.chosen(this.current);
    }
    if (this.lines.length - place < NEAR_END) this.more();
  }

  step(by) {
    this.go(this.at + by);
  }

  // To the next alert that waits for a verdict, below first, else above; whether there is one.
  nextOpen() {
    const after = this.lines.findIndex((line, n) => n > this.at && line.state === "open");
    const found = after >= 0 ? after : this.lines.findIndex((line) => line.state === "open");
    if (found >= 0) this.go(found);
    return found >= 0;
  }

  // An alert that one came for but that is not among those shown: it stands on top.
  pin(line) {
    this.lines.unshift(line);
    this.list.prepend(this.#item(line));
    this.at = -1;
    this.go(0);
  }

  // An alert as it is now: its line changes where it stands, no other one moves.
  update(line) {
    const at = this.lines.findIndex((other) => other.id === line.id);
    if (at < 0) return;
    this.lines[at] = line;
    this.list.children[at].replaceWith(this.#item(line));
    this.#mark(false);
  }

  // Something came in: it is counted above the list until one asks for it.
  arrived(id) {
    if (this.lines.some((line) => line.id === id)) return;
    this.waiting.add(id);
    if (!this.lines.length) this.load();
    else this.#fresh();
  }

  #fresh() {
    const many = this.waiting.size;
    this.fresh.hidden = many === 0;
    this.fresh.replaceChildren("▲ ", `${many} new alert${many === 1 ? "" : "s"} `, html("kbd", {}, "."));
  }

  #foot() {
    const many = this.lines.length;
    const count = many === 0 ? "" : this.next ? `${many} shown, more below` : `${many} in all`;
    this.foot.textContent = this.asOf ? `${count} ▲ as of ${moment(this.asOf)}: later ones are not shown yet` : count;
    this.foot.classList.toggle("warned", Boolean(this.asOf));
  }

  #mark(scroll = true) {
    [...this.list.children].forEach((item, n) => item.setAttribute("aria-selected", String(n === this.at)));
    const item = this.list.children[this.at];
    if (!item) return;
    this.list.setAttribute("aria-activedescendant", item.id);
    if (scroll) item.scrollIntoView({ block: "nearest" });
  }

  #item(line) {
    return html("li", {
      id: `alert-${line.id}`, "data-id": line.id, "data-kind": line.kind, "data-state": line.state,
      role: "option", "aria-selected": "false",
    },
    html("p", { class: "item-top" }, sign(line), html("strong", { title: line.title }, line.title),
      line.case ? html("span", { class: "flag", title: "a case" }, "⚑") : null,
      line.state === "open" ? null : stateBadge(line)),
    html("p", { class: "item-low" }, html("span", {}, `${line.table} · ${line.place}`),
      html("span", { class: "gap" }), line.has_clip ? html("span", { title: "with a clip" }, "▶") : null,
      html("span", { class: "nowrap" }, moment(line.at))));
  }
}
