/** Whole texts of parts, each below the line that it was asked for by. */

import type { ContextRecallResult, ContextSegment } from "sidecar-protocol";
import { l10n } from "vscode";
import type { FromContext } from "../src/views/messages";
import { count } from "../src/wording";
import { button, el, fill } from "./dom";

export class Texts {
  private readonly shown = new Map<string, HTMLElement>();
  private pinned = new Set<string | undefined>();

  constructor(private readonly send: (message: FromContext) => void) {}

  /** Which parts are pinned may have changed. */
  take(segments: readonly ContextSegment[]): void {
    this.pinned = new Set(segments.filter(({ pinned }) => pinned).map(({ partId }) => partId));
    for (const [partId, shown] of this.shown) shown.querySelector(".pin")?.replaceWith(this.pin(partId));
  }

  /** What is shown of a part, if it was asked for. */
  of(partId: string): HTMLElement | undefined {
    return this.shown.get(partId);
  }

  /** Ask for a part's text, or show it no longer. */
  toggle(partId: string): void {
    if (this.shown.delete(partId)) return;
    this.shown.set(partId, el("div.text", { "aria-live": "polite" }, el("p.faint", {}, l10n.t("Reading…"))));
    this.send({ type: "recall", partId, offset: 0 });
  }

  /** Show a piece of a text that was asked for. */
  recalled(partId: string, { content, nextOffset, totalBytes }: ContextRecallResult): void {
    const shown = this.shown.get(partId);
    if (!shown) return;
    const before = shown.querySelector("pre")?.textContent ?? "";
    const text = el("pre", { tabindex: 0, "aria-label": l10n.t("Whole text") }, before + content);
    const rest = nextOffset !== undefined && button(l10n.t("Show more of {0} bytes", count(totalBytes)), () => this.send({ type: "recall", partId, offset: nextOffset }), undefined, "link");
    fill(shown, text, el("div.actions", {}, rest, this.pin(partId)));
  }

  lost(partId: string, message: string): void {
    const shown = this.shown.get(partId);
    if (shown) fill(shown, el("p.lost", { role: "alert" }, message), el("div.actions", {}, this.pin(partId)));
  }

  private pin(partId: string): HTMLElement {
    const command = this.pinned.has(partId) ? "unpin" : "pin";
    const made = button(command === "pin" ? l10n.t("Pin") : l10n.t("Unpin"), () => this.send({ type: "run", command, argument: partId }), undefined, "link pin");
    made.title = command === "pin" ? l10n.t("Keep it in the context through compactions") : l10n.t("Let compactions leave it out");
    return made;
  }
}
