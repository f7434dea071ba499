/** A list above the input that completes what is being typed: commands by `/`, files by `@`. */

import { l10n } from "vscode";
import { many } from "../src/wording";
import { el, say } from "./dom";

export interface Suggestion {
  label: string;
  detail?: string;
  take: () => void;
}

export class Suggestions {
  readonly element = el("ul.suggestions", { id: "suggestions", role: "listbox", "aria-label": l10n.t("Suggestions"), hidden: true });
  private all: Suggestion[] = [];
  private at = 0;

  constructor(private readonly input: HTMLTextAreaElement) {
    input.addEventListener("blur", () => this.show([]));
  }

  get open(): boolean {
    return this.all.length > 0;
  }

  show(all: Suggestion[]): void {
    if (all.length && !this.open) say(many(all.length, l10n.t("{0} suggestion"), l10n.t("{0} suggestions")));
    const grown = this.all.every(({ label }, index) => all[index]?.label === label);
    this.at = grown ? this.at : 0;
    this.all = all;
    this.element.hidden = !all.length;
    const lines = all.map((one, index) => {
      const line = el("li", { id: `suggestion-${index}`, role: "option" }, el("span.what", {}, one.label), one.detail ? el("span.about", {}, one.detail) : undefined);
      // The input keeps the focus.
      line.addEventListener("pointerdown", (event) => {
        event.preventDefault();
        this.choose(index);
      });
      return line;
    });
    this.element.replaceChildren(...lines);
    this.mark();
  }

  /** Take a key while the list is there; gives whether it was one of the list's. */
  key(event: KeyboardEvent): boolean {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!this.open || event.shiftKey || event.altKey) return false;
    if (step) this.at = (this.at + step + this.all.length) % this.all.length;
    else if (event.key === "Escape") this.show([]);
    else if (event.key === "Enter" || event.key === "Tab") this.choose(this.at);
    else return false;
    event.preventDefault();
    this.mark();
    return true;
  }

  private choose(index: number): void {
    const chosen = this.all[index];
    this.show([]);
    chosen?.take();
  }

  private mark(): void {
    for (const [index, line] of [...this.element.children].entries()) {
      line.setAttribute("aria-selected", String(index === this.at));
      if (index === this.at) line.scrollIntoView({ block: "nearest" });
    }
    if (this.open) this.input.setAttribute("aria-activedescendant", `suggestion-${this.at}`);
    else this.input.removeAttribute("aria-activedescendant");
  }
}
