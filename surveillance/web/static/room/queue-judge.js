// Verdicts: given by one key, taken back by a new one, never lost.

import { ApiError, get, post, toast } from "/static/shared/api.js";
import { byId, html, wagerName } from "/static/shared/dom.js";

const DONE = { confirmed: "Confirmed", rejected: "Rejected", corrected: "Corrected", reopened: "Open again" };

export class Judge {
  // `judged(alert)` is called with the alert as it is after a verdict.
  constructor({ detail, list, codes, judged }) {
    this.detail = detail;
    this.list = list;
    this.codes = codes;
    this.judged = judged;
    this.given = [];
    this.busy = null; // the verdict on its way
  }

  // A second one is not taken while one is on its way: it may be meant for the next alert.
  /** @param {{ corrected?: object, comment?: string, alert?: any, advance?: boolean }} options */
  give(verdict, options = {}) {
    if (this.busy) return this.busy;
    this.busy = this.#give(verdict, options).finally(() => { this.busy = null; });
    return this.busy;
  }

  async #give(verdict, { corrected = undefined, comment = this.detail.comment.value.trim(), alert = this.detail.alert, advance = true }) {
    if (!alert) return;
    const last = alert.verdicts.at(-1);
    try {
      const now = await post(`/api/alerts/${alert.line.id}/verdict`, {
        verdict, comment, ...(corrected ? { corrected } : {}), after: last?.id ?? 0,
      });
      this.given.push({ id: alert.line.id, before: last ?? null, title: alert.line.title });
      this.detail.comment.value = "";
      this.judged(now);
      toast(`${DONE[verdict]}: ${now.line.title}, ${now.line.table} ${now.line.place}. U takes it back.`, "good");
      // Whoever went on meanwhile stays there.
      const isThere = this.list.current?.id === alert.line.id;
      if (advance && isThere && !this.list.nextOpen()) toast("No open alert is left in this list.");
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      toast(`Not saved: ${error.message}.`, "bad");
      if (error.status === 409) this.judged(await get(`/api/alerts/${alert.line.id}`));
    }
  }

  // Take the last verdict back: the one before counts again, as a new verdict. Where there was
  // none the alert is open again.
  async undo() {
    await this.busy;
    const last = this.given.pop();
    if (!last) {
      toast("Nothing to take back: no verdict was given on this page.");
      return;
    }
    const alert = await get(`/api/alerts/${last.id}`);
    const at = this.list.lines.findIndex((line) => line.id === last.id);
    if (at >= 0) this.list.go(at);
    if (!last.before || last.before.verdict === "reopened") {
      await this.give("reopened", { alert, advance: false, comment: "taken back" });
      this.given.pop();
      return;
    }
    const { verdict, corrected } = last.before;
    await this.give(verdict, {
      alert, advance: false, comment: "taken back: the verdict before counts again",
      corrected: verdict === "corrected" ? withoutNull(corrected) : undefined,
    });
    this.given.pop();
  }

  correct() {
    const { alert } = this.detail;
    if (!alert) return;
    const dialog = byId("correct");
    const { line } = alert;
    const field = (name, label, input) => html("label", { class: "field" }, html("span", {}, label), input);
    const option = (value, words, chosen) => html("option", { value, selected: value === chosen }, words);
    const seat = String(line.seat ?? 0);
    const wagers = ["", "main", ...new Set((alert.hands?.seats ?? []).flatMap((s) => s.wagers.map((w) => w.wager)))];
    dialog.replaceChildren(html("form", { method: "dialog", class: "stack", id: "correct-form" },
      html("h2", { id: "correct-title" }, "What are the correct values?"),
      html("p", { class: "muted" }, "Change what was wrong; the rest is kept as it is."),
      html("div", { class: "correct-fields" },
        field("code", "Code", html("select", { name: "code" }, ...this.codes.map(({ code, title }) => (
          option(code, `${code} · ${title}`, line.code))))),
        field("seat", "Seat", html("select", { name: "seat" }, option("0", "dealer or table", seat),
          ...[1, 2, 3, 4, 5, 6, 7].map((n) => option(String(n), `seat ${n}`, seat)))),
        field("wager", "Wager", html("select", { name: "wager" }, ...[...new Set(wagers)].map((name) => (
          option(name, name ? wagerName(name) : "none", line.wager ?? ""))))),
        field("seen", "Seen", html("input", { name: "seen", maxlength: 200, value: alert.seen ?? "" })),
        field("due", "Due", html("input", { name: "due", maxlength: 200, value: alert.due ?? "" }))),
      field("comment", "Comment", html("textarea", { name: "comment", rows: 2, maxlength: 2000 }, this.detail.comment.value)),
      html("p", { class: "error", id: "correct-error", hidden: true }),
      html("div", { class: "row" }, html("span", { class: "gap" }),
        html("button", { class: "btn", type: "button", onclick: () => dialog.close() }, "Cancel ", html("kbd", {}, "Esc")),
        html("button", { class: "btn btn-primary", type: "submit" }, "Correct ", html("kbd", {}, "Ctrl Enter")))));
    const form = byId("correct-form");
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#correct(dialog, form, alert);
    });
    dialog.showModal();
    form.elements.seen.focus();
  }

  #correct(dialog, form, alert) {
    const { line } = alert;
    const was = { code: line.code, seat: String(line.seat ?? 0), wager: line.wager ?? "", seen: alert.seen ?? "", due: alert.due ?? "" };
    const changed = Object.entries(was).filter(([name, before]) => form.elements[name].value.trim() !== before)
      .map(([name]) => [name, name === "seat" ? Number(form.elements.seat.value) : form.elements[name].value.trim()]);
    const comment = form.elements.comment.value.trim();
    if (!changed.length && !comment) {
      byId("correct-error").textContent = "Nothing is changed: change a field, or say in the comment what was wrong.";
      byId("correct-error").hidden = false;
      return;
    }
    dialog.close();
    this.give("corrected", { corrected: Object.fromEntries(changed), comment, alert });
  }
}

// The store keeps the dealer as no seat; the API takes seat 0.
const withoutNull = (values) => Object.fromEntries(Object.entries(values ?? {})
  .map(([key, value]) => [key, key === "seat" && value === null ? 0 : value]));
