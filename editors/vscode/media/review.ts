/** A file that a turn changed: what is left of that change, hunk by hunk, to be kept or taken back. */

import { l10n } from "vscode";
import type { FromChat, Reviewed, ReviewedHunk } from "../src/views/messages";
import { turned } from "../src/unified";
import { diffLines, figures, spoken } from "./diff";
import { button, el, fill } from "./dom";
import { Fold } from "./fold";
import { icon } from "./icons";

/** What was looked at and is to stay, by words that name it. */
export interface Marks {
  has: (name: string) => boolean;
  add: (name: string) => void;
  remove: (name: string) => void;
}

/** What was taken back since the last turn, the newest last: to undo one would undo those after it, too, so it alone is offered. */
const taken: { review: Review; id: string; words: string }[] = [];

/** Nothing of it can be undone any more: a turn has begun, or another session is shown. */
export function forgetTaken(): void {
  for (const { review } of taken.splice(0)) review.draw();
}

export class Review {
  private readonly fold = new Fold("reviewed", () => this.unfolded());
  /** The user did something, and is to see the outcome. */
  private wanted = false;
  private readonly name: string;
  private figures: HTMLElement[] = [];
  private words = "";
  private seen: Reviewed | undefined;
  /** What is said of what is taken back now. */
  private taking = "";
  private to: string | undefined;

  /** `from` is the checkpoint before the turn. */
  constructor(private readonly path: string, private readonly from: string, private readonly marks: Marks, private readonly send: (message: FromChat) => void) {
    this.name = `${from} ${path}`;
    fill(
      this.fold.actions,
      button(l10n.t("Open the turn's changes of {0}", path), () => this.send({ type: "diff", change: { path, from, ...(this.to !== undefined && { to: this.to }) } }), icon("diff"), "quiet"),
      button(l10n.t("Take back {0}", path), () => this.takeBack(), icon("restore"), "quiet restore"),
      button(l10n.t("Keep {0}", path), () => this.keep([this.name]), icon("done"), "quiet"),
    );
  }

  get element(): HTMLElement {
    return this.fold.element;
  }

  /** Say how many lines the turn changed, up to a checkpoint; what is left of them is asked for anew. */
  count(added: number, removed: number, to: string | undefined): void {
    this.to = to;
    this.figures = figures(added, removed);
    this.words = l10n.t("{0}, {1}: review", this.path, spoken(added, removed));
    this.draw();
    if (this.fold.open) this.look();
  }

  /** Show what is left, and what was taken back of it or brought again. */
  take(seen: Reviewed): void {
    this.seen = seen;
    const before = taken.at(-1)?.review;
    if (seen.undo) taken.push({ review: this, id: seen.undo, words: this.taking });
    else if (seen.undo === "" && before === this) taken.pop();
    for (const review of new Set([before, this, taken.at(-1)?.review])) review?.draw();
    if (seen.undo && !this.fold.open) this.fold.open = true;
    if (this.wanted) this.fold.show();
    this.wanted = false;
  }

  private unfolded(): void {
    this.wanted = true;
    this.look();
  }

  /** While a turn runs nothing can be taken back, and so nothing is planned: what was seen stays. */
  private look(): void {
    if (!document.body.classList.contains("busy")) this.send({ type: "review", from: this.from, path: this.path });
    else if (!this.seen) this.take({ from: this.from, path: this.path, hunks: [], told: l10n.t("What is left is shown when the turn has ended.") });
  }

  private takeBack(hunk?: ReviewedHunk): void {
    this.wanted = true;
    this.taking = hunk ? l10n.t("Line {0}: taken back.", lineOf(hunk)) : l10n.t("Taken back.");
    if (hunk) this.recount(hunk);
    this.send({ type: "takeBack", from: this.from, path: this.path, ...(hunk && { hunks: [hunk.text] }) });
  }

  private keep(names: string[]): void {
    for (const name of names) this.marks.add(name);
    if (this.kept) this.fold.open = false;
    this.draw();
  }

  /** Those behind it that have its text are counted anew: what was kept of them may be another. */
  private recount(gone: ReviewedHunk): void {
    const { hunks = [] } = this.seen ?? {};
    const [text] = gone.name.split(" ");
    const behind = hunks.slice(hunks.indexOf(gone)).filter(({ name }) => name.startsWith(`${text} `));
    for (const hunk of behind) this.marks.remove(this.named(hunk));
  }

  /** An array's text: no file's name begins so. */
  private named({ name }: ReviewedHunk): string {
    return JSON.stringify([name, this.from, this.path]);
  }

  private get kept(): boolean {
    const { hunks = [], told } = this.seen ?? {};
    return (this.marks.has(this.name) && told === undefined) || (hunks.length > 0 && hunks.every((hunk) => this.marks.has(this.named(hunk))));
  }

  draw(): void {
    const { kept } = this;
    const { hunks = [], told } = this.seen ?? {};
    const own = taken.findLast(({ review }) => review === this);
    // That nothing is left of it is what was asked for.
    const gone = own !== undefined && !hunks.length;
    const state = kept ? l10n.t("kept") : gone ? l10n.t("taken back") : "";
    this.element.classList.toggle("kept", state !== "");
    this.fold.label = state ? `${this.words}, ${state}` : this.words;
    fill(this.fold.head, icon(kept ? "done" : state ? "restore" : "edit"), el("span.target", { title: this.path }, this.path), ...this.figures, state ? el("span.figure.state", {}, state) : undefined);
    const again = own && own === taken.at(-1) && button(l10n.t("Undo"), () => this.send({ type: "takeBack", from: this.from, path: this.path, undo: own.id }), undefined, "link restore");
    const words = gone ? own.words : told || own?.words;
    const line = words && el("p.left", {}, el("span", {}, words), again || undefined);
    fill(this.fold.body, line || undefined, ...hunks.map((hunk) => this.hunk(hunk)));
  }

  /** A hunk of what a restore would do, shown as the turn made it. */
  private hunk(hunk: ReviewedHunk): HTMLElement {
    const kept = this.marks.has(this.named(hunk));
    const made = turned(hunk.text);
    const line = lineOf(hunk);
    const tools = el(
      "div.hunk-head",
      {},
      button(l10n.t("Line {0}", line), () => this.send({ type: "open", path: this.path, line }), undefined, "link"),
      el("span.room"),
      kept ? el("span.faint", {}, l10n.t("kept")) : button(l10n.t("Keep"), () => this.keep([this.named(hunk)]), undefined, "link"),
      button(l10n.t("Take Back"), () => this.takeBack(hunk), undefined, "link restore"),
    );
    return el(`section.hunk${kept ? ".kept" : ""}`, { "aria-label": l10n.t("Change at line {0}", line) }, tools, !kept && diffLines(made));
  }
}

/** The line at which a hunk begins to change the file. */
function lineOf({ text }: ReviewedHunk): number {
  const [head = "", ...lines] = text.split("\n");
  return Math.max(1, Number(/^@@ -(\d+)/.exec(head)?.[1]) + lines.findIndex((one) => !one.startsWith(" ")));
}
