/** What goes along with a message, as chips that can be removed: pictures, the open files, the selection, earlier parts. */

import { l10n } from "vscode";
import type { Picture, Recalled, Shown, ShownPart } from "../src/views/messages";
import { button, el, fill } from "./dom";
import { icon } from "./icons";
import { picture, thumbnail } from "./pictures";

/** Pictures of one message. */
const MOST = 8;

export class Attachments {
  readonly element = el("ul.chips", { "aria-label": l10n.t("Goes along"), hidden: true });
  private shown: Shown = {};
  /** What the user does not want to send, by what it was: another file or selection is another matter. */
  private readonly removed = new Map<ShownPart, string>();
  private added: { picture: Picture; chip: HTMLElement }[] = [];

  private again: Recalled[] = [];

  /** `changed` is called when pictures came or went. */
  constructor(private readonly changed: () => void, private readonly failed: (text: string) => void) {}

  get pictures(): Picture[] {
    return this.added.map((one) => one.picture);
  }

  get recalled(): Recalled[] {
    return this.again;
  }

  /** Take these earlier parts and sessions too, each once. */
  recall(parts: readonly Recalled[]): void {
    const fresh = parts.filter((part) => !this.again.some((one) => one.sessionId === part.sessionId && one.partId === part.partId));
    if (!fresh.length) return;
    this.again = [...this.again, ...fresh];
    this.draw();
    this.changed();
  }

  /** Let go of another session's parts. */
  keepOf(sessionId: string): void {
    this.let((one) => one.partId === undefined || one.sessionId === sessionId);
  }

  /** The parts of what the editor shows that are not to be sent. */
  get without(): ShownPart[] {
    return (Object.keys(this.shown) as ShownPart[]).filter((part) => this.hides(part));
  }

  show(shown: Shown): void {
    this.shown = shown;
    this.draw();
  }

  /** Take these pictures too. */
  put(pictures: readonly Picture[]): void {
    for (const one of pictures.slice(0, MOST - this.added.length)) {
      const made = { picture: one, chip: this.chip(l10n.t("picture"), thumbnail(one, 36), () => this.drop(made)) };
      this.added.push(made);
    }
    this.draw();
    this.changed();
  }

  /** Take those of these files that are pictures; gives whether there was one. */
  files(files: Iterable<File>): boolean {
    const found = [...files].filter(({ type }) => type.startsWith("image/"));
    if (this.added.length + found.length > MOST) this.failed(l10n.t("A message takes {0} pictures.", MOST));
    for (const file of found) void picture(file).then((one) => this.put([one]), () => this.failed(l10n.t("{0} cannot be read as a picture.", file.name || l10n.t("This"))));
    return found.length > 0;
  }

  clear(): void {
    this.added = [];
    this.again = [];
    this.draw();
  }

  private let(stays: (one: Recalled) => boolean): void {
    const left = this.again.filter(stays);
    if (left.length === this.again.length) return;
    this.again = left;
    this.draw();
    this.changed();
  }

  private drop(made: { picture: Picture; chip: HTMLElement }): void {
    this.added = this.added.filter((one) => one !== made);
    this.draw();
    this.changed();
  }

  private hides(part: ShownPart): boolean {
    return this.removed.get(part) === this.shown[part]?.said;
  }

  private draw(): void {
    const parts = (Object.keys(this.shown) as ShownPart[]).filter((part) => !this.hides(part)).map((part) => {
      const { label = "", said = "" } = this.shown[part] ?? {};
      const remove = () => {
        this.removed.set(part, said);
        this.draw();
        this.changed();
      };
      const chip = this.chip(said, el("span.target", {}, label), remove, icon(part === "selection" ? "other" : "read"));
      chip.title = said;
      return chip;
    });
    const again = this.again.map((one) => {
      const chip = this.chip(one.label, el("span.target", {}, one.label), () => this.let((other) => other !== one), icon(one.partId === undefined ? "session" : "recall"));
      chip.title = one.partId === undefined ? l10n.t("What became of the session “{0}”", one.label) : l10n.t("{0}, recalled from earlier", one.label);
      return chip;
    });
    const chips = [...parts, ...again, ...this.added.map((one) => one.chip)];
    this.element.hidden = !chips.length;
    fill(this.element, ...chips);
  }

  private chip(name: string, what: HTMLElement, remove: () => void, picture?: Node): HTMLElement {
    return el("li.attached", {}, picture, what, button(l10n.t("Do not send {0}", name), remove, icon("failed"), "quiet"));
  }
}
