// Chips and lammers of a table: names, values, colours.

import { html, svg } from "/static/shared/dom.js";
import { fromCents, toCents } from "/static/calculator/money.js";

const hex = (rgb) => `#${(rgb ?? [128, 128, 128]).map((v) => Math.min(255, Math.max(0, v)).toString(16).padStart(2, "0")).join("")}`;
const rgbOf = (text) => [1, 3, 5].map((n) => parseInt(text.slice(n, n + 2), 16));

function renamed(object, from, to) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key === from ? to : key, value]));
}

export class ChipsEditor {
  constructor(node, draft) {
    this.node = node;
    this.draft = draft;
  }

  show() {
    const focused = document.activeElement?.dataset?.key;
    const { data } = this.draft;
    this.node.replaceChildren(html("div", { class: "chips-grid" },
      html("section", { "aria-label": "The table's name" }, html("h2", {}, "Table"),
        html("label", { class: "field" }, html("span", {}, "Name, as in round ids"), this.input("table", data.table ?? "", (text) => this.change((d) => { d.table = text; }))),
        html("span", { class: "fault", "data-fault": "table" })),
      html("section"),
      html("section", { "aria-label": "Chips" }, html("h2", {}, "Chips by colour"), ...Object.entries(data.chips ?? {}).map(([name, chip]) => this.chip(name, chip)),
        html("span", { class: "fault", "data-fault": "chips" }),
        this.adder("chip", (d, name) => { d.chips = { ...d.chips, [name]: { value_cents: 500, rgb: [160, 160, 160] } }; })),
      html("section", { "aria-label": "Lammers" }, html("h2", {}, "Lammers"), ...Object.entries(data.lammers ?? {}).map(([name, one]) => this.lammer(name, one)),
        html("span", { class: "fault", "data-fault": "lammers" }),
        this.adder("lammer", (d, name) => { d.lammers = { ...d.lammers, [name]: { word: name.toUpperCase(), rgb: [240, 214, 60] } }; }))));
    this.faults(this.draft.faults);
    if (focused) this.node.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  }

  input(key, value, change, attributes = {}) {
    return html("input", { type: "text", value, "data-key": key, autocomplete: "off", ...attributes, onchange: (event) => change(event.target.value.trim(), event.target) });
  }

  change(act) {
    this.draft.change(act);
    this.show();
  }

  colour(part, name, rgb) {
    return html("input", { type: "color", value: hex(rgb), "aria-label": `Colour of ${name}`, "data-key": `${part}.${name}.rgb`,
      onchange: (event) => this.change((d) => { d[part][name].rgb = rgbOf(event.target.value); }) });
  }

  name(part, name) {
    return this.input(`${part}.${name}`, name, (text) => { if (text && !this.draft.data[part][text]) this.change((d) => { d[part] = renamed(d[part], name, text); }); else this.show(); },
      { class: "name", "aria-label": `Name of ${name}` });
  }

  away(part, name) {
    return html("button", { class: "btn btn-quiet", type: "button", "aria-label": `Take ${name} away`, onclick: () => this.change((d) => { delete d[part][name]; }) }, "✕");
  }

  chip(name, chip) {
    const value = this.input(`chips.${name}.value_cents`, fromCents(chip.value_cents), (text, node) => {
      const cents = toCents(text);
      if (cents === null || cents === undefined) { node.setAttribute("aria-invalid", "true"); this.told(`chips.${name}`, "write a sum in dollars, such as 5 or 0.50"); return; }
      this.change((d) => { d.chips[name].value_cents = cents; });
    }, { inputmode: "decimal", "aria-label": `Value of ${name} in dollars` });
    return html("div", { class: "chip-line", "data-chip": name }, this.face(chip.rgb), this.name("chips", name), html("label", { class: "row nowrap" }, "$", value),
      this.colour("chips", name, chip.rgb), this.away("chips", name), html("span", { class: "fault", "data-fault": `chips.${name}` }));
  }

  lammer(name, one) {
    const word = this.input(`lammers.${name}.word`, one.word ?? "", (text) => this.change((d) => { d.lammers[name].word = text; }), { "aria-label": `Word on ${name}` });
    return html("div", { class: "chip-line" }, this.face(one.rgb), this.name("lammers", name), word, this.colour("lammers", name, one.rgb),
      this.away("lammers", name), html("span", { class: "fault", "data-fault": `lammers.${name}` }));
  }

  face(rgb) {
    return svg("svg", { class: "chip-face", viewBox: "0 0 20 20", "aria-hidden": "true" },
      svg("circle", { cx: 10, cy: 10, r: 9, fill: hex(rgb), stroke: "#fff8", "stroke-width": 1 }),
      svg("circle", { cx: 10, cy: 10, r: 6, fill: "none", stroke: "#fff6", "stroke-dasharray": "3 3" }));
  }

  adder(what, add) {
    const input = html("input", { type: "text", placeholder: `new ${what}`, "aria-label": `Name of a new ${what}`, maxlength: "30" });
    return html("form", { class: "row", onsubmit: (event) => { event.preventDefault(); const name = input.value.trim().toLowerCase(); if (name) this.change((d) => add(d, name)); } },
      input, html("button", { class: "btn", type: "submit" }, `Add the ${what}`));
  }

  told(key, message) {
    const node = this.node.querySelector(`[data-fault="${CSS.escape(key)}"]`);
    if (node) node.textContent = message;
    return Boolean(node);
  }

  faults(list) {
    for (const node of this.node.querySelectorAll("[data-fault]")) node.textContent = "";
    return list.filter(({ place, message }) => {
      for (let key = place; key; key = key.includes(".") ? key.slice(0, key.lastIndexOf(".")) : "") {
        if (this.told(key, message)) return false;
      }
      return true;
    });
  }
}
