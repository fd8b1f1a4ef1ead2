// The filters of the queue; they stand in the page's address, so that a view can be kept.

import { html } from "/static/shared/dom.js";

const HOUR_MS = 3_600_000;
const TIMES = [["", "any time"], ["1", "last hour"], ["8", "last 8 hours"], ["24", "last 24 hours"],
  ["today", "today"], ["168", "last 7 days"], ["custom", "from … to …"]];
const STATES = [["open", "open"], ["", "all"], ["confirmed", "confirmed"], ["rejected", "rejected"],
  ["corrected", "corrected"], ["case", "cases"]];
const SEATS = [1, 2, 3, 4, 5, 6, 7];

const select = (name, label, options) => html("label", { class: "field field-inline" },
  html("span", {}, label), html("select", { name, "aria-label": label },
    ...options.map(([value, words]) => html("option", { value }, words))));

export class Filters {
  constructor(form, start, changed) {
    this.form = form;
    form.append(
      select("state", "State", STATES),
      select("table", "Table", [["", "all"], ...start.tables.map((name) => [name, name])]),
      select("code", "Code", [["", "all"], ...start.codes.map(({ code, title }) => [code, `${code} · ${title}`])]),
      select("seat", "Seat", [["", "all"], ...SEATS.map((seat) => [String(seat), String(seat)])]),
      select("dealer", "Dealer", [["", "all"], ...start.dealers.map((name) => [name, name])]),
      select("time", "Time", TIMES),
      html("label", { class: "field field-inline", id: "span-from", hidden: true }, html("span", {}, "from"),
        html("input", { type: "datetime-local", name: "from" })),
      html("label", { class: "field field-inline", id: "span-to", hidden: true }, html("span", {}, "to"),
        html("input", { type: "datetime-local", name: "to" })),
      html("input", { type: "hidden", name: "recording" }),
      html("button", { class: "btn btn-quiet", type: "button", id: "clear-filters", hidden: true }, "Show all open"),
    );
    this.#read();
    form.addEventListener("change", () => { this.#shown(); this.#write(); changed(); });
    form.addEventListener("submit", (event) => event.preventDefault());
    form.querySelector("#clear-filters").addEventListener("click", () => {
      form.reset();
      form.elements.recording.value = ""; // hidden ones are not reset
      this.#shown();
      this.#write();
      changed();
    });
    this.#shown();
  }

  value(name) {
    return this.form.elements[name].value;
  }

  // Whether it is the queue as one finds it: all that is open.
  get isPlain() {
    return this.value("state") === "open"
      && ["table", "code", "seat", "dealer", "time", "recording"].every((name) => !this.value(name));
  }

  focus() {
    this.form.elements.state.focus();
  }

  // The values as the API takes them.
  wanted() {
    const state = this.value("state");
    return {
      ...this.#span(),
      state: state === "case" ? "" : state,
      case: state === "case" ? true : "",
      table: this.value("table"), code: this.value("code"), seat: this.value("seat"),
      dealer: this.value("dealer"), recording: this.value("recording"),
    };
  }

  #span() {
    const time = this.value("time");
    const iso = (ms) => new Date(ms).toISOString();
    if (time === "today") return { since: iso(new Date().setHours(0, 0, 0, 0)) };
    if (time === "custom") {
      const [from, to] = [this.value("from"), this.value("to")];
      return { since: from && iso(Date.parse(from)), until: to && iso(Date.parse(to)) };
    }
    return time ? { since: iso(Date.now() - Number(time) * HOUR_MS) } : {};
  }

  // Whether an alert may belong to the list; the event alone decides it.
  mayHold(event) {
    const table = this.value("table");
    return !table || event.table === table;
  }

  #shown() {
    const isCustom = this.value("time") === "custom";
    for (const id of ["span-from", "span-to"]) this.form.querySelector(`#${id}`).hidden = !isCustom;
    this.form.querySelector("#clear-filters").hidden = this.isPlain;
    for (const field of this.form.querySelectorAll("select")) {
      field.classList.toggle("is-set", field.name !== "state" && field.value !== "");
    }
  }

  #read() {
    const values = new URLSearchParams(location.search);
    for (const field of this.form.querySelectorAll("select, input")) {
      if (!values.has(field.name)) continue;
      const value = values.get(field.name);
      if (field.tagName === "SELECT" && ![...field.options].some((option) => option.value === value)) {
        field.append(html("option", { value }, value));
      }
      field.value = value;
    }
  }

  #write() {
    const values = new URLSearchParams();
    for (const field of this.form.querySelectorAll("select, input")) {
      const isDefault = field.name === "state" ? field.value === "open" : field.value === "";
      if (!isDefault) values.set(field.name, field.value);
    }
    history.replaceState(null, "", `${location.pathname}?${values}`);
  }
}
