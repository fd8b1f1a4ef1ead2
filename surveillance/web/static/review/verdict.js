// Confirming an image and taking it back; its history, and bringing older boxes back.

import { DOUBLE } from "./deal.js";

export class Verdict {
  constructor(app) {
    this.app = app;
    this.asked = ""; // the cards about which "confirm all the same?" was said last
  }

  async confirm(goOn) {
    this.app.editing.flush();
    const { doc } = this.app;
    await this.app.checkDeal();
    if (doc !== this.app.doc) return;
    const doubles = this.app.deal.doubles();
    const question = doubles.join(" ");
    if (doubles.length && !doc.confirmed && this.asked !== question) {
      this.asked = question;
      this.app.say(`${DOUBLE} Twice in this deal: ${question}. Enter again confirms all the same.`);
      return;
    }
    if (!doc.confirmed) {
      doc.wantConfirmed = true;
      this.app.saver.push(doc);
    }
    if (goOn) await this.app.pictures.nextUnconfirmed();
  }

  unconfirm() {
    this.app.editing.flush();
    if (!this.app.doc.confirmed) return;
    this.app.doc.wantConfirmed = false;
    this.app.saver.push(this.app.doc);
  }

  async toggleHistory() {
    if (this.app.panel.changes) this.app.panel.drawHistory(null);
    else await this.loadHistory();
  }

  async loadHistory() {
    const { doc } = this.app;
    try {
      const changes = await this.app.api.history(doc.id);
      if (doc === this.app.doc) this.app.panel.drawHistory(changes);
    } catch (error) {
      this.app.say(`History: ${error.message}.`);
    }
  }

  async bringBack(revision) {
    const { doc } = this.app;
    try {
      const boxes = await this.app.api.boxesAt(doc.id, revision);
      if (doc === this.app.doc) this.app.editing.bringBack(boxes);
    } catch (error) {
      this.app.say(`Revision ${revision}: ${error.message}.`);
    }
  }
}
