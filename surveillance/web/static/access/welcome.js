// A one-time link: its secret stands behind the "#", which no server is ever sent unasked.

import { ApiError, post } from "/static/shared/api.js";
import { byId, onSend } from "/static/access/form.js";

const TITLES = { first: "The first admin", invite: "Welcome", reset: "A new password" };
let secret = "";
let meant = null;

function gone(why) {
  byId("welcome").hidden = true;
  byId("why").textContent = `${why[0].toUpperCase()}${why.slice(1)}.`;
  byId("gone").hidden = false;
}

function show() {
  const first = meant.kind === "first";
  byId("title").textContent = TITLES[meant.kind];
  byId("introduction").textContent = first
    ? "Nobody has an account here yet. Choose your name and password; you will be able to invite the others."
    : `You log in as ${meant.name} (${meant.role}). Choose your password.`;
  byId("name-field").hidden = !first;
  byId("name").required = first;
  byId("name").value = meant.name ?? "";
  byId("welcome").hidden = false;
  byId(first ? "name" : "password").focus();
}

async function look() {
  secret = location.hash.slice(1);
  byId("gone").hidden = true;
  try {
    if (!secret) throw new ApiError(410, "the address is not whole; copy all of it");
    meant = await post("/api/links/look", { secret });
    show();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    gone(error.message);
  }
  document.body.dataset.ready = "true";
}

onSend(byId("welcome"), byId("refusal"), async (showProblem) => {
  if (byId("password").value !== byId("again").value) {
    byId("again").value = "";
    byId("again").focus();
    showProblem("the two passwords are not the same");
    return;
  }
  try {
    await post("/api/links/use", {
      secret, name: meant.kind === "first" ? byId("name").value : null, password: byId("password").value,
    });
  } catch (error) {
    if (error.status === 410) gone(error.message);
    throw error;
  }
  location.replace("/");
});

addEventListener("hashchange", look);
look();
