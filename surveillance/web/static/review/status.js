// What is saved and what is not, said such that nobody can miss it; and short notices.

const NOTICE_MS = 5_000;

export class Status {
  constructor({ alarm, words, saved, notice, spoken }) {
    this.alarm = alarm;
    this.words = words;
    this.saved = saved;
    this.notice = notice;
    this.spoken = spoken;
    this.lost = false; // whether the server did not answer last time
  }

  // A line over the image that goes by itself.
  say(words) {
    clearTimeout(this.timer);
    this.notice.textContent = words;
    this.notice.hidden = !words;
    this.timer = setTimeout(() => { this.notice.hidden = true; }, NOTICE_MS);
  }

  // For screen readers.
  speak(words) {
    this.spoken.textContent = words;
  }

  reached() {
    this.lost = false;
  }

  failed(error, saver) {
    if (error.passing) this.lost = true;
    else this.say(`${error.message}.`);
    this.draw(saver);
  }

  draw(saver) {
    const words = this.#alarm(saver);
    if (this.words.textContent !== words) this.words.textContent = words;
    this.alarm.hidden = !words;
    const { length } = saver.waiting;
    const isLoud = saver.troubles.length > 0;
    this.saved.className = isLoud ? "bad" : length ? "busy" : "good";
    this.saved.textContent = isLoud ? `▲ ${length} not saved` : length ? "… saving" : "✓ all saved";
  }

  #alarm(saver) {
    const refused = saver.troubles.find((doc) => !doc.trouble.passing);
    if (refused) {
      return `NOT SAVED: ${refused.form.file}: ${refused.trouble.message}. `
        + "Undo (Ctrl+Z) or change it.";
    }
    const { length } = saver.troubles;
    if (length) {
      const why = saver.troubles[0].trouble.message;
      return `NOT SAVED: ${length === 1 ? saver.troubles[0].form.file : `${length} images`}: `
        + `${why}. Your edits are kept in this browser and sent again by themselves.`;
    }
    if (saver.storeFull) return "This browser's store is full: do not close the page before all is saved.";
    if (this.lost) {
      return "The server does not answer. Edits are kept in this browser until it is back.";
    }
    return "";
  }
}
