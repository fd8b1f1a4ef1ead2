// Two people changed one image: both versions side by side, and the question which to keep.

import { shortName, face, isCard } from "./cards.js";
import { differences } from "./model.js";
import { person, when } from "./panel.js";
import { html, svg } from "./svg.js";

const LEAST_SHARE = 0.3;

// Whoever was typing "10S" or pressing Enter when the question came up has not answered it.
const DEAF_MS = 700;

export class Conflicts {
  constructor(dialog) {
    this.dialog = dialog;
    this.queue = Promise.resolve();
    dialog.addEventListener("cancel", (event) => event.preventDefault());
    dialog.addEventListener("keydown", (event) => {
      event.stopPropagation();
      const choice = { 1: "mine", 2: "theirs" }[event.key];
      if (choice && !event.repeat && !event.ctrlKey && !event.altKey) this.choose?.(choice);
      if (event.key === "Escape") event.preventDefault();
    });
  }

  get open() {
    return this.dialog.open;
  }

  // Gives a promise of "mine" or "theirs"; one question after the other.
  ask(doc, theirs) {
    const answer = this.queue.then(() => this.#show(doc, theirs));
    this.queue = answer;
    return answer;
  }

  #show(doc, theirs) {
    const mine = doc.boxes;
    const { onlyA, onlyB } = differences(mine, theirs.boxes);
    const window = region([...onlyA, ...onlyB], theirs);
    const by = person(theirs.confirmed_by ?? theirs.labelled_by);
    const saved = theirs.confirmed_by
      ? `saved and confirmed by ${by}, ${when(theirs.confirmed_at)}` : `saved by ${by}`;
    const alike = !onlyA.length && !onlyB.length;
    this.dialog.replaceChildren(
      html("h2", { id: "conflict-title", tabindex: "-1", autofocus: true }, `${theirs.file} was changed by ${by} meanwhile`),
      html("p", {}, alike
        ? "The boxes are alike, but not their order or the confirmation. Nothing is overwritten "
          + "until you choose."
        : "Nothing is overwritten until you choose. Boxes that differ stand out, the others are "
          + "thin. The version not chosen stays in the history if it was saved."),
      html(
        "div", { class: "sides" },
        this.#side("Yours", "not saved yet", mine, onlyA, doc.form, window, "mine", "1"),
        this.#side(`That of ${by}`, saved, theirs.boxes, onlyB, theirs, window, "theirs", "2"),
      ),
    );
    this.dialog.classList.remove("ready");
    this.dialog.showModal();
    return new Promise((resolve) => {
      setTimeout(() => {
        this.dialog.classList.add("ready");
        for (const button of this.dialog.querySelectorAll("button")) button.disabled = false;
        this.choose = (choice) => {
          this.choose = null;
          this.dialog.close();
          resolve(choice);
        };
      }, DEAF_MS);
    });
  }

  #side(title, saved, boxes, only, form, window, choice, key) {
    const picture = svg("svg", {
      viewBox: `${window.x} ${window.y} ${window.width} ${window.height}`, role: "img",
      "aria-label": `${title}: ${boxes.length} boxes`,
    });
    picture.append(svg("image", { href: form.image_url, width: form.width, height: form.height }));
    const letter = window.width / 32;
    for (const box of boxes) {
      const isOnly = only.includes(box);
      const { x0, y0, x1, y1 } = box;
      const group = svg("g", { class: `box ${face(box.label).tone}${isOnly ? " only" : ""}` });
      group.append(svg("rect", {
        class: "edge", x: x0, y: y0, width: Math.max(0, x1 - x0), height: Math.max(0, y1 - y0),
      }));
      if (isOnly) {
        const text = svg("text", { x: x0, y: Math.max(y0 - letter / 4, letter), "font-size": letter });
        text.textContent = box.label;
        group.append(text);
      }
      picture.append(group);
    }
    const names = only.map((box) => (isCard(box.label) ? shortName(box.label) : box.label));
    return html(
      "section", { class: choice },
      html("h3", {}, title, html("span", { class: "dim" }, ` ${saved}`)),
      picture,
      html("p", {}, `${boxes.length} boxes; ${only.length
        ? `only here: ${names.slice(0, 12).join(", ")}${names.length > 12 ? " …" : ""}`
        : "nothing that the other lacks"}`),
      html("button", { type: "button", class: "go", disabled: true, onclick: () => this.choose?.(choice) },
        html("kbd", {}, key), ` Keep ${choice === "mine" ? "mine" : "theirs"}`),
    );
  }
}

// The part of the image in which the versions differ, with room about it.
function region(boxes, { width, height }) {
  if (!boxes.length) return { x: 0, y: 0, width, height };
  const low = { x: Math.min(...boxes.map((b) => b.x0)), y: Math.min(...boxes.map((b) => b.y0)) };
  const high = { x: Math.max(...boxes.map((b) => b.x1)), y: Math.max(...boxes.map((b) => b.y1)) };
  const wide = Math.min(
    width, Math.max(1.5 * (high.x - low.x), (1.5 * (high.y - low.y) * width) / height,
      LEAST_SHARE * width),
  );
  const tall = (wide * height) / width;
  const within = (value, most) => Math.max(0, Math.min(value, most));
  return {
    x: within((low.x + high.x - wide) / 2, width - wide),
    y: within((low.y + high.y - tall) / 2, height - tall),
    width: wide, height: tall,
  };
}
