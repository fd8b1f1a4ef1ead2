// A table file being changed: its data, steps back, the server's check, saving.

import { ApiError, post, put, toast } from "/static/shared/api.js";
import { byId, html } from "/static/shared/dom.js";

const CHECK_AFTER_MS = 250;
const MOST_STEPS = 200;

export class Draft {
  constructor(file, { onShow, onFaults }) {
    this.url = `/api/tablefiles/${file.id}`;
    this.revision = file.revision;
    this.data = structuredClone(file.data);
    this.saved = JSON.stringify(file.data);
    this.faults = file.faults;
    this.steps = [];
    this.handlers = { onShow, onFaults };
    this.busy = false;
    addEventListener("beforeunload", (event) => { if (this.isChanged) event.preventDefault(); });
  }

  get isChanged() {
    return JSON.stringify(this.data) !== this.saved;
  }

  // Change the data by a function; `group` joins changes of one kind into one step back.
  change(act, group = null) {
    const before = JSON.stringify(this.data);
    act(this.data);
    if (JSON.stringify(this.data) === before) return;
    const last = this.steps.at(-1);
    if (!(group && last?.group === group)) this.steps.push({ before, group });
    if (this.steps.length > MOST_STEPS) this.steps.shift();
    this.check();
    this.showState();
  }

  // The next change begins a step of its own.
  endStep() {
    const last = this.steps.at(-1);
    if (last) last.group = null;
  }

  undo() {
    const step = this.steps.pop();
    if (!step) return;
    this.data = JSON.parse(step.before);
    this.handlers.onShow();
    this.check();
    this.showState();
  }

  check() {
    clearTimeout(this.timer);
    const number = this.number = (this.number ?? 0) + 1;
    this.timer = setTimeout(async () => {
      try {
        const { faults } = await post(`${this.url}/check`, { data: this.data });
        if (number !== this.number) return;
        this.faults = faults;
        this.handlers.onFaults(faults);
        this.showState();
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        this.showState(error.message);
      }
    }, CHECK_AFTER_MS);
  }

  async save(restart = false) {
    if (this.busy) return;
    this.busy = true;
    this.showState();
    const sent = JSON.stringify(this.data);
    try {
      const { revision, restarted } = await put(this.url, { revision: this.revision, data: this.data, restart });
      this.revision = revision;
      this.saved = sent;
      toast(restarted.length ? `Saved; ${restarted.join(", ")} restarts.` : "Saved.", "good");
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 409) this.conflict = error.message;
      toast(error.message, "bad");
    } finally {
      this.busy = false;
      this.showState();
    }
  }

  showState(problem = this.conflict) {
    const [state, words] = this.busy ? ["connecting", "saving"] : problem ? ["bad", problem]
      : this.faults.length ? ["bad", `${this.faults.length} ${this.faults.length === 1 ? "thing" : "things"} to fix`]
        : this.isChanged ? ["warn", "changed, not saved"] : ["ok", "saved"];
    byId("state").replaceChildren(html("span", { class: "badge", "data-state": state }, words));
    if (this.conflict) byId("state").append(" ", html("a", { class: "btn", href: location.href, onclick: () => { this.saved = JSON.stringify(this.data); } }, "Reload it"));
    byId("save").disabled = this.busy || !this.isChanged || this.faults.length > 0;
    byId("undo").disabled = this.steps.length === 0;
    document.body.dataset.state = state;
  }
}
