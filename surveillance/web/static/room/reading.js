// What was not read of a day's or shift's rounds: by table, by seat, by cause.

import { attempt, get } from "/static/shared/api.js";
import { byId, html } from "/static/shared/dom.js";
import { askSpan, panel, stat, tableOf } from "/static/room/span.js";
import { percent } from "/static/room/signs.js";

let asked = 0;

const seatOf = (line) => (line.seat === null ? "dealer or table" : `seat ${line.seat}`);
const counts = (line) => [line.unread.toLocaleString(), percent(line.share, 1)];

function draw(form) {
  const total = (key) => form.tables.reduce((sum, line) => sum + line[key], 0);
  const rounds = total("rounds");
  const unread = total("unread");
  const panels = [
    panel("By table", tableOf(["Table", "Rounds", "Not all read", "Of all"],
      form.tables.map((line) => [line.table, line.rounds.toLocaleString(), ...counts(line)]))),
    panel("By seat", tableOf(["Table", "Seat", "Rounds with something not read", "Of all"],
      form.seats.map((line) => [line.table, seatOf(line), ...counts(line)]), 2)),
    panel("By cause", tableOf(["Table", "Seat", "Not read", "Cause", "Rounds", "Of all", "Things"],
      form.causes.map((line) => [line.table, seatOf(line), line.part, line.cause, ...counts(line),
        line.things.toLocaleString()]), 4)),
  ];
  byId("reading").replaceChildren(
    html("dl", { class: "stats" },
      stat("Rounds", rounds.toLocaleString()),
      stat("Not all read", percent(rounds ? unread / rounds : null, 1), `${unread.toLocaleString()} rounds`)),
    ...(form.causes.length ? panels : [html("p", { class: "muted" }, rounds
      ? "All of these rounds was read." : "No round was decided in this time.")]),
  );
}

askSpan(async ({ since, until, table }) => {
  asked += 1;
  const mine = asked;
  const form = await attempt(() => get("/api/reading", { since, until, table }));
  if (!form || mine !== asked) return;
  draw(form);
  document.body.dataset.loaded = "true";
});
