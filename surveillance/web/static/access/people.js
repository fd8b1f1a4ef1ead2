// People: invite, change roles, shut out, let in again, make links.

import { ask, attempt, del, post, toast } from "/static/shared/api.js";
import { moment, startValues } from "/static/shared/dom.js";
import { byId, day, html, onSend, options, showOnce, sure } from "/static/access/form.js";

const start = startValues();
const users = new Map(start.users.map((user) => [user.id, user]));

function state(user) {
  if (user.disabled) return html("span", { class: "badge", "data-state": "stopped" }, "disabled");
  if (!user.has_password) return html("span", { class: "badge", "data-state": "queued" }, "invited");
  return html("span", { class: "badge", "data-state": "ok" }, "active");
}

function showLink(user, link) {
  const until = moment(link.expires_at);
  showOnce(byId("link"), `Link for ${user.name}`,
    `Give it to ${user.name} in a way that only they read. It works once, until ${until}, and is shown only now.`,
    new URL(link.path, location.origin).href);
}

async function change(user, values, words) {
  const changed = await attempt(() => ask("PATCH", `/api/users/${user.id}`, values));
  if (changed) {
    users.set(user.id, changed);
    toast(words, "good");
  }
  show(user.id);
}

async function disable(user) {
  const meant = await sure(byId("sure"), `Shut ${user.name} out?`,
    "They are logged out at once, and their API tokens are revoked for good. What they did stays in the log.", "Disable");
  if (meant) await change(user, { disabled: true }, `${user.name} is shut out`);
}

async function newRole(user, role) {
  await change(user, { role }, `${user.name} is ${role} now`);
}

function row(user) {
  const me = user.id === start.me;
  const role = html("select", {
    "aria-label": `Role of ${user.name}`, disabled: me || user.disabled, title: me ? "Another admin changes yours" : undefined,
    onchange: (event) => newRole(user, event.target.value),
  });
  options(role, start.roles, user.role);
  const act = (words, run, kind = "") => html("button", {
    type: "button", class: `btn ${kind}`, onclick: run, "aria-label": `${words}: ${user.name}`,
  }, words);
  return html("tr", { "data-user": user.id, class: user.disabled ? "is-out" : undefined },
    html("th", { scope: "row" }, user.name, me ? html("span", { class: "muted" }, " (you)") : null),
    html("td", {}, role),
    html("td", {}, state(user)),
    html("td", { class: "nowrap" }, day(user.created_at)),
    html("td", {}, html("div", { class: "acts" },
      user.disabled
        ? act("Enable", () => change(user, { disabled: false }, `${user.name} may come in again`))
        : act("New link", () => attempt(async () => showLink(user, await post(`/api/users/${user.id}/link`)))),
      user.disabled || me ? null : act("Log out", () => attempt(async () => {
        await del(`/api/users/${user.id}/sessions`);
        toast(`${user.name} is logged out everywhere`, "good");
      })),
      user.disabled || me ? null : act("Disable", () => disable(user), "btn-danger"))));
}

// Redraw; the focus stays in the row of the person whose number is given.
function show(at) {
  const sorted = [...users.values()].sort((a, b) => a.name.localeCompare(b.name));
  byId("people").replaceChildren(...sorted.map(row));
  if (at) byId("people").querySelector(`[data-user="${at}"] button`)?.focus();
}

options(byId("invite-role"), start.roles, "viewer");
onSend(byId("invite"), byId("refusal"), async () => {
  const { user, link } = await post("/api/users", { name: byId("invite-name").value, role: byId("invite-role").value });
  users.set(user.id, user);
  byId("invite-name").value = "";
  show();
  showLink(user, link);
});
show();
