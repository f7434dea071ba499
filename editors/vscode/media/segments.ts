/** The pieces of the context, turn by turn. A click shows a piece's whole text, also of what was left out. */

import type { Checkpoint, ContextSegment } from "sidecar-protocol";
import { l10n } from "vscode";
import type { FromContext } from "../src/views/messages";
import { count, plainTitle } from "../src/wording";
import { stack } from "./bar";
import { Texts } from "./contextTexts";
import { el, fill, saidAs } from "./dom";
import { icon } from "./icons";

/** How a piece stands in the context, where it is not whole. */
const SHOWN: Record<string, string> = { truncated: l10n.t("cut"), excerpt: l10n.t("excerpt"), quoted: l10n.t("excerpt"), placeholder: l10n.t("stub"), dropped: l10n.t("left out"), note: l10n.t("note") };

interface Kept {
  leftOut: boolean;
  open: string[];
}

interface Group {
  id: string;
  title: string;
  segments: ContextSegment[];
}

export class Segments {
  private readonly list = el("div.groups");
  private readonly filter = el("button.filter", { type: "button", onclick: () => this.toggle() });
  readonly element = el("section.segments", { "aria-labelledby": "by-turn" }, el("div.bar", {}, el("h2", { id: "by-turn" }, l10n.t("Turn by turn")), this.filter), this.list);
  private segments: ContextSegment[] = [];
  private titles = new Map<string, string>();
  readonly texts: Texts;
  private readonly open: Set<string>;

  constructor(send: (message: FromContext) => void, private readonly kept: Kept, private readonly keep: (kept: Kept) => void) {
    this.texts = new Texts(send);
    this.open = new Set(kept.open);
  }

  take(segments: ContextSegment[], checkpoints: Checkpoint[]): void {
    this.segments = segments;
    this.texts.take(segments);
    this.titles = new Map([...checkpoints].reverse().map(({ turnId, title }) => [turnId, title]));
    this.draw();
  }

  private toggle(): void {
    this.kept.leftOut = !this.kept.leftOut;
    this.remember();
    this.draw();
  }

  private remember(): void {
    this.keep({ leftOut: this.kept.leftOut, open: [...this.open] });
  }

  private draw(): void {
    const missing = this.segments.filter(leftOut);
    const only = this.kept.leftOut && missing.length > 0;
    this.filter.hidden = missing.length === 0;
    this.filter.setAttribute("aria-pressed", String(only));
    fill(this.filter, l10n.t("{0} left out or cut", missing.length));
    const groups = grouped(only ? missing : this.segments, this.titles);
    const most = Math.max(1, ...groups.map(sum));
    const focused = document.activeElement?.id;
    this.list.replaceChildren(...groups.map((group) => this.group(group, most, only)));
    if (focused) document.getElementById(focused)?.focus();
  }

  private group(group: Group, most: number, opened: boolean): HTMLElement {
    const total = sum(group);
    const cached = group.segments.filter((one) => one.cached).reduce((tokens, one) => tokens + one.tokens, 0);
    const missing = group.segments.filter(leftOut).length;
    const state = total === 0 ? l10n.t("nothing in the context") : cached === total ? l10n.t("cached") : cached ? l10n.t("partly cached") : l10n.t("not cached");
    const held = el("div.held", { "aria-hidden": "true" });
    held.style.inlineSize = `${(cached / most) * 100}%`;
    const head = el(
      "summary",
      { id: `group-${group.id}` },
      ...saidAs(
        [l10n.t("{0}: {1} tokens, {2}", group.title, count(total), state), ...(missing ? [l10n.t("{0} left out or cut", missing)] : [])].join(", "),
        icon("chevron"),
        el("span.title", { title: group.title }, group.title),
        missing ? el("span.badge", {}, l10n.t("{0} out", missing)) : undefined,
        el("span.tokens", {}, count(total)),
        total > 0 && el("div.share", { title: l10n.t("{0} of {1} tokens are in the provider's cache", count(cached), count(total)) }, stack(regions(group), most), held),
      ),
    );
    const made = el("details.group", { open: opened || this.open.has(group.id) }, head, el("ul", {}, ...group.segments.map((segment) => this.segment(segment))));
    head.addEventListener("click", () => {
      // The click comes before the change.
      if (made.open) this.open.delete(group.id);
      else this.open.add(group.id);
      this.remember();
    });
    return made;
  }

  private segment(segment: ContextSegment): HTMLElement {
    const { region, label, tokens, presentation, cached, partId, pinned, reason } = segment;
    const how = SHOWN[presentation];
    const held = cached ? l10n.t("cached") : l10n.t("not cached");
    const said = [label, ...(how ? [how] : []), ...(pinned ? [l10n.t("pinned")] : []), l10n.t("{0} tokens", count(tokens)), held].join(", ");
    const parts = saidAs(
      said,
      el(`span.swatch.region-${region}`, { "aria-hidden": "true" }),
      el("span.title", {}, label),
      pinned && icon("pin"),
      how ? el("span.badge", {}, how) : undefined,
      el("span.tokens", {}, tokens ? count(tokens) : "–"),
      el("span.cached", { title: held, "data-cached": String(cached) }),
    );
    if (partId === undefined) return el("li", {}, el("div.piece", {}, ...parts));
    const shown = this.texts.of(partId);
    const id = `piece-${segment.id}`;
    const line = el("button.piece", { type: "button", id, title: reason ? `${label}\n${how}: ${reason}` : label, "aria-expanded": String(shown !== undefined), onclick: () => this.look(partId, id) }, ...parts);
    return el(`li${leftOut(segment) ? ".out" : ""}`, {}, line, shown);
  }

  /** Show a part's text below it, or hide it again. */
  private look(partId: string, id: string): void {
    this.texts.toggle(partId);
    this.draw();
    document.getElementById(id)?.focus();
  }
}

function leftOut({ presentation, partId }: ContextSegment): boolean {
  return partId !== undefined && presentation !== "verbatim" && presentation !== "note";
}

/** Neighbours of one turn; what is sent before the conversation is one group. */
function grouped(segments: ContextSegment[], titles: Map<string, string>): Group[] {
  const groups: Group[] = [];
  for (const segment of segments) {
    const id = segment.turnId ?? (segment.presentation === "note" ? "notes" : "always");
    const last = groups.at(-1);
    if (last && (last.id === id || last.id.startsWith(`${id}~`))) last.segments.push(segment);
    else {
      const again = groups.some((group) => group.id === id) ? `~${groups.length}` : "";
      groups.push({ id: id + again, title: title(segment, titles), segments: [segment] });
    }
  }
  return groups;
}

function title({ turnId, presentation, label }: ContextSegment, titles: Map<string, string>): string {
  if (turnId !== undefined) return plainTitle(titles.get(turnId) || label);
  return presentation === "note" ? l10n.t("Notes of compactions") : l10n.t("Sent with every request");
}

/** Tokens by region, in the order in which regions first come. */
function regions({ segments }: Group): [string, number][] {
  const found = new Map<string, number>();
  for (const { region, tokens } of segments) found.set(region, (found.get(region) ?? 0) + tokens);
  return [...found];
}

function sum({ segments }: Group): number {
  return segments.reduce((tokens, segment) => tokens + segment.tokens, 0);
}
