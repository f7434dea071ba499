/** The conversation: updates become turns and parts. There is no history here but what is shown. */

import type { Checkpoint, CompactionChanged, Notice, PlanEntry, SessionRetryingParams, SessionUpdate, TurnEnded, UpdateOrigin } from "sidecar-protocol";
import { l10n } from "vscode";
import type { FromChat, Question, Reviewed, Unseen } from "../src/views/messages";
import { count } from "../src/wording";
import { button, el, say } from "./dom";
import { icon } from "./icons";
import { forgetTaken, type Marks } from "./review";
import { type Task, ToolCall } from "./toolcall";
import { agentText, type Text, thought, Turn, userFile, userPicture, userText } from "./turn";
import { UnseenMarks } from "./unseen";

const SPEAKERS = { user_message_chunk: userText, agent_message_chunk: agentText, agent_thought_chunk: thought } as const;
/** Causes of a new prompt that are no compaction, in words: there is nothing to take back. */
const LASTING: Record<string, string> = { model: l10n.t("The context, for another model"), restore: l10n.t("The context, after going back"), tools: l10n.t("The context, with other tools") };
/** The daemon's words for why it compacted. */
const CAUSES: Record<string, string> = { user: l10n.t("user"), budget: l10n.t("budget"), cold: l10n.t("cold"), pays: l10n.t("pays"), overflow: l10n.t("overflow"), idle: l10n.t("idle"), instructions: l10n.t("instructions") };
const WORKING = l10n.t("Working…");
/** Pixels from the end at which it is still followed. */
const NEAR = 40;
/** Characters of an answer that are read out. */
const MOST_SAID = 800;

type Origin = Partial<UpdateOrigin>;

export class Transcript {
  private readonly list = el("div.turns");
  private readonly doing = el("span", {}, WORKING);
  private readonly working = el("div.working", { hidden: true }, el("span.spinner", { "aria-hidden": "true" }), this.doing);
  readonly element = el("main.transcript", {}, el("h1.spoken", {}, l10n.t("Sidecar chat")), this.list, this.working);
  /** Brings the end back into sight. */
  readonly jump = button(l10n.t("Jump to the newest"), () => this.toEnd(), icon("down"), "jump");
  private turns = new Map<string, Turn>();
  private texts = new Map<string, Text>();
  private calls = new Map<string, ToolCall>();
  private compactions = new Map<string, HTMLElement>();
  private readonly marksOfUnseen = new UnseenMarks((id) => this.texts.get(id) ?? this.calls.get(id), (id, label) => this.recall(id, label));
  private newest: Text | undefined;
  /** The parts of what the user said, by message. */
  private messages = new Map<string, Text[]>();
  /** The message that came last, and the one before. */
  private last: string | undefined;
  private before: string | undefined;
  private dirty = new Set<Text>();
  /** What was said of parts that cannot be shown. */
  private readonly faults = new Set<string>();
  private following = true;
  private top = 0;
  /** What came is new, and not the history. */
  live = false;

  constructor(private readonly send: (message: FromChat) => void, private readonly planned: (tasks: Task[]) => void, private readonly marks: Marks, private readonly recall: (partId: string, label: string) => void) {
    const on = <K extends keyof HTMLElementEventMap>(kind: K, act: (event: HTMLElementEventMap[K]) => void) => this.element.addEventListener(kind, act, { passive: true });
    on("wheel", ({ deltaY }) => deltaY < 0 && this.leave());
    on("keydown", ({ key }) => ["PageUp", "ArrowUp", "Home"].includes(key) && this.leave());
    for (const kind of ["pointerdown", "touchstart", "click"] as const) on(kind, () => this.leave());
    for (const kind of ["pointerup", "touchend", "click"] as const) on(kind, () => requestAnimationFrame(() => this.look()));
    on("scroll", () => {
      const { scrollTop } = this.element;
      if (scrollTop >= this.top) this.look();
      else this.jump.hidden = this.near;
      this.top = scrollTop;
    });
    const watch = new ResizeObserver(() => this.following && this.toEnd());
    for (const each of [this.element, this.list]) watch.observe(each);
    this.list.addEventListener("keydown", (event) => this.move(event));
    this.jump.hidden = true;
  }

  get empty(): boolean {
    return this.list.childElementCount === 0;
  }

  /** What the user said, the newest last. */
  get sent(): string[] {
    return [...this.texts.values()].filter(({ kind, text }) => kind === "user" && text).map(({ text }) => text);
  }

  clear(): void {
    this.list.replaceChildren();
    for (const name of ["role", "aria-label"]) this.list.removeAttribute(name);
    for (const known of [this.turns, this.texts, this.calls, this.compactions, this.dirty, this.messages, this.faults]) known.clear();
    this.marksOfUnseen.forget();
    forgetTaken();
    this.newest = this.last = this.before = undefined;
    this.live = false;
    this.toEnd();
  }

  take(update: SessionUpdate): void {
    this.alone(() => this.taken(update));
  }

  private taken(update: SessionUpdate): void {
    const origin = (update._meta?.["sidecar"] ?? {}) as Origin;
    if (origin.discards) this.discard(origin.discards);
    switch (update.sessionUpdate) {
      case "user_message_chunk":
      case "agent_message_chunk":
      case "agent_thought_chunk":
        return this.chunk(update, origin);
      case "tool_call":
      case "tool_call_update":
        return this.call(update, origin);
      case "plan":
        return this.planned(update.entries as PlanEntry[]);
      case "turn_ended":
        return this.ended(update);
      case "compaction_update":
        return this.compacted(update);
      case "notice":
        return this.notice(update);
    }
  }

  /** Draw what changed; many updates are drawn at once. */
  draw(): void {
    for (const text of this.dirty) this.alone(text.draw);
    this.dirty.clear();
    if (this.following) this.toEnd();
    else this.jump.hidden = this.near;
  }

  set busy(busy: boolean) {
    if (!this.working.hidden === busy) return;
    this.working.hidden = !busy;
    this.list.setAttribute("aria-busy", String(busy));
    if (busy) forgetTaken();
    else this.settle();
    if (this.live) say(busy ? l10n.t("Sidecar is working.") : this.answer());
    if (this.following) this.toEnd();
  }

  checkpoints(checkpoints: Checkpoint[]): void {
    const grouped = new Map<string, Checkpoint[]>();
    for (const one of checkpoints.filter((each) => !each.left)) grouped.set(one.turnId, [...(grouped.get(one.turnId) ?? []), one]);
    for (const [id, found] of grouped) this.turns.get(id)?.take(found);
    this.draw();
  }

  /** What the model no longer sees whole. */
  unseen(parts: Unseen[]): void {
    this.marksOfUnseen.take(parts);
    this.draw();
  }

  /** What is left of a file's change. */
  reviewed(seen: Reviewed): void {
    for (const turn of this.turns.values()) turn.reviewed(seen);
    this.draw();
  }

  /** Bring a part into sight, unfolded; false where there is none. */
  reveal(partId: string): boolean {
    const element = (this.texts.get(partId) ?? this.calls.get(partId))?.element;
    if (!element) return false;
    this.draw();
    element.querySelector<HTMLElement>('.fold-toggle[aria-expanded="false"]')?.click();
    this.leave();
    element.scrollIntoView({ block: "center" });
    element.classList.add("revealed");
    element.addEventListener("animationend", () => element.classList.remove("revealed"), { once: true });
    return true;
  }

  asked(questions: Question[]): void {
    this.doing.textContent = questions.length ? l10n.t("Waiting") : WORKING;
    this.working.classList.toggle("waiting", questions.length > 0);
    const waiting = new Set(questions.map(({ toolCall }) => toolCall.toolCallId));
    for (const call of this.calls.values()) call.waiting = waiting.has(call.id);
  }

  retrying({ attempt, maxAttempts, delayMs, error, discard }: SessionRetryingParams): void {
    this.discard(discard);
    const until = Date.now() + delayMs;
    const told = el("span", {});
    const tick = (): void => {
      const left = Math.max(0, Math.ceil((until - Date.now()) / 1000));
      told.textContent = `${error.message} ${l10n.t("Trying again in {0} s ({1} of {2}).", left, attempt, maxAttempts)}`;
      if (!left || !told.isConnected) clearInterval(timer);
    };
    this.line("warning", told);
    const timer = setInterval(tick, 1000);
    tick();
  }

  private chunk(update: Extract<SessionUpdate, { content: Record<string, unknown> }>, origin: Origin): void {
    const id = origin.partId ?? `${update.sessionUpdate}:${origin.messageId}`;
    this.came(origin);
    let text = this.texts.get(id);
    if (!text) {
      this.settle();
      text = userPicture(update.content) ?? userFile(update.content) ?? SPEAKERS[update.sessionUpdate]();
      this.texts.set(id, text);
      this.turn(origin).add(text.element);
      if (text.kind === "user") this.said(text, origin);
      if (text.kind === "agent") this.turn(origin).answer = text;
    }
    this.newest = text;
    if (!["image", "resource"].includes(String(update.content["type"]))) text.text += shown(update.content);
    if (text.kind === "user" && text.text) this.turn(origin).label = text.text;
    if (!this.live && text.kind === "thought") this.settle();
    this.dirty.add(text);
  }

  private came({ messageId = this.last }: Origin): void {
    if (messageId !== this.last) [this.before, this.last] = [this.last, messageId];
  }

  /** Let a message be edited and sent anew: by one button, whatever its parts. */
  private said(text: Text, { messageId }: Origin): void {
    if (messageId === undefined) return;
    const parts = this.messages.get(messageId) ?? [];
    this.messages.set(messageId, [...parts, text]);
    if (parts.length) return;
    const after = this.before;
    const edit = () => {
      const all = this.messages.get(messageId) ?? [];
      const words = all.map((part) => part.text).filter(Boolean).join("\n\n");
      this.send({ type: "edit", messageId, text: words, pictures: all.flatMap(({ picture }) => picture ?? []), ...(after !== undefined && { after }) });
    };
    text.element.prepend(button(l10n.t("Edit and send again…"), edit, icon("edit"), "quiet restore"));
  }

  private call(update: Extract<SessionUpdate, { toolCallId: string }>, origin: Origin): void {
    const id = origin.partId ?? update.toolCallId;
    this.came(origin);
    const known = this.calls.get(id);
    if (!known) this.settle();
    const call = known ?? new ToolCall(update.toolCallId, this.send);
    const before = call.status;
    call.take(update, origin);
    // One that cannot be shown leaves no line without words.
    if (!known) this.turn(origin).add(call.element);
    this.calls.set(id, call);
    const items = origin.metadata?.["items"];
    if (Array.isArray(items)) this.planned(items as Task[]);
    if (this.live && call.status !== before && ["completed", "failed"].includes(call.status)) say(`${call.label}: ${call.status === "failed" ? l10n.t("failed") : l10n.t("done")}`);
  }

  private turn({ turnId = "" }: Origin): Turn {
    const known = this.turns.get(turnId);
    if (known) return known;
    const turn = new Turn(this.send, this.marks);
    this.turns.set(turnId, turn);
    this.append(turn.element);
    return turn;
  }

  private ended(update: TurnEnded): void {
    this.turns.get(update.turnId)?.ended(update);
    if (this.live && update.error) say(update.error.message);
  }

  private compacted({ compactionId, status, cause, tokensBefore, tokensAfter }: CompactionChanged): void {
    const before = this.compactions.get(compactionId);
    const sizes = l10n.t("{0} → {1} tokens", count(tokensBefore), count(tokensAfter));
    const words = { completed: l10n.t("Compacted"), failed: l10n.t("Compaction failed"), undone: l10n.t("Compaction taken back") }[status as string] ?? l10n.t("Compaction: {0}", status);
    const lasting = status === "completed" ? LASTING[cause] : undefined;
    const told = `${lasting ?? words}: ${sizes}`;
    const undo = () => this.send({ type: "run", command: "undoCompaction", argument: compactionId });
    const back = status === "completed" && !lasting && button(l10n.t("Undo"), undo);
    const line = el("article.compaction", { "aria-label": told }, icon("compact"), el("span", {}, lasting || status === "undone" ? told : `${told} (${CAUSES[cause] ?? cause})`), back);
    if (before) before.replaceWith(line);
    else this.append(line);
    this.compactions.set(compactionId, line);
    if (this.live) say(told);
  }

  private notice({ level, message }: Notice): void {
    this.line(level, message);
    if (this.live) say(message);
  }

  /** Show one part; if that fails, it is said once, and other parts are shown all the same. */
  private alone(show: () => void): void {
    try {
      show();
    } catch (error) {
      const told = `A part of the conversation cannot be shown: ${String(error)}`;
      if (!this.faults.has(told)) this.line("warning", told);
      this.faults.add(told);
    }
  }

  private line(level: string, message: string | HTMLElement): void {
    const last = [...this.turns.values()].at(-1);
    const line = el("p.notice", { "data-level": level }, icon(level === "info" ? "info" : "warning"), el("span", {}, message));
    if (last) last.add(line);
    else this.append(el("article", { "aria-label": l10n.t("Notice") }, line));
  }

  /** A feed has articles alone, and some. */
  private append(article: HTMLElement): void {
    this.list.setAttribute("role", "feed");
    this.list.setAttribute("aria-label", l10n.t("Conversation"));
    this.list.append(article);
  }

  private discard(parts: string[]): void {
    for (const id of parts) {
      this.texts.get(id)?.element.remove();
      this.calls.get(id)?.element.remove();
      this.texts.delete(id);
      this.calls.delete(id);
    }
  }

  /** What was thought has been thought, once something else comes. */
  private settle(): void {
    const text = this.newest;
    if (text?.kind === "thought") (text as ReturnType<typeof thought>).settle();
    if (text) this.dirty.add(text);
    this.newest = undefined;
  }

  /** The newest answer, to be read out. */
  private answer(): string {
    const newest = [...this.texts.values()].filter(({ kind }) => kind === "agent").at(-1);
    const words = newest?.element.innerText.trim() ?? "";
    return `${l10n.t("Sidecar is done.")} ${words.length > MOST_SAID ? `${words.slice(0, MOST_SAID)}…` : words}`;
  }

  /** Only people leave the end: what is drawn anew changes heights too. */
  private leave(): void {
    const { scrollHeight, clientHeight } = this.element;
    if (scrollHeight > clientHeight + 1) this.following = false;
  }

  /** Follow the end again, if it is in sight. */
  private look(): void {
    this.following ||= this.near;
    this.jump.hidden = this.near;
  }

  private get near(): boolean {
    const { scrollHeight, scrollTop, clientHeight } = this.element;
    return scrollHeight - scrollTop - clientHeight < NEAR;
  }

  /** Show the end and follow it. */
  toEnd(): void {
    this.element.scrollTop = this.element.scrollHeight;
    this.following = true;
    this.jump.hidden = true;
  }

  /** As in any feed, Page Up and Page Down move from turn to turn. */
  private move(event: KeyboardEvent): void {
    const step = { PageUp: -1, PageDown: 1 }[event.key];
    const turns = [...this.list.querySelectorAll<HTMLElement>(".turn")];
    const at = turns.findIndex((turn) => turn.contains(document.activeElement));
    const next = step === undefined ? undefined : turns[at + step];
    if (!next) return;
    event.preventDefault();
    next.focus();
    next.scrollIntoView({ block: "nearest" });
  }
}

/** A content block as text; what is not text is named. */
function shown(content: Record<string, unknown>): string {
  const { type, text, uri, name } = content;
  return typeof text === "string" ? text : `[${String(name ?? uri ?? type)}]`;
}
