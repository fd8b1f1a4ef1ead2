// Shared parts of the account forms.

import { ApiError } from "/static/shared/api.js";
import { byId, html } from "/static/shared/dom.js";

// Run `send` when the form is sent: once at a time; `refusal` shows why it was refused.
export function onSend(form, refusal, send) {
  const showProblem = (words) => {
    refusal.textContent = words ? `${words[0].toUpperCase()}${words.slice(1)}.` : "";
    refusal.hidden = !words;
  };
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("button:not([type=button])");
    if (button.disabled) return;
    showProblem("");
    const empty = [...form.querySelectorAll("input[required]")].find((input) => !input.value);
    if (empty) {
      showProblem("something is not filled in");
      empty.focus();
      return;
    }
    button.disabled = true;
    try {
      await send(showProblem);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      showProblem(error.message);
    } finally {
      button.disabled = false;
    }
  });
}

export function options(select, values, chosen) {
  select.replaceChildren(...values.map((value) => html("option", { value, selected: value === chosen }, value)));
}

// Show a secret once, to be copied.
export function showOnce(dialog, title, words, secret, closed = () => {}) {
  const field = html("input", { class: "mono", id: `${dialog.id}-value`, readonly: true, value: secret, "aria-label": title });
  const status = html("p", { role: "status", class: "muted" });
  const copy = async () => {
    field.select();
    try {
      await navigator.clipboard.writeText(secret);
      status.textContent = "✓ Copied.";
    } catch {
      status.textContent = "It is marked: copy it with Ctrl+C.";
    }
  };
  dialog.replaceChildren(html("form", { method: "dialog", class: "stack" },
    html("h2", { id: `${dialog.id}-title` }, title),
    html("p", {}, words),
    html("div", { class: "once" }, field, html("button", { type: "button", class: "btn btn-primary", onclick: copy }, "Copy")),
    status,
    html("div", { class: "row" }, html("span", { class: "gap" }), html("button", { class: "btn" }, "Done"))));
  dialog.addEventListener("close", () => { dialog.replaceChildren(); closed(); }, { once: true });
  dialog.showModal();
  field.select();
}

// Ask before what cannot be taken back; true when it is meant.
export function sure(dialog, title, words, yes) {
  return new Promise((resolve) => {
    dialog.returnValue = "";
    dialog.replaceChildren(html("form", { method: "dialog", class: "stack" },
      html("h2", { id: `${dialog.id}-title` }, title), html("p", {}, words),
      html("div", { class: "row" }, html("span", { class: "gap" }),
        html("button", { class: "btn", value: "", autofocus: true }, "Cancel"),
        html("button", { class: "btn btn-danger", value: "yes" }, yes))));
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
    dialog.showModal();
  });
}

// A day as people write it, in their own time zone.
const DAY = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });
export const day = (text) => DAY.format(new Date(text));

export { byId, html };
