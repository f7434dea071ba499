/** A line that unfolds: a button with what it is, actions beside it, and a body below. */

import { el } from "./dom";
import { icon } from "./icons";

let count = 0;

export class Fold {
  readonly head = el("span.fold-head");
  private readonly spoken = el("span.spoken");
  readonly actions = el("span.fold-actions");
  /** Said of it by others, beside what it says. */
  readonly marks = el("span.marks");
  readonly body: HTMLElement;
  readonly element: HTMLElement;
  private readonly toggle: HTMLButtonElement;
  private readonly line: HTMLElement;
  /** The user said which way; it is not unfolded or folded for them any more. */
  private chosen = false;

  /** `drawn` is called as the body is shown, when it has a size. */
  constructor(kind: string, private readonly drawn: () => void = () => {}) {
    count += 1;
    this.body = el("div.fold-body", { id: `fold-${count}`, hidden: true });
    this.toggle = el(
      "button.fold-toggle",
      {
        type: "button",
        "aria-expanded": "false",
        "aria-controls": `fold-${count}`,
        onclick: () => {
          this.chosen = true;
          this.open = !this.open;
          if (this.open) this.show();
        },
      },
      this.spoken,
      this.head,
      icon("chevron"),
    );
    this.line = el("div.fold-line", {}, this.toggle, this.marks, this.actions);
    this.element = el("div.fold", {}, this.line, this.body);
    this.element.classList.add(kind);
  }

  get open(): boolean {
    return !this.body.hidden;
  }

  set open(open: boolean) {
    this.body.hidden = !open;
    if (open) this.drawn();
    this.toggle.setAttribute("aria-expanded", String(open));
  }

  /** Bring as much of it into sight as there is room for, its line above all. */
  show(): void {
    this.element.scrollIntoView({ block: "nearest" });
    this.line.scrollIntoView({ block: "nearest" });
  }

  /** Unfold or fold it, unless the user chose. */
  suggest(open: boolean): void {
    if (!this.chosen && this.open !== open) this.open = open;
  }

  /** What a screen reader says of the button. */
  set label(text: string) {
    this.spoken.textContent = text;
    this.head.setAttribute("aria-hidden", "true");
  }
}
