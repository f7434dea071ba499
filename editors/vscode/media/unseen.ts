/** What the model no longer sees whole: marked where it stands in the conversation, with the way back. */

import { l10n } from "vscode";
import type { Unseen } from "../src/views/messages";
import { button, el, fill } from "./dom";
import { icon } from "./icons";

/** How a part stands, in words; what is not known here is left out. */
const SEEN: Record<string, [string, string]> = {
  truncated: [l10n.t("shortened"), l10n.t("The model sees only a part of this")],
  excerpt: [l10n.t("shortened"), l10n.t("The model sees only a part of this")],
  quoted: [l10n.t("shortened"), l10n.t("The model sees only a part of this")],
  placeholder: [l10n.t("left out"), l10n.t("Not seen by the model any more, but for a line in its place")],
};
const GONE: [string, string] = [l10n.t("left out"), l10n.t("Not seen by the model any more")];

/** A part of the conversation that can be marked. */
export interface Markable {
  readonly element: HTMLElement;
  /** Where its mark stands. */
  readonly marks: HTMLElement;
  /** What it is called, once it is to be recalled; undefined where that cannot be. */
  readonly name: string | undefined;
}

export class UnseenMarks {
  private parts = new Map<string, Unseen>();
  private marked = new Map<string, Markable>();

  constructor(private readonly find: (partId: string) => Markable | undefined, private readonly recall: (partId: string, label: string) => void) {}

  /** All parts that are not whole now; marks of others go. */
  take(parts: readonly Unseen[]): void {
    const now = new Map(parts.map((part) => [part.partId, part]));
    for (const [id, one] of this.marked) if (!now.has(id)) this.clear(id, one);
    for (const part of parts) this.mark(part);
    this.parts = now;
  }

  forget(): void {
    this.parts.clear();
    this.marked.clear();
  }

  private mark(part: Unseen): void {
    const { partId, presentation, reason } = part;
    const one = this.find(partId);
    if (!one) return;
    const before = this.parts.get(partId);
    if (this.marked.get(partId) === one && before?.presentation === presentation && before.reason === reason) return;
    const [word, said] = SEEN[presentation] ?? GONE;
    const whole = reason ? `${said}: ${reason}` : said;
    const { name } = one;
    const back = name !== undefined && button(l10n.t("Recall {0}", name), () => this.recall(partId, name), icon("recall"), "quiet");
    if (back) back.title = l10n.t("Recall: let it go along whole with your next message");
    one.element.classList.add("unseen");
    fill(one.marks, el("span.mark", { title: whole }, icon("unseen"), el("span.words", { "aria-hidden": "true" }, word), el("span.spoken", {}, whole)), back);
    this.marked.set(partId, one);
  }

  private clear(partId: string, one: Markable): void {
    one.element.classList.remove("unseen");
    fill(one.marks);
    this.marked.delete(partId);
  }
}
