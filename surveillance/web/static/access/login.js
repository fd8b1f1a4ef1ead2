// The login.

import { get, post } from "/static/shared/api.js";
import { startValues } from "/static/shared/dom.js";
import { byId, onSend } from "/static/access/form.js";

const start = startValues();

onSend(byId("login"), byId("refusal"), async () => {
  try {
    await post("/api/login", { name: byId("name").value, password: byId("password").value });
  } catch (error) {
    byId("password").value = "";
    byId("password").focus();
    throw error;
  }
  location.replace(start.next);
});

// From a link on another site a browser sends no login along, though there may be one.
if (start.ask) get("/api/me").then(() => location.replace(start.next), () => {});

document.body.dataset.ready = "true";
