/** A compaction before it is made: its price, what is lost, and every part, to be read and ticked to stay. */

import type { CompactionStep, ContextBreakdownResult, ContextCompactResult, ContextSegment } from "sidecar-protocol";
import { l10n } from "vscode";
import type { FromContext, Wish } from "../src/views/messages";
import { count, grouped, many, money, PARTS, REQUESTS } from "../src/wording";
import { Texts } from "./contextTexts";
import { button, el, fill, saidAs, say } from "./dom";
import { icon } from "./icons";

/** Groups by a plan's actions; an action that is not known here leaves a part out. */
const FATES: [string, string, string[]][] = [
  ["kept", l10n.t("Stays, as ticked"), []],
  ["gone", l10n.t("Would go"), []],
  ["cut", l10n.t("Would be cut"), ["truncate", "excerpt"]],
  ["told", l10n.t("Would be summarised"), ["summarize"]],
  ["back", l10n.t("Would come back"), ["restore"]],
  ["stays", l10n.t("Would stay"), ["keep"]],
];
/** Actions that leave something of a part. */
const LEFT: Record<string, string> = { truncate: l10n.t("cut"), excerpt: l10n.t("lines"), evict: l10n.t("stub") };

/** A part as the plan has it. */
interface Row {
  partId: string | undefined;
  region: string;
  label: string;
  before: number;
  after: number;
  fate: string;
  action: string;
  reason: string;
}

export class Plan {
  readonly texts: Texts;
  private readonly words = el("input", { type: "text", "aria-label": l10n.t("What to keep, in words"), placeholder: l10n.t("What to keep, in words: everything about the parser"), onchange: () => this.ask() });
  private readonly told = el("div.told");
  private readonly go = button(l10n.t("Compact"), () => this.carryOut(), undefined, "primary");
  private readonly list = el("div.groups");
  readonly element = el(
    "section.plan",
    { hidden: true, "aria-labelledby": "the-plan" },
    el("div.due", {}, el("h2", { id: "the-plan" }, l10n.t("Before you compact")), this.told, this.words, el("div.choices", {}, this.go, button(l10n.t("Leave as It Is"), () => this.close(), undefined, "secondary"))),
    this.list,
  );
  private keep = new Set<string>();
  private number = 0;
  /** Asked for anew by a change of the context, not by the user. */
  private anew = false;
  private plan: ContextCompactResult | undefined;
  private context: ContextBreakdownResult | undefined;
  private readonly open = new Map<string, boolean>([["stays", false]]);

  /** `changed` hears that it was opened, changed or closed. */
  constructor(private readonly send: (message: FromContext) => void, private readonly changed: (wish?: Wish) => void) {
    this.texts = new Texts(send);
  }

  /** Ask for a plan, and show it when it is there. */
  start({ instructions, keep }: Wish = { instructions: "", keep: [] }): void {
    this.words.value = instructions;
    this.keep = new Set(keep);
    this.plan = undefined;
    this.element.hidden = false;
    this.changed(this.wish());
    this.element.scrollIntoView();
    // The session may be open only later.
    if (this.context) this.ask();
  }

  close(): void {
    if (this.element.hidden) return;
    this.element.hidden = true;
    this.number += 1;
    this.plan = undefined;
    fill(this.list);
    this.changed();
  }

  /** The context is another: so is the plan. */
  take(context: ContextBreakdownResult): void {
    const [before, now] = [this.context?.meter, context.meter];
    this.context = context;
    this.texts.take(context.segments);
    if (this.element.hidden) return;
    if (!before) this.ask();
    else if (before.sessionId !== now.sessionId) this.close();
    else if (before.revision !== now.revision) this.ask(true);
  }

  planned(number: number, plan: ContextCompactResult): void {
    if (number !== this.number) return;
    // It was made, or is needless now.
    if (this.anew && !plan.plan.length) return this.close();
    this.plan = plan;
    this.draw();
    say(plan.plan.length ? this.lost(this.rows(plan)) : (plan.reason ?? ""));
  }

  failed(number: number, message: string): void {
    if (number !== this.number) return;
    fill(this.told, el("p.lost", { role: "alert" }, message));
    this.busy(false);
  }

  private wish(): Wish {
    return { instructions: this.words.value.trim(), keep: [...this.keep] };
  }

  private ask(anew = false): void {
    this.number += 1;
    this.anew = anew;
    this.changed(this.wish());
    this.send({ type: "plan", number: this.number, ...this.wish() });
    this.busy(true);
    if (!this.plan) fill(this.told, el("p.faint", {}, l10n.t("Planning…")));
  }

  private carryOut(): void {
    const revision = this.context?.meter.revision;
    this.number += 1;
    this.busy(true);
    this.send({ type: "compact", number: this.number, ...this.wish(), ...(revision !== undefined && { revision }) });
  }

  private busy(busy: boolean): void {
    this.go.disabled = busy || !this.plan?.plan.length;
    this.element.setAttribute("aria-busy", String(busy));
  }

  private draw(): void {
    const plan = this.plan;
    if (!plan) return;
    const rows = this.rows(plan);
    this.go.textContent = plan.plan.length ? l10n.t("Compact to {0} tokens", count(plan.tokensAfter)) : l10n.t("Compact");
    const earned = plan.breakEvenRequests ? l10n.t(", earned back after {0}", many(plan.breakEvenRequests, ...REQUESTS)) : "";
    const facts: [string, string | undefined][] = plan.plan.length
      ? [
          [l10n.t("Tokens"), `${count(plan.tokensBefore)} → ${count(plan.tokensAfter)}`],
          [l10n.t("Price"), `${money(plan.price)}${earned}`],
          [l10n.t("Lost"), this.lost(rows)],
          [l10n.t("Summary"), plan.asked?.[0] ?? l10n.t("written without a model")],
          [l10n.t("Files as they are now"), plan.files?.map(({ path, lines }) => l10n.t("{0}, lines {1}", path, lines)).join("; ")],
        ]
      : [];
    const shown = facts.filter(([, text]) => text).map(([name, text]) => el("div", {}, el("dt", {}, name), el("dd", {}, text)));
    const { reason = "" } = plan;
    fill(this.told, shown.length ? el("dl.facts", {}, ...shown) : el("p", {}, reason.slice(0, 1).toUpperCase() + reason.slice(1)));
    const focused = document.activeElement?.id;
    const hint = plan.plan.length > 0 && el("p.faint", {}, l10n.t("A tick lets a part stay; a click on it shows its text."));
    fill(this.list, hint || undefined, ...FATES.flatMap(([fate, title]) => this.groups(fate, title, rows.filter((row) => this.groupOf(row) === fate))));
    if (focused) document.getElementById(focused)?.focus();
    this.busy(false);
  }

  private groupOf({ partId, fate }: Row): string {
    return fate === "stays" && partId !== undefined && this.keep.has(partId) ? "kept" : fate;
  }

  /** What is lost, in words. */
  private lost(rows: Row[]): string {
    const [gone, cut] = ["gone", "cut"].map((fate) => rows.filter((row) => row.fate === fate).length) as [number, number];
    const said = [gone && many(gone, l10n.t("{0} part goes"), l10n.t("{0} parts go")), cut && many(cut, l10n.t("{0} part is cut"), l10n.t("{0} parts are cut"))].filter(Boolean);
    return l10n.t("{0}; what the model no longer sees can be read here, and recalled by the model", said.join(", ") || l10n.t("nothing"));
  }

  /** Every part, in the order of the prompt. */
  private rows({ plan }: ContextCompactResult): Row[] {
    const steps = new Map(plan.filter(({ partId }) => partId).map((step) => [step.partId, step]));
    const parts = new Map<string, ContextSegment[]>();
    for (const segment of this.context?.segments ?? []) {
      if (segment.partId !== undefined) parts.set(segment.partId, [...(parts.get(segment.partId) ?? []), segment]);
    }
    const there = [...parts].flatMap(([partId, segments]) => {
      const step = steps.get(partId);
      const tokens = segments.reduce((sum, one) => sum + one.tokens, 0);
      const [first] = segments;
      if (!first || (!step && (!tokens || first.presentation === "note"))) return [];
      const largest = segments.reduce((one, other) => (other.tokens > one.tokens ? other : one));
      return [row(step, { partId, region: largest.region, label: first.label, tokens })];
    });
    const others = plan.filter(({ partId }) => partId === undefined || !parts.has(partId));
    return [...there, ...others.map((step) => row(step, { partId: undefined, region: "summary", label: step.reason, tokens: step.tokensBefore }))];
  }

  /** What becomes of parts, by the reason, the largest first; what stays has none, or many. */
  private groups(fate: string, title: string, rows: Row[]): HTMLElement[] {
    if (!rows.length) return [];
    if (fate === "kept" || fate === "stays") return [this.group(fate, fate, title, rows)];
    const saved = (all: Row[]) => all.reduce((sum, { before, after }) => sum + before - after, 0);
    const sorted = grouped(rows, ({ reason }) => reason).sort(([, one], [, other]) => saved(other) - saved(one));
    return sorted.map(([reason, those]) => this.group(`${fate} ${reason}`, fate, reason ? `${title}: ${reason}` : title, those));
  }

  private group(key: string, fate: string, title: string, rows: Row[]): HTMLElement {
    const [before, after] = [rows.reduce((sum, one) => sum + one.before, 0), rows.reduce((sum, one) => sum + one.after, 0)];
    const tokens = before === after ? count(before) : `${count(before)} → ${count(after)}`;
    const head = el("summary", { id: `fate-${key.replace(/\W+/g, "-")}` }, ...saidAs(l10n.t("{0}: {1}, {2} tokens", title, many(rows.length, ...PARTS), tokens), icon("chevron"), el("span.title", { title }, title), el("span.badge", {}, String(rows.length)), el("span.tokens", {}, tokens)));
    const made = el(`details.group.${fate}`, { open: this.open.get(key) ?? true }, head, el("ul", {}, ...rows.map((one) => this.line(one))));
    made.addEventListener("toggle", () => this.open.set(key, made.open));
    return made;
  }

  private line({ partId, region, label, before, after, fate, action, reason }: Row): HTMLElement {
    const size = before === after ? count(before) : `${count(before)} → ${count(after)}`;
    const kept = partId !== undefined && this.keep.has(partId);
    const refused = kept && fate !== "stays";
    const state = refused ? l10n.t("cannot stay") : LEFT[action];
    const parts = [el(`span.swatch.region-${region}`, { "aria-hidden": "true" }), el("span.title", {}, label), state && el(`span.badge${refused ? ".refused" : ""}`, {}, state), el("span.tokens", {}, size)];
    if (partId === undefined) return el("li", {}, el("div.piece", {}, ...parts));
    const tick = el("input", { type: "checkbox", id: `keep-${partId}`, checked: kept, "aria-label": l10n.t("Let it stay: {0}", label), title: l10n.t("Let it stay through this compaction"), onchange: () => this.tick(partId) });
    const shown = this.texts.of(partId);
    const id = `read-${partId}`;
    const look = () => {
      this.texts.toggle(partId);
      this.draw();
    };
    const said = [label, ...(state ? [state] : []), l10n.t("{0} tokens", size)].join(", ") + (reason && `: ${reason}`);
    const piece = el("button.piece", { type: "button", id, title: reason || label, "aria-expanded": String(shown !== undefined), onclick: look }, ...saidAs(said, ...parts));
    const why = reason && (refused || shown) && el("p.why", {}, refused ? l10n.t("The policy cannot keep it: {0}", reason) : reason);
    return el("li", {}, el("div.choice", {}, tick, piece), why, shown);
  }

  private tick(partId: string): void {
    if (!this.keep.delete(partId)) this.keep.add(partId);
    this.ask();
  }
}

function row(step: CompactionStep | undefined, { partId, region, label, tokens }: Pick<Row, "partId" | "region" | "label"> & { tokens: number }): Row {
  const action = step?.action ?? "keep";
  const [fate] = FATES.find(([, , actions]) => actions.includes(action)) ?? ["gone"];
  return { partId, region, label, before: step?.tokensBefore ?? tokens, after: step?.tokensAfter ?? tokens, fate, action, reason: step?.reason ?? "" };
}
