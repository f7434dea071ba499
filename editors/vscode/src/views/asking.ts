/** The questions of this window's sessions: in the chat, an edit in the editor's diff too, and while the chat is hidden by notifications. */

import { basename } from "node:path";
import type { SessionRequestPermissionParams } from "sidecar-protocol";
import { type CancellationToken, commands, type Disposable, l10n, Uri, window } from "vscode";
import type { Daemon } from "../daemon";
import type { Sessions } from "../sessions";
import { sendTurn } from "../turns";
import { current, Texts } from "./texts";
import { changesEdges, type Hunk, sidesOf } from "./hunks";
import type { Question } from "./messages";
import { inform } from "./notify";
import { isShort, isWhole, notice } from "./permission";
import { cut, visible } from "./visible";

const SCHEME = "sidecar-question";
/** Milliseconds after a question came or went until a key or a link answers one: nobody allows what just came instead of another. */
const SEEN = 500;
/** Letters of another session's title. */
const MOST_NAMED = 60;

interface Waiting {
  question: Omit<Question, "session">;
  sessionId: string;
  answer: (optionId: string | undefined) => void;
  /** Its diff is open, if it has one. */
  opened?: boolean;
  /** Take its notification away, in which its session is called so. */
  unnotify?: () => void;
  called?: string;
  /** The sides of its diff. */
  sides?: [Uri, Uri];
}

export class Asking extends Texts {
  private readonly waiting = new Map<number, Waiting>();
  private asked = 0;
  private moved = 0;
  private hidden = true;

  private readonly names = new Map<string, string>();

  /** `changed` is called with what waits. */
  constructor(private readonly daemon: Daemon, private readonly sessions: Sessions, private readonly changed: (questions: Question[]) => void) {
    super(SCHEME);
  }

  get commands(): Disposable[] {
    const acts: Record<string, () => unknown> = {
      allow: () => this.byKey("allow_once"),
      allowAlways: () => this.byKey("allow_always"),
      reject: () => this.reject(this.meant?.question.id ?? 0),
    };
    return [
      commands.registerCommand("sidecar.answer", (id: number, option: number) => this.byLink(id, option)),
      ...Object.entries(acts).map(([name, act]) => commands.registerCommand(`sidecar.${name}`, act)),
    ];
  }

  /** Ask; the first answer counts, wherever it is given. */
  ask({ sessionId, toolCall, options }: SessionRequestPermissionParams, token: CancellationToken): Promise<string | undefined> {
    this.asked += 1;
    const id = this.asked;
    return new Promise((done) => {
      const answer = (optionId: string | undefined) => {
        const one = this.waiting.get(id);
        this.waiting.delete(id);
        one?.unnotify?.();
        if (one?.sides) void this.close(one.sides[1]);
        this.tell();
        done(optionId);
      };
      this.waiting.set(id, { question: { id, toolCall, options }, sessionId, answer });
      token.onCancellationRequested(() => answer(undefined));
      this.tell();
      // What stands whole in a diff may be allowed by a notification, too.
      const notify = () => {
        const one = this.waiting.get(id);
        if (one) one.opened = true;
        this.notifyHidden();
      };
      void this.open(id).then(notify, notify);
    });
  }

  answer(id: number, optionId: string): void {
    this.waiting.get(id)?.answer(optionId);
  }

  /** Reject a call, with words for the agent if there are any; Escape leaves it waiting. */
  async reject(id: number): Promise<void> {
    const one = this.waiting.get(id);
    const option = one?.question.options.find(({ kind }) => kind === "reject_once");
    if (!one || !option) return;
    const title = l10n.t("Sidecar: Reject “{0}”", visible(one.question.toolCall.title?.split("\n")[0] ?? l10n.t("this call")));
    const text = await window.showInputBox({ title: [title, ...this.where(one)].join(" "), prompt: l10n.t("What should be done instead? Enter alone only rejects."), ignoreFocusOut: true });
    if (text === undefined) return;
    if (!this.waiting.has(id)) return void inform(l10n.t("Sidecar: this question is answered or withdrawn already."));
    one.answer(option.optionId);
    if (text.trim()) await this.send(one.sessionId, text.trim());
  }

  /** Show an edit in the editor's diff; whoever is elsewhere stays there. */
  async open(id: number, preserveFocus = true): Promise<void> {
    const one = this.waiting.get(id);
    const blocks = (one?.question.toolCall.content ?? []).filter(({ type }) => type === "diff") as unknown as (Hunk & { path: string })[];
    const [first] = blocks;
    if (!one || !first) return;
    const now = await current(Uri.file(first.path));
    const sides = this.sides(first.path, ...(sidesOf(now, blocks).map(visible) as [string, string]));
    if (!this.waiting.has(id)) return;
    if (one.sides) await this.close(one.sides[1]);
    one.sides = sides;
    const name = visible(basename(first.path));
    const title = [l10n.t("{0}: may this be changed?", name), ...(changesEdges(blocks) ? [l10n.t("Blanks at lines' edges change, too")] : []), ...this.where(one)];
    await commands.executeCommand("vscode.diff", ...sides, title.join(" "), { preview: false, preserveFocus });
    if (!this.waiting.has(id)) await this.close(sides[1]);
  }

  /** Whether the chat is out of sight: then questions are notifications. */
  hide(hidden: boolean): void {
    this.hidden = hidden;
    if (hidden) return this.notifyHidden();
    for (const one of this.waiting.values()) {
      one.unnotify?.();
      delete one.unnotify;
    }
  }

  /** Nobody waits for answers any more. */
  forget(): void {
    for (const one of [...this.waiting.values()]) one.answer(undefined);
  }

  tell(): void {
    this.moved = Date.now();
    void commands.executeCommand("setContext", "sidecar.asked", this.waiting.size > 0);
    const all = [...this.waiting.values()].map((one) => this.told(one));
    this.changed(all);
    this.notifyHidden();
    if (all.some(({ session }) => session)) void this.learn().catch(() => undefined);
  }

  private told({ question, sessionId }: Waiting): Question {
    return { ...question, session: this.named(sessionId) };
  }

  /** What another session is called; its id until that is known. */
  private named(sessionId: string): string {
    return sessionId === this.sessions.current ? "" : this.names.get(sessionId) ?? sessionId;
  }

  /** Another session as a title's last words. */
  private where({ sessionId }: Waiting): string[] {
    const session = this.named(sessionId);
    return session ? [visible(`(${session})`)] : [];
  }

  /** Ask the daemon what sessions are called, and tell what is news. */
  private async learn(): Promise<void> {
    const shown = () => [...this.waiting.values()].map(({ sessionId }) => this.named(sessionId)).join();
    const before = shown();
    const { sessions } = await this.daemon.request("session/list", {});
    for (const { sessionId, title, cwd } of sessions) this.names.set(sessionId, [cut(title, MOST_NAMED) || sessionId, ...(cwd === this.sessions.cwd ? [] : [cwd])].join(" — "));
    if (shown() !== before) this.tell();
  }

  /** Have the agent of a session told something. */
  private async send(sessionId: string, text: string): Promise<void> {
    if (sessionId === this.sessions.current) await sendTurn(this.daemon, this.sessions, { text, pictures: [] });
    else await this.daemon.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  }

  private notifyHidden(): void {
    if (!this.hidden) return;
    for (const one of this.waiting.values()) {
      const { id, options } = one.question;
      const told = this.told(one);
      if (told.session !== one.called) {
        one.unnotify?.();
        delete one.unnotify;
      }
      if (!one.opened) continue;
      one.called = told.session;
      const link = (optionId: string) => `command:sidecar.answer?${encodeURIComponent(JSON.stringify([id, options.findIndex((option) => option.optionId === optionId)]))}`;
      one.unnotify ??= notice(told, one.sides !== undefined, link, () => void commands.executeCommand("sidecar.chat.focus"));
    }
  }

  /** An edit is allowed by a link only while its diff is seen. */
  private byLink(id: number, option: number): void {
    const one = this.waiting.get(id);
    const chosen = one?.question.options[option];
    if (!one || !chosen) return;
    const allows = !chosen.kind.startsWith("reject");
    if (allows && !this.settled) return;
    if (allows && one.sides && !this.seen(one.sides[1])) return void this.open(id);
    one.answer(chosen.optionId);
  }

  private get settled(): boolean {
    return Date.now() - this.moved > SEEN;
  }

  /** The question whose diff is in front; elsewhere the oldest in the chat, and while that is hidden the only one, if it is seen whole. */
  private get meant(): Waiting | undefined {
    const front = window.activeTextEditor?.document.uri;
    const all = [...this.waiting.values()];
    if (front?.scheme === SCHEME) return all.find(({ sides }) => sides?.some((side) => side.toString() === front.toString()));
    const [first, ...others] = all;
    if (!this.hidden || !first) return first;
    const whole = first.sides ? this.seen(first.sides[1]) : isWhole(first.question.toolCall);
    return whole && !others.length ? first : undefined;
  }

  private byKey(kind: "allow_once" | "allow_always"): void {
    const one = this.meant;
    // In the chat a long input is read by scrolling; of an edit the diff is to be in sight.
    const edits = one?.question.toolCall.content?.some(({ type }) => type === "diff");
    if (one && edits && !(one.sides && this.seen(one.sides[1]))) return void this.open(one.question.id);
    if (!one || !(edits || isShort(one.question.toolCall))) return void commands.executeCommand("sidecar.chat.focus");
    // What holds for more than a tool, as trust of a folder, is no answer to give by habit.
    const about = one.question.toolCall._meta?.["sidecar"] as { question?: string } | undefined;
    const option = kind === "allow_always" && about?.question !== "permission" ? undefined : one.question.options.find((each) => each.kind === kind);
    if (option && this.settled) one.answer(option.optionId);
  }
}
