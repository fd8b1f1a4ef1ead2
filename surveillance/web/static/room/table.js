// One table: the large image, each seat's hands, what is due and why, what happened last.

import { attempt, get, post, toast } from "/static/shared/api.js";
import { handElement } from "/static/shared/cards.js";
import { byId, dollars, html, moment, startValues, wagerName } from "/static/shared/dom.js";
import { keys } from "/static/shared/keys.js";
import { live } from "/static/shared/live.js";
import { askFacts } from "/static/room/declare.js";
import { CameraSwitch, LivePicture, overlaySwitch } from "/static/room/live-picture.js";
import { RESULTS, badge, furtherCamera, lammerElement, phaseWords, severity, stateBadge } from "/static/room/signs.js";
import { Tables } from "/static/room/tables.js";

const start = startValues();
const { camera } = start.form.line;
const path = `/api/tables/${encodeURIComponent(camera)}`;
const ASK_AGAIN_MS = 4_000; // while the database cannot be asked
let form = start.form;
let again;

const picture = new LivePicture(camera, `Table ${form.line.table}, live`);
const phase = html("p", { class: "phase" });
picture.node.append(phase);
byId("picture").append(picture.node);
const cameras = new CameraSwitch(picture, camera, form.line.table);
const turn = overlaySwitch(byId("overlay"), (on) => picture.setOverlay(on));

function drawLine(line) {
  if (line.camera !== camera) return;
  form = { ...form, line };
  byId("title").replaceChildren(line.table,
    html("span", { class: "muted small" }, ` ${line.camera} · ${start.games[line.game] ?? line.game}`));
  byId("state").replaceChildren(badge(line.state, line.words),
    ...(line.message ? [html("span", { class: "muted", title: line.message }, line.message)] : []));
  byId("dealer-now").replaceChildren(
    html("span", {}, "Dealing: ", html("strong", {}, line.dealer ?? "nobody named")),
    ...(start.may_judge ? [html("button", { class: "btn", type: "button", onclick: askDealer },
      "Change ", html("kbd", {}, "D")), html("button", { class: "btn", type: "button", id: "declare",
      onclick: () => askFacts(path) }, "Declare ", html("kbd", {}, "B"))] : []),
  );
  phase.textContent = phaseWords(line);
  phase.hidden = !phase.textContent;
  byId("health").replaceChildren(...health(line));
  byId("now").replaceChildren(...now(line));
  picture.show(line.has_picture, line.picture_age_s);
  cameras.show(line.further);
}

function health(line) {
  if (line.state === "off") return [html("span", { class: "muted" }, "This camera has no process now.")];
  const shown = (value, digits) => (value === null ? "–" : value.toFixed(digits));
  return [
    html("span", {}, html("b", {}, shown(line.fps, 1)), " frames per second"),
    html("span", { class: line.lag_s > 2 ? "warned" : "" }, html("b", {}, shown(line.lag_s, 1)), " s behind"),
    html("span", {}, html("b", {}, line.dropped.toLocaleString()), " dropped"),
    html("span", {}, html("b", {}, line.restarts), " restarts"),
    ...(line.coverage ? [coverage(line.coverage)] : []),
    html("span", { class: "muted" }, `frame of ${moment(line.frame_shown_at)}`),
    ...line.further.map((one) => html("span", {}, "further camera ", furtherCamera(one),
      one.asked ? `, no frame at ${one.missed.toLocaleString()} of ${one.asked.toLocaleString()} moments` : "")),
  ];
}

const lasting = (seconds) => (seconds < 600 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`);

// How much was watched since the camera's process began; the pointer over it shows every place.
function coverage({ seen_s: seen, skipped_s: skipped, hidden_s: hidden }) {
  const places = Object.entries(hidden).sort(([, one], [, other]) => other - one)
    .map(([place, seconds]) => `${/^\d+$/.test(place) ? `seat ${place}` : place} ${Math.round((100 * seconds) / Math.max(1, seen))}%`);
  return html("span", { id: "coverage", title: `Something moved over: ${places.join(", ") || "no place"}` },
    html("b", {}, lasting(seen)), " watched, ", html("b", {}, lasting(skipped)), " skipped",
    places.length ? `, hidden most: ${places[0]}` : "");
}

function now(line) {
  const dealer = line.seats.find((seat) => seat.seat === null);
  const seats = line.seats.filter((seat) => seat.seat !== null);
  if (!line.seats.length) {
    return [html("p", { class: "empty" }, html("strong", {}, "Nothing lies on the felt"),
      html("span", {}, line.state === "running" ? "The next round shows here as it is dealt."
        : "Hands show here while the table is watched."))];
  }
  return [dealer ? dealerNow(dealer, line.house_way) : null,
    html("div", { class: "seat-grid" }, ...seats.map(seatNow))].filter(Boolean);
}

function handNow(title, labels, name) {
  return html("div", { class: "hand-block" },
    html("p", { class: "hand-title" }, title, name ? html("em", {}, ` ${name}`) : ""),
    labels.length ? handElement(labels) : html("p", { class: "muted" }, "–"));
}

const backs = (count) => (count ? html("div", { class: "hand-block" },
  html("p", { class: "hand-title" }, `${count} face down`),
  handElement(Array(Math.min(count, 7)).fill("BACK"))) : null);

function dealerNow(seat, way) {
  return html("section", { class: "dealer-hands", "aria-label": "Dealer" },
    html("h3", {}, "Dealer"),
    handNow("Low", seat.low, seat.low_name), handNow("High", seat.high, seat.high_name), backs(seat.backs),
    way ? html("p", { class: "house-way" },
      badge(way.kind, { ok: "house way", high: "not the house way", undecided: "house way undecided" }[way.kind]),
      " ", way.words) : null,
    way?.low.length ? html("div", { class: "due-hands" }, html("h3", {}, "Due"),
      handNow("Low", way.low, ""), handNow("High", way.high, "")) : null);
}

function seatNow(seat) {
  const names = new Set([...seat.due.map((due) => due.wager), ...Object.keys(seat.stakes), ...Object.keys(seat.pays)]);
  const isThere = names.size || seat.low.length || seat.high.length || seat.backs;
  return html("section", { class: `seat-hands${isThere ? "" : " vacant"}`, "aria-label": `Seat ${seat.seat}` },
    html("h3", {}, `Seat ${seat.seat}`, ...seat.lammers.map(lammerElement),
      html("span", { class: "result", "data-result": seat.result }, isThere ? RESULTS[seat.result] ?? "" : "nobody plays")),
    isThere ? html("div", { class: "two-hands" }, handNow("Low", seat.low, seat.low_name),
      handNow("High", seat.high, seat.high_name), backs(seat.backs)) : null,
    seat.foul ? html("p", {}, badge("high", "foul"), " ", seat.foul) : null,
    names.size ? wagersNow(seat, [...names]) : null);
}

function wagersNow(seat, names) {
  const due = new Map(seat.due.map((line) => [line.wager, line]));
  return html("table", { class: "wagers" },
    html("thead", {}, html("tr", {}, ...["Wager", "Stake", "Laid", "Due"].map((words) => (
      html("th", { scope: "col" }, words))))),
    html("tbody", {}, ...names.flatMap((name) => {
      const line = due.get(name);
      const cents = (values) => (name in values ? dollars(values[name], "chips") : "–");
      return [
        html("tr", { class: line?.outcome ? `out-${line.outcome}` : "" },
          html("th", { scope: "row" }, line?.name ?? wagerName(name)), html("td", {}, cents(seat.stakes)),
          html("td", {}, cents(seat.pays)), html("td", {}, line?.outcome ? line.words : "open")),
        line && (line.rule || line.why) ? html("tr", { class: "why" }, html("td", { colspan: 4 },
          line.why, line.why && line.rule ? " · " : "", html("cite", {}, line.rule))) : null,
      ].filter(Boolean);
    })));
}

function drawLists() {
  const nothing = form.is_known ? "none yet" : "▲ cannot be read now";
  clearTimeout(again);
  if (!form.is_known) again = setTimeout(refresh, ASK_AGAIN_MS);
  byId("alerts").replaceChildren(...(form.alerts.length ? form.alerts.map((alert) => html("li", {},
    html("a", { href: `/alerts?alert=${alert.id}&state=` }, severity(alert),
      html("span", { class: "title" }, `${alert.title}, ${alert.place}`), stateBadge(alert),
      html("span", { class: "muted nowrap" }, moment(alert.at)))))
    : [html("li", { class: "muted" }, nothing)]));
  byId("rounds").replaceChildren(...(form.rounds.length ? form.rounds.map((round) => html("li", {},
    html("a", { href: `/rounds/${round.id}` }, badge(round.kind, round.words),
      html("span", { class: "title" }, round.round_id),
      html("span", { class: "muted nowrap" }, moment(round.ended_at)))))
    : [html("li", { class: "muted" }, nothing)]));
}

async function refresh() {
  try {
    form = await get(path);
    drawLists();
  } catch {
    // The banner of the lost connection says it.
  }
}

function askDealer() {
  const dialog = byId("dealer-dialog");
  byId("dealer-names").replaceChildren(...form.dealers.map((name) => html("option", { value: name })));
  byId("dealer-name").value = form.line.dealer ?? "";
  dialog.returnValue = ""; // what was chosen last time must not count again
  dialog.showModal();
  byId("dealer-name").select();
}

// Enter in the field is the form's first button otherwise, which is Cancel.
byId("dealer-name").addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  event.preventDefault();
  byId("dealer-dialog").close("save");
});
byId("dealer-dialog").addEventListener("close", async () => {
  if (byId("dealer-dialog").returnValue !== "save") return;
  const line = await attempt(() => post(`${path}/dealer`, { name: byId("dealer-name").value.trim() || null }));
  if (!line) return;
  drawLine(line);
  toast(line.dealer ? `${line.dealer} deals at ${line.table} from now on.` : "Nobody is named as dealer.", "good");
  refresh();
});

new Tables([form.line], drawLine);
for (const kind of ["round", "alert", "alert_changed"]) {
  live.on(kind, (event) => { if (event.camera === camera) refresh(); });
}
live.on("missed", refresh);
live.on("begun", refresh);
drawLine(form.line);
drawLists();

keys.add("Table", [
  ["o", "detections drawn over the image or not", turn],
  ["c", "enlarge the next camera's image", () => { if (!cameras.next()) toast("This table has one camera."); }],
  ["d", "name the dealer", () => { if (start.may_judge) askDealer(); }],
  ["b", "declare who banks, whose the seats are, meters", () => { if (start.may_judge) askFacts(path); }],
  ["Enter", "open the alert or round that is chosen"],
]);
