// One's own account: password and API tokens.

import { askAlone, attempt, del, post, toast } from "/static/shared/api.js";
import { moment, startValues } from "/static/shared/dom.js";
import { byId, day, html, onSend, options, showOnce } from "/static/access/form.js";

const DAY_MS = 86_400_000;
const start = startValues();
const tokens = new Map(start.tokens.map((token) => [token.id, token]));

onSend(byId("change"), byId("change-refusal"), async (showProblem) => {
  if (byId("new").value !== byId("again").value) {
    byId("again").focus();
    showProblem("the two new passwords are not the same");
    return;
  }
  await askAlone("PUT", "/api/me/password", { current: byId("current").value, new: byId("new").value });
  byId("change").reset();
  toast("The password is changed", "good");
});

function state(token) {
  if (token.revoked_at) return ["stopped", "revoked"];
  if (token.expires_at && new Date(token.expires_at) <= new Date()) return ["ended", "over"];
  return ["ok", "active"];
}

function row(token) {
  const [sign, words] = state(token);
  const revoke = () => attempt(async () => {
    tokens.set(token.id, await del(`/api/tokens/${token.id}`));
    toast(`The token for ${token.name} is revoked`, "good");
    show();
  });
  return html("tr", { class: words === "active" ? undefined : "is-out" },
    html("th", { scope: "row" }, token.name),
    html("td", {}, token.scope),
    html("td", {}, html("span", { class: "badge", "data-state": sign }, words)),
    html("td", { class: "nowrap" }, day(token.created_at)),
    html("td", { class: "nowrap" }, token.expires_at ? day(token.expires_at) : "it is revoked"),
    html("td", { class: "nowrap" }, token.used_at ? moment(token.used_at) : "never"),
    html("td", {}, html("div", { class: "acts" }, words === "active"
      ? html("button", { type: "button", class: "btn btn-danger", onclick: revoke, "aria-label": `Revoke: ${token.name}` }, "Revoke") : null)));
}

function show() {
  byId("tokens").replaceChildren(...[...tokens.values()].sort((a, b) => b.id - a.id).map(row));
  byId("tokens").closest("table").hidden = tokens.size === 0;
  byId("no-tokens").hidden = tokens.size > 0;
}

options(byId("token-scope"), start.roles, "viewer");
onSend(byId("make"), byId("make-refusal"), async () => {
  const days = Number(byId("token-days").value);
  const { token, secret } = await post("/api/tokens", {
    name: byId("token-name").value, scope: byId("token-scope").value,
    expires_at: days ? new Date(Date.now() + days * DAY_MS).toISOString() : null,
  });
  tokens.set(token.id, token);
  byId("token-name").value = "";
  show();
  showOnce(byId("secret"), `Token for ${token.name}`,
    "Programs send it as “Authorization: Bearer …”. It is shown only now; who has it may do what you allowed it.", secret);
});
show();
