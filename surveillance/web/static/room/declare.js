// What the camera cannot show of a table, declared by a person: who banks, whose the seats are, meters.

import { attempt, get, post, toast } from "/static/shared/api.js";
import { byId, html, moment, wagerName } from "/static/shared/dom.js";

const CENTS = 100;

function bankerField({ seats, facts, players_bank: mayBank }) {
  if (!mayBank) return null;
  const choices = [["", "not declared"], ["house", "the house"],
    ...seats.map((seat) => [String(seat), `seat ${seat}`])];
  return html("label", { class: "field" }, html("span", {}, "Who banks"),
    html("select", { name: "banker" }, ...choices.map(([value, words]) => html("option",
      { value, selected: value === String(facts.banker ?? "") }, words))));
}

function playersField({ seats, facts }) {
  const own = typeof facts.players === "object" && facts.players ? facts.players : {};
  return html("fieldset", { class: "row" },
    html("legend", {}, "The player of each seat; empty: a player of its own"),
    ...seats.map((seat) => html("label", { class: "field" }, html("span", {}, `Seat ${seat}`),
      html("input", { name: `player ${seat}`, inputmode: "numeric", pattern: "[0-9]{0,6}", size: "3",
        value: own[seat] ?? "" }))));
}

function meterField(wager, facts) {
  const known = (facts.meters ?? []).find((meter) => meter.wager === wager && meter.level === 1);
  return html("label", { class: "field" }, html("span", {}, `Meter of ${wagerName(wager)}, dollars`),
    html("input", { name: `meter ${wager}`, inputmode: "decimal", pattern: "[0-9]*(\\.[0-9]{1,2})?",
      value: known ? (known.cents / CENTS).toFixed(2) : "" }));
}

// What the form says, as the API takes it; facts that are left empty are left out.
function factsOf(form, fields) {
  const values = new Map([...fields.querySelectorAll("input, select")].map((field) => [field.name, field.value]));
  const value = (name) => (values.get(name) ?? "").trim();
  const banker = value("banker");
  const players = Object.fromEntries(form.seats
    .map((seat) => [seat, value(`player ${seat}`)]).filter(([, player]) => player)
    .map(([seat, player]) => [seat, Number(player)]));
  const meters = form.jackpots.map((wager) => [wager, value(`meter ${wager}`)])
    .filter(([, dollars]) => dollars)
    .map(([wager, dollars]) => ({ wager, cents: Math.round(Number(dollars) * CENTS) }));
  return {
    ...(banker ? { banker: banker === "house" ? banker : Number(banker) } : {}),
    ...(Object.keys(players).length ? { players } : {}),
    ...(meters.length ? { meters } : {}),
  };
}

export async function askFacts(path) {
  const form = await attempt(() => get(`${path}/declared`));
  if (!form) return;
  const last = form.lines[0];
  byId("facts-fields").replaceChildren(...[
    bankerField(form), playersField(form), ...form.jackpots.map((wager) => meterField(wager, form.facts)),
    html("p", { class: "muted" }, last ? `Declared last by ${last.by}, ${moment(last.at)}.` : "Nothing is declared yet."),
  ].filter(Boolean));
  const dialog = byId("facts-dialog");
  dialog.returnValue = "";
  dialog.addEventListener("close", async () => {
    if (dialog.returnValue !== "save") return;
    const facts = factsOf(form, byId("facts-fields"));
    if (await attempt(() => post(`${path}/declared`, facts))) {
      toast("Declared: it counts from the next round that is settled.", "good");
    }
  }, { once: true });
  dialog.showModal();
}
