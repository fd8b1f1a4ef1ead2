// One round: its alerts, all hands and wagers.

import { byId, html, moment, startValues } from "/static/shared/dom.js";
import { keys } from "/static/shared/keys.js";
import { feltTimeline } from "/static/room/felt-timeline.js";
import { roundElement } from "/static/room/round.js";
import { badge, severity, stateBadge } from "/static/room/signs.js";

const { round, games } = startValues();
const { line } = round;
byId("where").textContent = [
  `table ${line.table}`, games[line.game] ?? line.game, line.dealer ? `dealer ${line.dealer}` : "dealer not named",
  `${moment(line.started_at)} to ${moment(line.ended_at)}`,
  line.start_s ? `stream ${line.start_s} – ${line.end_s} s` : "",
].filter(Boolean).join(" · ");
byId("alerts").replaceChildren(...round.alerts.map((alert) => html("li", {},
  html("a", { href: `/alerts?alert=${alert.id}&state=` }, severity({ ...alert, severity: alert.kind }),
    html("span", { class: "title" }, alert.message), stateBadge(alert)))));
byId("alerts").hidden = !round.alerts.length;
if (round.suspicions.length) {
  byId("suspicions").replaceChildren(html("h2", {}, "Worth a look"),
    html("p", { class: "muted small" }, "Probably wrong by what was read, not sure enough for an alert."),
    html("ul", { class: "lines" }, ...round.suspicions.map((one) => html("li", {},
      badge("undecided", `${one.title}?`), " ", html("span", { class: "title" }, one.message)))));
  byId("suspicions").hidden = false;
}
byId("round").append(roundElement(round.hands));
if (round.timeline.length) {
  byId("felt").replaceChildren(html("h2", {}, "The felt's timeline"), ...feltTimeline(round.timeline));
  byId("felt").hidden = false;
}

keys.add("Round", [
  ["Escape", "all rounds", () => location.assign("/rounds")],
  ["a", "to its first alert", () => byId("alerts").querySelector("a")?.click()],
]);
