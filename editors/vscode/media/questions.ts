/** Calls that wait for permission, above the input, where they cannot be overlooked. */

import type { FromChat, Question } from "../src/views/messages";
import { button, el, fill, say } from "./dom";
import { icon } from "./icons";
import { inputs } from "./toolcall";

/** What holds for once looks like a button and stands first. */
const LOOKS: Record<string, string> = { allow_once: "primary", reject_once: "secondary" };

export class Questions {
  readonly element = el("div.questions");
  private readonly shown = new Map<number, HTMLElement>();

  constructor(private readonly send: (message: FromChat) => void, private readonly after: () => void) {}

  take(questions: Question[]): void {
    const ids = new Set(questions.map(({ id }) => id));
    for (const id of this.shown.keys()) if (!ids.has(id)) this.shown.delete(id);
    for (const question of questions) {
      if (this.shown.has(question.id)) continue;
      this.shown.set(question.id, this.draw(question));
      say(`Sidecar asks for permission: ${question.toolCall.title ?? "a tool"}`);
    }
    fill(this.element, ...this.shown.values());
  }

  private draw({ id, toolCall, options }: Question): HTMLElement {
    const title = toolCall.title ?? "A tool";
    const target = title.replace(/^\w+ /, "");
    const answer = (optionId: string) => {
      this.shown.delete(id);
      this.send({ type: "answer", id, optionId });
      fill(this.element, ...this.shown.values());
      this.after();
    };
    const command = toolCall.kind === "execute";
    const sorted = [...options].sort((one, other) => Number(other.kind in LOOKS) - Number(one.kind in LOOKS));
    const buttons = sorted.map(({ optionId, name, kind }) => button(name, () => answer(optionId), undefined, LOOKS[kind] ?? "link"));
    return el(
      "section.question",
      { role: "group", "aria-label": `May this run? ${title}` },
      el("p.asks", {}, icon("lock"), el("span", {}, "May this run?"), !command && el("strong.target", { title }, title)),
      el("div.given", {}, command ? el("pre.command", { tabindex: 0 }, target) : undefined, ...inputs(toolCall.rawInput, target)),
      el("div.answers", {}, ...buttons),
    );
  }
}
