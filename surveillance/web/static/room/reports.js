// The report of a day or a shift, as a page; the same as PDF and CSV.

import { attempt, get, query } from "/static/shared/api.js";
import { byId, dollars, html, moment } from "/static/shared/dom.js";
import { keys } from "/static/shared/keys.js";
import { precisionTable } from "/static/room/precision.js";
import { askSpan, panel, stat, tableOf } from "/static/room/span.js";
import { badge, percent, severity, stateBadge } from "/static/room/signs.js";

const STATES = ["open", "confirmed", "rejected", "corrected"];
let asked = 0;

function duration(seconds) {
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
}

function groups(title, lines) {
  if (!lines.length) return null;
  const hasRounds = lines.some((line) => line.rounds !== null);
  const head = ["", ...(hasRounds ? ["Rounds", "Not all read"] : []), "Alerts", "Open", "Confirmed", "Rejected", "Corrected",
    ...(hasRounds ? ["Upheld per 100 rounds"] : [])];
  return panel(title, tableOf(head, lines.map((line) => [
    line.name, ...(hasRounds ? [line.rounds.toLocaleString(), line.with_undecided.toLocaleString()] : []), line.total,
    ...STATES.map((state) => line.alerts[state]),
    ...(hasRounds ? [line.confirmed_per_100 === null ? "–" : line.confirmed_per_100.toFixed(2)] : []),
  ])));
}

function money(report) {
  const rows = report.money.map((line) => [badge(line.state, line.state), line.alerts, dollars(line.to_players_cents),
    dollars(line.to_house_cents), dollars(line.net_cents), line.unknown]);
  return panel("Money that went the wrong way", tableOf(
    ["Alerts that are", "Alerts", "To players too much", "To the house too much", "Net loss of the house", "Sum not known"], rows));
}

function cameras(report) {
  if (!report.cameras.length) return null;
  return panel("Cameras", tableOf(["Camera", "Table", "Time in each state", "Now or last", "Watching", "Incidents", "Changes"], report.cameras.map((camera) => [
    camera.camera, camera.table,
    camera.states.map((state) => `${state.state.replaceAll("_", " ")} ${duration(state.seconds)}`).join("; ") || "no state was noted",
    badge(camera.last_state, camera.last_state.replaceAll("_", " ")),
    percent(camera.watched_share, 1), camera.incidents, camera.changes,
  ]), 4));
}

// Above 0 the player got too much; nothing where the sum is not known.
function sum(alert) {
  const cents = alert.difference_cents;
  if (cents === null) return "";
  return `${cents < 0 ? "−" : "+"}${dollars(Math.abs(cents))}`;
}

const stoodLine = (alert) => html("li", {},
  html("a", { href: `/alerts?alert=${alert.id}&state=` }, severity(alert), html("span", { class: "nowrap" }, moment(alert.at)),
    html("b", {}, alert.table), html("span", { class: "title" }, alert.message), html("span", { class: "num nowrap" }, sum(alert)),
    stateBadge(alert), html("span", { class: "muted nowrap" }, alert.decided_by ?? "")));

// The upheld alerts come by the page: a month has thousands.
function notable(report, wanted) {
  if (!report.notable.length) return null;
  const list = html("ul", { class: "lines stood" }, ...report.notable.map(stoodLine));
  const status = html("span", { class: "muted", role: "status" });
  const more = html("button", { class: "btn", type: "button" }, "Show more");
  let next = report.notable_next;
  const showCount = () => {
    status.textContent = `${list.children.length.toLocaleString()} of ${report.stood.toLocaleString()}, newest first; all are in the CSV`;
    more.hidden = !next;
  };
  more.addEventListener("click", async () => {
    more.disabled = true;
    const { since, until, table } = wanted;
    const page = await attempt(() => get("/api/report/alerts", { since, until, table, cursor: next }));
    more.disabled = false;
    if (!page) return;
    const first = list.children.length;
    next = page.next;
    list.append(...page.alerts.map(stoodLine));
    showCount();
    list.children[first]?.querySelector("a").focus();
  });
  showCount();
  return panel("Upheld alerts", list, html("p", { class: "row" }, more, status));
}

function draw(report, wanted) {
  const { alerts } = report;
  const total = STATES.reduce((count, state) => count + alerts[state], 0);
  const stood = report.money.filter((line) => ["confirmed", "corrected"].includes(line.state));
  byId("report").replaceChildren(...[
    html("header", { class: "report-head" }, html("h2", { class: "big" }, report.title),
      html("p", { class: "muted" }, `${report.zone} · made ${moment(report.made_at)} by ${report.made_by}`)),
    html("dl", { class: "stats" },
      stat("Rounds", report.rounds.toLocaleString(), `${report.rounds_with_alerts.toLocaleString()} with alerts`),
      stat("Not all read", percent(report.undecided_share, 1), `${report.rounds_undecided.toLocaleString()} rounds`),
      stat("Alerts", total.toLocaleString(), `${alerts.open.toLocaleString()} open`),
      stat("Upheld mistakes", report.stood.toLocaleString(), `of ${report.judged.toLocaleString()} judged`),
      stat("Net loss of the house", dollars(stood.reduce((cents, line) => cents + line.net_cents, 0)), "by upheld alerts")),
    html("div", { class: "report-grid" },
      panel("Alerts by code, and how often the code was right", precisionTable(report.codes)),
      money(report), groups("By table", report.tables), groups("By dealer", report.dealers), groups("By seat", report.seats),
      report.reviewers.length ? panel("Verdicts by person", tableOf(["", "Confirmed", "Rejected", "Corrected"],
        report.reviewers.map((line) => [line.name, line.confirmed, line.rejected, line.corrected]))) : null,
      cameras(report), notable(report, wanted)),
  ].filter(Boolean));
  for (const node of byId("report").querySelectorAll(".report-grid > *")) if (!node.childNodes.length) node.remove();
}

async function load(wanted) {
  asked += 1;
  const mine = asked;
  for (const format of ["pdf", "csv"]) byId(format).href = `/api/report${query({ ...wanted, format })}`;
  const report = await attempt(() => get("/api/report", wanted));
  if (!report || mine !== asked) return;
  draw(report, wanted);
  document.body.dataset.loaded = "true";
}

byId("print").addEventListener("click", () => window.print());

keys.add("Report", [
  ["p", "as PDF", () => byId("pdf").click()],
  ["c", "as CSV", () => byId("csv").click()],
]);
askSpan(load);
