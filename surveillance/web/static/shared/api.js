// The JSON API. Every failure is an ApiError with plain words; status 0: no answer came.

import { html, byId } from "/static/shared/dom.js";

export class ApiError extends Error {
  constructor(status, message, body = null) {
    super(message);
    this.status = status;
    this.body = body;
  }

  // Worth trying again as it is: no answer, a busy database, a server that is starting.
  get passing() {
    return this.status === 0 || this.status === 408 || this.status === 429 || this.status >= 500;
  }
}

const ANSWER_WITHIN_MS = 30_000;
const TOAST_MS = 6_000;

// "?a=1&b=2" of the values that are set; empty for none.
export function query(values) {
  const kept = Object.entries(values).filter(([, v]) => v !== undefined && v !== null && v !== "");
  return kept.length ? `?${new URLSearchParams(kept)}` : "";
}

// Requests under way, and what those that come meanwhile wait for.
const underWay = new Set();
let turn = Promise.resolve();

export async function ask(method, url, body) {
  await turn;
  const answer = request(method, url, body);
  underWay.add(answer);
  try {
    return await answer;
  } finally {
    underWay.delete(answer);
  }
}

// For what changes the log-in: the server refuses a request under the former one from then on, and a
// count of the alerts that is refused would lead away from the page. Those under way are answered
// first; others wait for this answer, and for good where the page is left after it (`isLast`).
export async function askAlone(method, url, body, isLast = false) {
  let goOn = () => {};
  turn = new Promise((resolve) => { goOn = resolve; });
  await Promise.allSettled(underWay);
  let isDone = false;
  try {
    const content = await request(method, url, body);
    isDone = true;
    return content;
  } finally {
    if (!isDone || !isLast) goOn();
  }
}

async function request(method, url, body) {
  const headers = { accept: "application/json" };
  if (method !== "GET") headers["x-feltwatch"] = "1";
  if (body !== undefined) headers["content-type"] = "application/json";
  let answer;
  try {
    answer = await fetch(url, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      cache: "no-store",
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
  } catch {
    throw new ApiError(0, "the server does not answer");
  }
  const content = answer.status === 204 ? null : await answer.json().catch(() => null);
  if (answer.status === 401) leaveForLogin();
  if (!answer.ok) throw new ApiError(answer.status, content?.detail ?? `status ${answer.status}`, content);
  return content;
}

export const get = (url, values = {}) => ask("GET", url + query(values));
export const post = (url, body = {}) => ask("POST", url, body);
export const put = (url, body = {}) => ask("PUT", url, body);
export const del = (url) => ask("DELETE", url);

function leaveForLogin() {
  if (location.pathname === "/login") return;
  location.assign(`/login?next=${encodeURIComponent(location.pathname + location.search)}`);
}

// A line at the edge of the page that goes by itself. Kinds: info, good, bad.
export function toast(words, kind = "info") {
  const sign = { info: "ℹ", good: "✓", bad: "▲" }[kind];
  const node = html("p", { class: "toast", "data-kind": kind, role: kind === "bad" ? "alert" : undefined },
    html("span", { "aria-hidden": "true" }, sign), " ", words);
  byId("toasts").append(node);
  while (byId("toasts").childElementCount > 4) byId("toasts").firstElementChild.remove();
  setTimeout(() => node.remove(), TOAST_MS);
}

// Run a request to the server; show its error, and return undefined then.
export async function attempt(act) {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    toast(`${error.message}.`.replace(/\.\.$/, "."), "bad");
    return undefined;
  }
}
