// The rules of a table as a form made from what the server says there is to choose.
//
//   const form = new RulesForm(container, games, { onChange: (rules) => … });
//   form.show(rules);          rules as [rules] of a table file, defaults left out
//   form.faults(list);         {place: "rules.limits.main.min_cents", message}; gives back the rest

import { html, wagerName } from "/static/shared/dom.js";
import { fromCents, toCents } from "/static/calculator/money.js";

let numbers = 0;

function at(object, key) {
  return key.split(".").reduce((inner, part) => inner?.[part], object);
}

// Put a value at a key, or take it away (undefined) with the parts that become empty.
function put(object, key, value) {
  const [part, ...rest] = key.split(".");
  if (rest.length === 0) {
    if (value === undefined) delete object[part];
    else object[part] = value;
    return;
  }
  const inner = { ...object[part] };
  put(inner, rest.join("."), value);
  if (Object.keys(inner).length === 0) delete object[part];
  else object[part] = inner;
}

const words = (value) => String(value).replaceAll("_", " ");

export class RulesForm {
  constructor(container, games, { onChange, ownTables = false }) {
    this.container = container;
    this.games = games;
    this.onChange = onChange;
    this.ownTables = ownTables;
    this.fields = new Map();
    this.rules = {};
  }

  get game() {
    return this.games.games.find((game) => game.id === this.rules.game);
  }

  title(wager) {
    return this.games.wager_titles[wager] ?? wagerName(wager);
  }

  show(rules) {
    this.rules = structuredClone(rules);
    this.draw();
  }

  change(key, value, redraw = false) {
    put(this.rules, key, value);
    if (redraw) this.draw();
    this.onChange(structuredClone(this.rules));
  }

  draw() {
    const focused = document.activeElement?.dataset?.key;
    const opened = [...this.container.querySelectorAll("details[open]")].map((n) => n.dataset.part);
    this.fields.clear();
    const parts = [this.drawGame(), this.drawWagers(), ...this.drawOptions()];
    const form = html("div", { class: "rules-form" }, ...parts.flat().filter(Boolean));
    this.container.replaceChildren(form);
    for (const node of form.querySelectorAll("details")) node.open = opened.includes(node.dataset.part);
    if (focused) this.container.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  }

  // A field with its name, its input, what it means and what is wrong with it.
  field(key, title, input, description = "", kind = "") {
    const id = `rule-${++numbers}`;
    input.id = id;
    input.dataset.key = `rules.${key}`;
    const fault = html("span", { class: "fault", id: `${id}-fault`, role: "alert" });
    input.setAttribute("aria-describedby", fault.id);
    const node = html("div", { class: `field ${kind}` },
      html("label", { for: id }, title), input, fault,
      description ? html("small", {}, description) : null);
    this.fields.set(`rules.${key}`, { input, fault });
    return node;
  }

  choice(key, title, choices, { description = "", none = null, redraw = false, label = words } = {}) {
    const value = at(this.rules, key) ?? "";
    const select = html("select", {
      onchange: (event) => this.change(key, event.target.value || undefined, redraw),
    },
    none === null ? null : html("option", { value: "" }, none),
    ...choices.map((one) => html("option", { value: one, selected: String(value) === one }, label(one))));
    return this.field(key, title, select, description, value === "" ? "" : "is-set");
  }

  number(key, title, { cents = false, description = "", hint = "" } = {}) {
    const value = at(this.rules, key);
    const input = html("input", {
      type: "text", inputmode: "decimal", placeholder: hint, autocomplete: "off",
      value: value === undefined || value === null ? "" : cents ? fromCents(value) : String(value),
      onchange: (event) => {
        const text = event.target.value.trim();
        const read = cents ? toCents(text) : text === "" ? null : /^\d{1,12}$/.test(text) ? Number(text) : undefined;
        if (read === undefined) {
          this.showFault(`rules.${key}`, cents ? "write a sum in dollars, such as 25 or 2.50" : "write a whole number");
          return;
        }
        this.change(key, read ?? undefined);
      },
    });
    return this.field(key, title + (cents ? " ($)" : ""), input, description);
  }

  flag(key, choice) {
    const value = at(this.rules, key);
    const select = html("select", {
      onchange: (event) => this.change(key, { "": undefined, yes: true, no: false }[event.target.value]),
    },
    html("option", { value: "" }, "the game's own"),
    html("option", { value: "yes", selected: value === true }, "yes"),
    html("option", { value: "no", selected: value === false }, "no"));
    return this.field(key, choice.title, select, choice.description);
  }

  centsList(key, choice) {
    const value = at(this.rules, key) ?? [];
    const input = html("input", {
      type: "text", autocomplete: "off", value: value.map(fromCents).join(", "), placeholder: "5000, 2000",
      onchange: (event) => {
        const read = event.target.value.split(/[;,]\s+|[; ]+|,(?!\d{3}\b)/).filter((t) => t.trim()).map(toCents);
        if (read.includes(undefined)) this.showFault(`rules.${key}`, "write sums in dollars, apart by a comma and a blank");
        else this.change(key, read.length ? read : undefined);
      },
    });
    return this.field(key, `${choice.title} ($)`, input, choice.description);
  }

  one(choice, key = choice.key) {
    if (choice.kind === "choice") {
      const standard = choice.optional ? "the game's own" : null;
      const first = choice.choices.find((one) => one === choice.default);
      const sorted = first ? [first, ...choice.choices.filter((one) => one !== first)] : choice.choices;
      return this.choice(key, choice.title, sorted, { description: choice.description, none: standard });
    }
    if (choice.kind === "flag") return this.flag(key, choice);
    if (choice.kind === "cents_list") return this.centsList(key, choice);
    const hint = choice.default === null ? "none" : choice.kind === "cents" ? fromCents(choice.default) : String(choice.default);
    return this.number(key, choice.title, { cents: choice.kind === "cents", description: choice.description, hint });
  }

  drawGame() {
    const { game } = this;
    const nodes = [
      this.choice("game", "Game", this.games.games.map((g) => g.id), {
        redraw: true, label: (id) => this.games.games.find((g) => g.id === id).title,
        description: game ? `Document ${game.document.split("_")[0]}` : "",
      }),
      this.choice("house_way", "House way", this.games.house_ways.map((w) => w.id), {
        redraw: true, label: (id) => this.games.house_ways.find((w) => w.id === id).title,
        description: "How the dealer must set the cards.",
      }),
    ];
    if (game?.main_options.length) {
      nodes.push(this.choice("main_option", "Commission-free option", game.main_options, {
        none: `the game's own (${words(game.main_options[0])})`, description: "What pushes, or pays half.",
      }));
    }
    return nodes;
  }

  drawWagers() {
    const { game } = this;
    if (!game) return [];
    const lines = game.wagers.map((wager) => {
      const offered = wager === "main" || this.rules.paytables?.[wager];
      const tables = this.games.pay_tables.filter((t) => t.wager === wager).map((t) => t.id);
      const own = this.rules.paytables?.[wager];
      if (own && !tables.includes(own)) tables.unshift(own);
      const cells = [html("strong", {}, this.title(wager))];
      cells.push(wager === "main" ? html("span", { class: "muted" }, "every seat")
        : this.choice(`paytables.${wager}`, "Pay table", tables, { none: "not offered", redraw: true, label: String }));
      if (offered && wager !== "envy" && !game.jackpots.includes(wager)) {
        cells.push(
          this.number(`limits.${wager}.min_cents`, "Least stake", { cents: true, hint: "none" }),
          this.number(`limits.${wager}.max_cents`, "Most stake", { cents: true, hint: "none" }),
          this.number(`aggregates.${wager}.per_hand_cents`, "Pays at most a hand", { cents: true, hint: "no limit" }),
          this.number(`aggregates.${wager}.per_round_cents`, "at most a round", { cents: true, hint: "no limit" }),
        );
      }
      return html("div", { class: "wager-line" }, ...cells);
    });
    const nodes = [html("h3", {}, "Wagers, pay tables and limits"), ...lines];
    for (const wager of game.jackpots.filter((w) => this.rules.paytables?.[w])) {
      nodes.push(html("h3", {}, `Jackpot of ${this.title(wager)}`));
      for (const choice of this.games.choices.filter((c) => c.key.startsWith("progressives.*."))) {
        nodes.push(this.one(choice, choice.key.replace("*", wager)));
      }
    }
    return nodes;
  }

  drawOptions() {
    const { game } = this;
    const way = this.games.house_ways.find((w) => w.id === (this.rules.house_way ?? "document_004"));
    const groups = [
      ["ranking", "Ranking, settling and sums", (c) => !c.key.includes(".") && !["house_way", "main_option"].includes(c.key)],
      ["rounding", "Rounding", (c) => c.key.startsWith("rounding.")],
      ["commission", "Commission", (c) => game?.takes_commission && c.key.startsWith("commission.")],
      ["several", "Minimums for several hands", (c) => c.key.startsWith("several_hands.")],
      ["readings", "How unclear places of the rules are read", (c) => c.key.startsWith("readings.")],
      ["house_way", "How unclear lines of the house way are read",
        (c) => c.key.startsWith("house_way_readings.") && way?.readings.includes(c.key.split(".")[1])],
    ];
    return groups.map(([part, title, wanted]) => {
      const choices = this.games.choices.filter(wanted);
      if (choices.length === 0) return null;
      return html("details", { "data-part": part }, html("summary", {}, title),
        html("div", { class: "rules-form" }, ...choices.map((choice) => this.one(choice))));
    });
  }

  showFault(place, message) {
    const field = this.fields.get(place);
    if (!field) return false;
    field.fault.textContent = message;
    field.input.setAttribute("aria-invalid", "true");
    field.input.closest("details")?.setAttribute("open", "");
    return true;
  }

  // Show faults at their fields; return those with no field.
  faults(list) {
    for (const { input, fault } of this.fields.values()) {
      fault.textContent = "";
      input.removeAttribute("aria-invalid");
    }
    return list.filter(({ place, message }) => {
      for (let key = place; key.includes("."); key = key.slice(0, key.lastIndexOf("."))) {
        if (this.showFault(key, message)) return false;
      }
      return true;
    });
  }
}
