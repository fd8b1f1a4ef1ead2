// One alert: what was seen beside what was due, the rule, the evidence, the round, who said what.

import { withCards } from "/static/shared/cards.js";
import { html, moment } from "/static/shared/dom.js";
import { roundElement } from "/static/room/round.js";
import { badge, percent, severity, stateBadge } from "/static/room/signs.js";
import { Stage } from "/static/room/stage.js";

const VERB = { confirmed: "confirmed", rejected: "rejected", corrected: "corrected", reopened: "open" };

export class Detail {
  // `acts`: {confirm, reject, correct, setCase}; `mayJudge`: whether they are offered.
  constructor(node, acts, mayJudge) {
    this.node = node;
    this.acts = acts;
    this.mayJudge = mayJudge;
    this.alert = null;
    this.stage = new Stage();
    this.comment = html("textarea", { rows: 2, maxlength: 2000, id: "comment",
      placeholder: "Comment, kept with the verdict", "aria-label": "Comment" });
    this.head = html("header", { class: "detail-head" });
    this.facts = html("section", { class: "facts", "aria-label": "Seen and due" });
    this.round = html("section", { class: "detail-round", "aria-label": "The round" });
  }

  none(words) {
    this.alert = null;
    this.stage.clear();
    this.node.replaceChildren(html("p", { class: "empty" }, html("strong", {}, words),
      html("span", {}, "New alerts show here as they are raised.")));
  }

  show(alert, precision) {
    const isOther = this.alert?.line.id !== alert.line.id;
    this.alert = alert;
    this.node.dataset.alert = alert.line.id;
    this.#head(alert);
    this.#facts(alert, precision);
    if (isOther) {
      this.comment.value = "";
      this.stage.show(alert);
      this.#round(alert);
      this.node.replaceChildren(this.head, html("div", { class: "detail-columns" }, this.stage.node, this.facts), this.round);
      this.node.scrollTop = 0;
    } else {
      this.stage.update(alert); // images and clip come after the alert
    }
  }

  #head({ line, start, end, round, round_id: roundId }) {
    const { confirm, reject, correct, setCase } = this.acts;
    const button = (words, key, run, kind = "") => html("button", { class: `btn ${kind}`, type: "button", onclick: run },
      words, " ", html("kbd", {}, key));
    this.head.replaceChildren(
      html("div", { class: "row" }, severity(line), html("h2", {}, line.title), html("code", { class: "muted" }, line.code),
        stateBadge(line), line.case ? badge("case", "case") : null, html("span", { class: "gap" }),
        ...(this.mayJudge ? [button("Confirm", "C", confirm, "btn-primary"), button("Reject", "R", reject),
          button("Correct", "X", correct)] : [html("span", { class: "muted" }, "a reviewer gives verdicts")])),
      html("div", { class: "row muted" },
        html("span", {}, html("b", {}, line.table), ` · ${line.place}`),
        html("span", {}, line.dealer ? `dealer ${line.dealer}` : "dealer not named"),
        html("span", {}, moment(line.at)),
        html("span", { class: "mono", title: "the stream's own clock" }, start === end ? start : `${start} – ${end}`),
        roundId ? html("a", { href: `/rounds/${round}` }, `round ${roundId}`) : null,
        html("span", { class: "gap" }),
        this.mayJudge ? html("button", { class: "btn btn-quiet", type: "button", onclick: setCase },
          line.case ? "Case: let go " : "Keep as case ", html("kbd", {}, "Shift K")) : null));
  }

  // Precision as it is with the verdicts given meanwhile; images and clip stay as they are.
  counted(precision) {
    if (this.alert) this.#facts(this.alert, precision);
  }

  #facts(alert, precision) {
    const { line, verdicts } = alert;
    const own = precision?.find((of) => of.code === line.code);
    const judged = own ? own.confirmed + own.rejected + own.corrected : 0;
    const above = [
      html("div", { class: "versus" },
        html("div", { class: "seen" }, html("span", {}, "Seen"), html("strong", {}, ...(alert.seen ? withCards(alert.seen) : ["–"]))),
        html("div", { class: "due" }, html("span", {}, "Due"), html("strong", {}, ...(alert.due ? withCards(alert.due) : ["–"])))),
      html("p", { class: "message" }, ...withCards(line.message)),
      alert.rule ? html("p", { class: "rule" }, html("span", { class: "tag" }, "Rule"), " ", html("cite", {}, alert.rule)) : null,
      own ? html("p", { class: "muted small" }, own.precision === null
        ? `No verdict on ${line.code} yet.`
        : `${line.code} was right ${percent(own.precision)} of the time (95%: ${percent(own.low)} to ${percent(own.high)}, `
          + `${judged} ${judged === 1 ? "verdict" : "verdicts"}).`) : null,
      html("h3", {}, "Verdicts"),
      verdicts.length ? html("ol", { class: "history" }, ...verdicts.map((given) => this.#verdict(given)))
        : html("p", { class: "muted" }, "Nobody has judged it yet."),
    ].filter(Boolean);
    const below = [
      alert.bundle_url ? html("p", { class: "bundle small" }, html("a", { href: alert.bundle_url, download: true }, "Evidence bundle"),
        html("code", { class: "muted", title: `SHA-256 ${alert.bundle_sha256}` }, ` ${alert.bundle_sha256.slice(0, 16)}…`)) : null,
    ].filter(Boolean);
    // Not even taken out for a moment: whoever types in it would lose the focus, and the letters
    // that follow would be verdicts.
    for (const node of [...this.facts.childNodes]) if (node !== this.comment) node.remove();
    if (this.mayJudge && this.comment.parentNode !== this.facts) this.facts.append(this.comment);
    this.facts.prepend(...above);
    this.facts.append(...below);
  }

  #verdict(given) {
    const corrected = Object.entries(given.corrected ?? {}).map(([key, value]) => (
      `${key}: ${key === "seat" && value === null ? "dealer" : value}`)).join("; ");
    return html("li", {}, badge(given.verdict, VERB[given.verdict] ?? given.verdict), " ", html("b", {}, given.by), " ",
      html("span", { class: "muted nowrap" }, moment(given.at)),
      corrected ? html("p", {}, corrected) : null, given.comment ? html("p", { class: "said" }, `“${given.comment}”`) : null);
  }

  #round({ hands, line, round, round_id: roundId }) {
    this.round.replaceChildren(...(hands ? [html("h3", { class: "round-title" }, `Round ${roundId}`),
      roundElement(hands, { seat: line.seat, wager: line.wager })]
      : [html("p", { class: "muted" }, round === null ? "No round belongs to this alert." : "Its round cannot be read now.")]));
  }
}
