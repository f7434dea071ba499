/** A tool call: one line with what it does and how it stands; input, output and diff below. */

import type { ToolCallChanged, ToolCallStarted, UpdateOrigin } from "sidecar-protocol";
import { l10n } from "vscode";
import type { FromChat } from "../src/views/messages";
import { diffLines, figures, spoken } from "./diff";
import { button, el, fill, visible, visibleName } from "./dom";
import { Fold } from "./fold";
import { icon, type Picture } from "./icons";

type Call = ToolCallStarted | ToolCallChanged;

const VERBS: Record<string, string> = { read: l10n.t("Read"), edit: l10n.t("Edit"), search: l10n.t("Search"), execute: l10n.t("Run") };
/** Why a call failed that nothing is wrong with. */
const ENDS: Record<string, string> = { denied: l10n.t("rejected"), cancelled: l10n.t("stopped"), interrupted: l10n.t("interrupted") };
const STATES: Record<string, string> = { pending: l10n.t("waiting"), in_progress: l10n.t("running"), completed: l10n.t("done"), failed: l10n.t("failed") };
/** Lines of a diff that is shown without being asked for. */
const SHORT_DIFF = 14;
/** Characters of output that are shown. */
const MOST_SHOWN = 20_000;

export class ToolCall {
  private readonly fold: Fold;
  private title = "";
  private kind = "other";
  private input: unknown;
  private output = "";
  private path: string | undefined;
  private metadata: Record<string, unknown> = {};
  private asked = false;
  status = "pending";

  /** `id` is the model's, by which permission is asked. */
  constructor(readonly id: string, private readonly send: (message: FromChat) => void) {
    this.fold = new Fold("tool", () => this.drawBody());
  }

  get element(): HTMLElement {
    return this.fold.element;
  }

  get marks(): HTMLElement {
    return this.fold.marks;
  }

  get name(): string {
    return this.label;
  }

  /** Take the first update or a later one: what is absent stays. */
  take(call: Call, origin: Partial<UpdateOrigin>): void {
    if (call.title !== undefined) this.title = call.title;
    if (call.kind !== undefined) this.kind = call.kind;
    if (call.status !== undefined) this.status = call.status;
    if (call.rawInput !== undefined) this.input = call.rawInput;
    if (call.rawOutput !== undefined) this.output = String(call.rawOutput);
    if (origin.outputDelta) this.output += origin.outputDelta;
    this.metadata = { ...this.metadata, ...origin.metadata };
    this.path = text(this.metadata["path"]) ?? call.locations?.[0]?.path ?? this.path;
    if (origin.inputDelta && call.status === undefined) return;
    this.draw();
  }

  /** The user is asked whether it may run. */
  set waiting(asked: boolean) {
    if (this.asked === asked) return;
    this.asked = asked;
    this.draw();
  }

  /** What it does, in words. */
  get label(): string {
    const verb = VERBS[this.kind];
    return verb ? `${verb} ${this.target}` : this.target;
  }

  private get target(): string {
    // While its input comes, the title is the tool's name.
    if (this.input === undefined && this.status === "pending" && VERBS[this.kind] && !this.title.includes(" ")) return "…";
    return this.title.replace(/^(Read|Edit|Write|Search|Run) /, "");
  }

  private draw(): void {
    const state = this.asked ? l10n.t("waits for your permission") : (STATES[this.status] ?? this.status);
    const { failed } = this;
    this.element.dataset["status"] = failed ? "failed" : this.status;
    this.element.dataset["kind"] = this.kind;
    this.fold.label = [this.label, failed ? (this.end ?? l10n.t("failed")) : state, ...this.words()].join(", ");
    const verb = VERBS[this.kind];
    fill(
      this.fold.head,
      this.status === "in_progress" && !this.asked ? el("span.spinner", { "aria-hidden": "true" }) : icon(this.picture(failed)),
      // Between them they have no room of their own for whoever hears them.
      verb && el("span.verb", {}, verb),
      verb && " ",
      el("span.target", { title: this.target }, this.target),
      ...this.figures(),
    );
    fill(this.fold.actions, ...this.buttons());
    const diff = this.diff;
    if (diff && this.status === "completed") this.fold.suggest(diff.split("\n").length - 3 <= SHORT_DIFF);
    // What a command says while it runs, and of one that failed what it said last.
    else if (this.kind === "execute") this.fold.suggest(this.output !== "" && (this.status === "in_progress" || (failed && !this.end)));
    if (this.fold.open) this.drawBody();
  }

  private get failed(): boolean {
    const code = this.metadata["exitCode"];
    return this.status === "failed" || (typeof code === "number" && code !== 0);
  }

  private get end(): string | undefined {
    return ENDS[String(this.metadata["failure"])];
  }

  private picture(failed: boolean): Picture {
    if (this.asked) return "lock";
    if (failed) return "failed";
    return (["read", "edit", "search", "execute"] as const).find((kind) => kind === this.kind) ?? "other";
  }

  private figures(): HTMLElement[] {
    const { additions, deletions, exitCode } = this.metadata;
    // The question below says the rest.
    if (this.asked) return [];
    if (typeof additions === "number") return figures(additions, typeof deletions === "number" ? deletions : 0);
    if (this.end) return [el("span.figure", {}, this.end)];
    if (typeof exitCode === "number" && exitCode !== 0) return [el("span.figure.removed", {}, l10n.t("exit {0}", exitCode))];
    return [];
  }

  /** The figures as they are read out, as far as the state does not say them. */
  private words(): string[] {
    const { additions, deletions, exitCode } = this.metadata;
    if (this.asked) return [];
    if (typeof additions === "number") return [spoken(additions, typeof deletions === "number" ? deletions : 0)];
    return !this.end && typeof exitCode === "number" && exitCode !== 0 ? [l10n.t("exit {0}", exitCode)] : [];
  }

  private buttons(): HTMLElement[] {
    const { path, diff } = this;
    if (path === undefined || this.status === "failed") return [];
    if (diff) return [button(l10n.t("Open diff of {0}", path), () => this.send({ type: "diff", change: { path, diff } }), icon("diff"), "quiet")];
    return this.kind === "read" ? [button(l10n.t("Open {0}", path), () => this.send({ type: "open", path }), icon("read"), "quiet")] : [];
  }

  private get diff(): string | undefined {
    return text(this.metadata["diff"]) || undefined;
  }

  private drawBody(): void {
    const { diff, output } = this;
    const items = this.metadata["items"];
    if (diff) return fill(this.fold.body, diffLines(diff));
    if (Array.isArray(items)) return fill(this.fold.body, tasks(items as Task[]));
    const given = inputs(this.input, this.target);
    // What went wrong stands at the end, and so does what comes.
    const atEnd = this.failed || this.status === "in_progress";
    const more = output.length - MOST_SHOWN;
    const [head, tail] = [`${output.slice(0, MOST_SHOWN)}\n${l10n.t("… {0} more characters", more)}`, `${l10n.t("{0} characters before this …", more)}\n${output.slice(-MOST_SHOWN)}`];
    const shown = more <= 0 ? output : atEnd ? tail : head;
    const pre = output ? el("pre.output", { tabindex: 0, "aria-label": l10n.t("Output of {0}", this.label) }, shown) : undefined;
    fill(this.fold.body, ...given, pre);
    if (!pre || !atEnd) return;
    const toEnd = () => (pre.scrollTop = pre.scrollHeight);
    toEnd();
    // The call may come into the page only now.
    requestAnimationFrame(toEnd);
  }
}

/** The input's fields, written out, but for one that the title says already. */
export function inputs(input: unknown, said?: string): HTMLElement[] {
  if (typeof input !== "object" || input === null) return [];
  const fields = Object.entries(input).filter(([, value]) => value !== said);
  return fields.map(([name, value]) => {
    const shown = visible(typeof value === "string" && value !== "" ? value : JSON.stringify(value, null, 1));
    const long = shown.includes("\n") || shown.length > 60;
    const text = el("pre", { tabindex: long ? 0 : undefined, "data-field": visibleName(name) }, shown);
    return el(`div.field${long ? ".long" : ""}`, {}, el("span.name", {}, visibleName(name)), text);
  });
}

export interface Task {
  content: string;
  status: string;
}

/** A list of things to do. */
export function tasks(items: Task[]): HTMLElement {
  const lines = items.map(({ content, status }) => {
    const said = { completed: l10n.t("done"), in_progress: l10n.t("under way") }[status] ?? l10n.t("to do");
    return el("li", { "data-status": status }, el("span.tick", { "aria-hidden": "true" }, status === "completed" ? icon("done") : undefined), el("span.spoken", {}, `${said}: `), content);
  });
  return el("ul.tasks", {}, ...lines);
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
