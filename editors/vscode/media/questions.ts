/** Calls that wait for permission, above the input, where they cannot be overlooked. */

import { l10n } from "vscode";
import type { FromChat, Question } from "../src/views/messages";
import { type Hunk, unified } from "../src/views/hunks";
import { cut, says } from "../src/views/visible";
import { answerName } from "../src/wording";
import { diffLines } from "./diff";
import { button, el, fill, say, visible } from "./dom";
import { icon } from "./icons";
import { inputs } from "./toolcall";

/** Milliseconds until questions that came, went or moved can be answered: nobody clicks on one that just took another's place. */
const SETTLED = 500;
/** Letters of a title that names the tool, behind its subtask's name. */
const MOST_NAMED = 120;
/** What holds for once looks like a button and stands first. */
const LOOKS: Record<string, string> = { allow_once: "primary", reject_once: "secondary" };

export class Questions {
  readonly element = el("div.questions");
  private readonly shown = new Map<number, HTMLElement>();
  private settling: ReturnType<typeof setTimeout> | undefined;
  private settled = false;
  /** What had the focus, which whoever went nowhere else gets back. */
  private held: HTMLElement | null = null;

  constructor(private readonly send: (message: FromChat) => void, private readonly after: () => void) {}

  take(questions: Question[]): void {
    let moves = false;
    const ids = new Set(questions.map(({ id }) => id));
    for (const id of this.shown.keys()) if (!ids.has(id)) this.shown.delete(id);
    for (const question of questions) {
      const drawn = this.shown.get(question.id) ?? this.draw(question);
      const where = drawn.querySelector<HTMLElement>(".where");
      const session = question.session ? l10n.t("Another session: {0}", visible(question.session)) : "";
      if (where && where.textContent !== session) {
        where.textContent = session;
        moves = true;
      }
      if (this.shown.has(question.id)) continue;
      this.shown.set(question.id, drawn);
      say(l10n.t("Sidecar asks for permission: {0}", visible(question.toolCall.title ?? l10n.t("a tool"))));
    }
    this.put(moves);
  }

  private put(moves = false): void {
    const before = [...this.element.children];
    const focused = document.activeElement as HTMLElement | null;
    fill(this.element, ...this.shown.values());
    if (!moves && before.length === this.shown.size && before.every((child) => child.parentNode)) return;
    clearTimeout(this.settling);
    // What is drawn anew or disabled loses the focus.
    if (this.element.contains(focused)) this.held = focused;
    this.enable(false);
    this.settling = setTimeout(() => {
      this.enable(true);
      if (document.activeElement === document.body && this.held?.isConnected) this.held.focus();
      this.held = null;
    }, SETTLED);
  }

  private watched(given: HTMLElement): HTMLElement {
    const look = () => this.enable(this.settled);
    given.addEventListener("scroll", look, { capture: true });
    new ResizeObserver(look).observe(given);
    return given;
  }

  /** What allows stays shut until the input has been in sight to its end. */
  private enable(enabled: boolean): void {
    this.settled = enabled;
    for (const question of this.shown.values()) {
      const unread = [...question.querySelectorAll<HTMLElement>(".given pre:not(.diff)")].filter((text) => !wasRead(text)).length > 0;
      question.classList.toggle("unread", unread);
      for (const one of question.querySelectorAll<HTMLButtonElement>(".answers button")) one.disabled = !enabled || (unread && "allows" in one.dataset);
    }
  }

  private draw({ id, toolCall, options }: Question): HTMLElement {
    const given = (toolCall.rawInput ?? {}) as Record<string, unknown>;
    const command = typeof given["command"] === "string" ? given["command"] : undefined;
    const why = ((toolCall._meta?.["sidecar"] ?? {}) as Record<string, unknown>)["why"];
    const title = visible(toolCall.title ?? l10n.t("A tool"));
    // The command stands whole below; the title's beginning says of which tool, unless that is our own, and of which subtask.
    const isShell = toolCall.title?.startsWith("Run ") && says(toolCall.title, given);
    const target = command === undefined ? title : isShell ? "" : cut(title.split("\n")[0] ?? "", MOST_NAMED);
    const hunks = (toolCall.content ?? []).filter(({ type }) => type === "diff") as unknown as Hunk[];
    const asks = hunks.length ? l10n.t("May this be changed?") : l10n.t("May this run?");
    const answer = (optionId: string) => {
      this.shown.delete(id);
      this.send({ type: "answer", id, optionId });
      this.put();
      this.after();
    };
    const sorted = [...options].sort((one, other) => Number(other.kind in LOOKS) - Number(one.kind in LOOKS));
    const buttons = sorted.map(({ optionId, name, kind }) => {
      const made = button(visible(answerName(name)), () => answer(optionId), undefined, LOOKS[kind] ?? "link");
      if (!kind.startsWith("reject")) made.dataset["allows"] = "";
      if (kind.endsWith("_always") && name.startsWith("Always ")) made.title = l10n.t("Until the session is closed. For good: a rule in the setting sidecar.permissions.");
      return made;
    });
    if (options.some(({ kind }) => kind === "reject_once")) buttons.push(button(l10n.t("Reject and say why…"), () => this.send({ type: "reject", id }), undefined, "link"));
    if (hunks.length) buttons.push(button(l10n.t("Open diff"), () => this.send({ type: "showQuestion", id }), undefined, "link"));
    return el(
      "section.question",
      { role: "group", "aria-label": `${asks} ${title}` },
      el("p.asks", {}, icon("lock"), el("span", {}, asks), target !== "" && el("strong.target", { title }, target)),
      el("p.where"),
      this.watched(el("div.given", {}, ...(hunks.length ? [diffLines(visible(unified(hunks)))] : shown(given, title)))),
      el("p.to-end", {}, l10n.t("Scroll to the end of what is asked to allow it.")),
      typeof why === "string" && el("p.why", {}, visible(why)),
      el("div.answers", {}, ...buttons),
    );
  }
}

/** Whether a text has been in sight to its end, as far as it is drawn. */
function wasRead(text: HTMLElement): boolean {
  if (text.clientHeight && text.scrollTop + text.clientHeight >= text.scrollHeight - 2) text.dataset["read"] = "";
  return "read" in text.dataset;
}

/** The whole command and all else that is given, unless the title says it. */
function shown(given: Record<string, unknown>, title: string): HTMLElement[] {
  const { command, ...others } = given;
  if (typeof command !== "string") return says(title, given) ? [] : inputs(given);
  return [el("pre.command", { tabindex: 0, role: "group", "aria-label": l10n.t("Command") }, visible(command)), ...inputs(others)];
}
