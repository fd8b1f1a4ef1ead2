// The log: times as the viewer's clock shows them, and the filter as an address.

import { query } from "/static/shared/api.js";
import { byId } from "/static/shared/dom.js";

const form = byId("filters");
const AT = new Intl.DateTimeFormat(undefined, {
  day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false,
});

for (const node of document.querySelectorAll("time")) {
  node.title = node.textContent;
  node.textContent = AT.format(new Date(node.dateTime));
}

// A moment as a field for local times takes it.
function local(text) {
  const at = new Date(text);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
for (const field of form.querySelectorAll("[data-at]")) {
  if (field.dataset.at) field.value = local(field.dataset.at);
}

function address(cursor = undefined) {
  const values = Object.fromEntries(new FormData(/** @type {any} */ (form)));
  for (const name of ["since", "until"]) {
    if (values[name]) values[name] = new Date(String(values[name])).toISOString();
  }
  return `/log${query({ ...values, cursor })}`;
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  location.assign(address());
});
const asked = new URLSearchParams(location.search);
asked.delete("cursor");
if (byId("newest")) byId("newest").href = `/log?${asked}`;
if (byId("older")) {
  asked.set("cursor", byId("older").dataset.cursor);
  byId("older").href = `/log?${asked}`;
}
