// The JSON API as functions. Every failure is an ApiError; status 0 means that no answer came.

import { ApiError } from "/static/shared/api.js";

export { ApiError };

const ANSWER_WITHIN_MS = 20_000;

async function ask(method, url, body, tag) {
  const headers = { accept: "application/json" };
  if (body !== undefined) {
    headers["content-type"] = "application/json";
    headers["x-feltwatch"] = "1";
  }
  if (tag) headers["if-none-match"] = tag;
  let answer;
  let content;
  try {
    answer = await fetch(url, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      cache: "no-store",
      redirect: "error",
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
    content = answer.status === 304 ? null : await answer.json();
  } catch (error) {
    const status = error instanceof SyntaxError && answer ? answer.status : 0;
    throw new ApiError(status, "the server does not answer", null);
  }
  if (answer.status === 304) return { content: null, tag };
  if (!answer.ok) {
    throw new ApiError(answer.status, content?.detail ?? `status ${answer.status}`, content);
  }
  return { content, tag: answer.headers.get("etag") };
}

function query(values) {
  const kept = Object.entries(values).filter(([, v]) => v !== undefined && v !== null);
  return kept.length ? `?${new URLSearchParams(kept)}` : "";
}

export class Api {
  constructor(base) {
    this.base = base;
  }

  async pictures(filter, place) {
    return (await ask("GET", `${this.base}/pictures${query({ ...filter, ...place })}`)).content;
  }

  async count(filter, at) {
    return (await ask("GET", `${this.base}/count${query({ ...filter, at })}`)).content;
  }

  // {content, tag}; content is null when the image with that tag is still the right one.
  picture(id, tag) {
    return ask("GET", `${this.base}/pictures/${id}`, undefined, tag);
  }

  saveBoxes(id, revision, boxes) {
    return ask("PUT", `${this.base}/pictures/${id}/boxes`, { revision, boxes });
  }

  saveConfirmation(id, revision, confirmed) {
    return ask("PUT", `${this.base}/pictures/${id}/confirmation`, { revision, confirmed });
  }

  async history(id) {
    return (await ask("GET", `${this.base}/pictures/${id}/history`)).content;
  }

  async boxesAt(id, revision) {
    return (await ask("GET", `${this.base}/pictures/${id}/history/${revision}`)).content;
  }

  // The 53-card check with these boxes on the image; nothing is saved.
  async deal(id, boxes) {
    return (await ask("POST", `${this.base}/pictures/${id}/deal`, { boxes })).content;
  }

  // What is suggested with these boxes on the image; nothing is saved.
  async suggestions(id, boxes) {
    return (await ask("POST", `${this.base}/pictures/${id}/suggestions`, { boxes })).content;
  }

  saveRejected(id, keys) {
    return ask("PUT", `${this.base}/pictures/${id}/suggestions/rejected`, { keys });
  }

  async addLabel(name) {
    return (await ask("POST", `${this.base}/labels`, { name })).content;
  }

  async setPerson(name) {
    return (await ask("PUT", "/api/me", { name })).content.name;
  }
}
