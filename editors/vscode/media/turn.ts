/** One turn: its checkpoint, what was typed, and what came of it, in the order of the parts. */

import type { Checkpoint, FileChange, TurnEnded } from "sidecar-protocol";
import { l10n } from "vscode";
import type { FromChat, Picture, Reviewed } from "../src/views/messages";
import type { Markable } from "./unseen";
import { cut, decoded } from "../src/views/visible";
import { LOCALE, many, money, plainTitle, REQUESTS } from "../src/wording";
import { button, el, fill } from "./dom";
import { Fold } from "./fold";
import { icon } from "./icons";
import { copier, Markdown } from "./markdown";
import { thumbnail } from "./pictures";
import { type Marks, Review } from "./review";

const STOPS: Record<string, string> = {
  cancelled: l10n.t("Stopped."),
  max_tokens: l10n.t("The answer was cut: it reached the most tokens that an answer may have."),
  max_turn_requests: l10n.t("Stopped: the turn made as many requests as it may."),
  refusal: l10n.t("The model refused."),
  blocked: l10n.t("Stopped by your answer."),
};

/** Characters of a text by which it is called. */
const MOST_NAMED = 60;

/** A text of the user or the model. */
export interface Text extends Markable {
  kind: "user" | "agent" | "thought";
  text: string;
  picture?: Picture;
  draw: () => void;
}

export class Turn {
  readonly element: HTMLElement;
  private readonly point = el("div.checkpoint");
  private readonly parts = el("div.parts");
  private readonly files = el("div.files");
  private readonly how = el("div.how");
  private readonly cost = el("span.cost");
  /** The newest answer. */
  answer: Text | undefined;
  private readonly copy = copier(l10n.t("Copy answer"), () => this.answer?.text ?? "");
  private readonly reviews = new Map<string, Review>();
  private from = "";

  constructor(private readonly send: (message: FromChat) => void, private readonly marks: Marks) {
    this.element = el("article.turn", { tabindex: -1 }, this.point, this.parts, el("div.end", {}, this.how, this.files, this.cost, this.copy));
    this.point.hidden = true;
    this.copy.hidden = true;
  }

  add(part: HTMLElement): void {
    this.parts.append(part);
  }

  /** Name it after what was typed. */
  set label(text: string) {
    this.element.setAttribute("aria-label", l10n.t("Turn: {0}", plainTitle(text.slice(0, 80))));
  }

  /** Take the turn's checkpoints: its start, and one after each step that changed files. */
  take(checkpoints: Checkpoint[]): void {
    const [start, ...steps] = checkpoints;
    if (!start) return;
    const words = l10n.t("Restore: go back to before “{0}”", plainTitle(start.title));
    const back = button(l10n.t("Restore"), () => this.send({ type: "run", command: "rollBack", argument: start.checkpointId }));
    back.className = "restore quiet";
    back.prepend(icon("restore"));
    back.title = words;
    back.setAttribute("aria-label", words);
    const at = new Date(start.at);
    const time = el("time", { datetime: start.at, title: at.toLocaleString(LOCALE) }, at.toLocaleTimeString(LOCALE, { hour: "2-digit", minute: "2-digit" }));
    fill(this.point, el("span.rule"), time, back);
    this.point.hidden = false;
    this.drawFiles(start, steps);
  }

  private drawFiles(start: Checkpoint, steps: Checkpoint[]): void {
    const changed = new Map<string, FileChange[]>();
    const made = steps.map(({ checkpointId, files }) => ({ checkpointId, files: files.filter(({ author }) => !["restore", "user"].includes(author)) })).filter(({ files }) => files.length);
    for (const file of made.flatMap(({ files }) => files)) changed.set(file.path, [...(changed.get(file.path) ?? []), file]);
    this.from = start.checkpointId;
    for (const [path, changes] of changed) {
      const review = this.reviews.get(path) ?? new Review(path, start.checkpointId, this.marks, this.send);
      this.reviews.set(path, review);
      review.count(sum(changes, "additions"), sum(changes, "deletions"), made.at(-1)?.checkpointId);
    }
    const lines = [...this.reviews.values()].map(({ element }) => element);
    fill(this.files, ...(lines.length ? [el("span.count", {}, many(lines.length, l10n.t("{0} file changed"), l10n.t("{0} files changed"))), ...lines] : []));
  }

  /** What is left of a file's change, if it is one of this turn. */
  reviewed(seen: Reviewed): void {
    if (seen.from === this.from) this.reviews.get(seen.path)?.take(seen);
  }

  /** Say how it ended, where that is not as it should. */
  ended({ stopReason, error, cost, usage }: TurnEnded): void {
    const words = error ? error.message : STOPS[stopReason];
    const key = error?.kind === "authentication" && button(l10n.t("Set API Key…"), () => this.send({ type: "run", command: "setApiKey" }), undefined, "link");
    const figures = [Number(cost) ? money(cost) : "", many(usage.requests, ...REQUESTS)].filter(Boolean).join(" · ");
    fill(this.how, words ? el("p.notice", { "data-level": error ? "error" : "warning" }, icon(error ? "failed" : "info"), el("span", {}, words, ...(key ? [" ", key] : []))) : undefined);
    fill(this.cost, figures);
    this.copy.hidden = !this.answer;
  }
}

/** What the user typed. */
export function userText(): Text {
  const said = el("div.user");
  const marks = el("div.marks");
  const made = { kind: "user" as const, element: el("div.said", {}, said, marks), marks, text: "", draw: () => void (said.textContent = made.text), get name() { return named(l10n.t("what you said"), made.text); } };
  return made;
}

/** A file that went along: what of it, by its address or by what was recalled. */
export function userFile({ type, resource }: Record<string, unknown>): Text | undefined {
  const { uri } = (resource ?? {}) as Record<string, unknown>;
  if (type !== "resource" || typeof uri !== "string") return undefined;
  const [, kind, name] = /^sidecar:(part|session)\/[^#]*#(.*)/.exec(uri) ?? [];
  const label = name === undefined ? uri : decoded(name);
  const pictures = { part: "recall", session: "session" } as const;
  const marks = el("div.marks");
  const element = el("div.said", {}, el("div.user.along", { title: label }, icon(kind === undefined ? "read" : pictures[kind as keyof typeof pictures]), el("span.target", {}, label)), marks);
  return { kind: "user", element, marks, name: undefined, text: "", draw: () => {} };
}

/** A picture that the user sent. */
export function userPicture({ type, mimeType, data }: Record<string, unknown>): Text | undefined {
  if (type !== "image" || typeof mimeType !== "string" || typeof data !== "string") return undefined;
  const picture = { mimeType, data };
  const marks = el("div.marks");
  return { kind: "user", element: el("div.said", {}, el("div.user.pictured", {}, thumbnail(picture, 160)), marks), marks, name: undefined, text: "", picture, draw: () => {} };
}

export function agentText(): Text {
  const shown = new Markdown();
  const marks = el("div.marks");
  const made = { kind: "agent" as const, element: el("div.answered", {}, shown.element, marks), marks, text: "", draw: () => shown.show(made.text), get name() { return named(l10n.t("the answer"), made.text); } };
  return made;
}

/** Thinking stays folded; its first line says what it is about. */
export function thought(): Text & { settle: () => void } {
  const shown = new Markdown();
  const began = Date.now();
  const words = el("span.verb", {}, l10n.t("Thinking…"));
  const about = el("span.target");
  const fold = new Fold("thought", () => shown.show(made.text));
  fold.head.append(icon("think"), words, " ", about);
  fold.body.append(shown.element);
  fold.element.dataset["status"] = "in_progress";
  const made = {
    kind: "thought" as const,
    element: fold.element,
    marks: fold.marks,
    // Thinking is the model's own, and bound to its place.
    name: undefined,
    text: "",
    draw: () => {
      about.textContent = made.text.trim().split("\n")[0]?.slice(0, 160) ?? "";
      fold.label = `${words.textContent} ${about.textContent}`;
      if (fold.open) shown.show(made.text);
    },
    settle: () => {
      const seconds = Math.round((Date.now() - began) / 1000);
      words.textContent = seconds > 1 ? l10n.t("Thought for {0} s", seconds) : l10n.t("Thought");
      fold.element.dataset["status"] = "completed";
      made.draw();
    },
  };
  return made;
}

/** A text by how it begins. */
function named(what: string, text: string): string {
  const [line = ""] = plainTitle(text.trim()).split("\n");
  return `${what}: ${cut(line, MOST_NAMED)}`;
}

function sum(changes: FileChange[], name: "additions" | "deletions"): number {
  return changes.reduce((total, change) => total + change[name], 0);
}
