/** The chat view: passes on what the daemon says to its page, and what the user does there to the daemon. */

import type { Meter, SessionUpdate } from "sidecar-protocol";
import { CancellationTokenSource, commands, env, type ExtensionContext, l10n, Uri, type WebviewView, type WebviewViewProvider, window, workspace } from "vscode";
import type { Daemon } from "../daemon";
import type { Previews } from "./texts";
import { editMessage } from "../rollback";
import { Asking } from "./asking";
import { recalledBlocks, UnseenParts } from "./context/unseen";
import type { Sessions } from "../sessions";
import { applyBlock, blocks, insert, sendTurn } from "../turns";
import { Diffs } from "./diffs";
import { findSessions } from "./sessions/found";
import type { Draft, FromChat, Kept, Question, ShownPart, TakeBack, ToChat } from "./messages";
import { showPage } from "./page";
import { joined } from "./replay";
import { Reviews } from "./reviews";
import { fail } from "./notify";
import { findSymbols, openPaths, relative, selectedLines, shownInEditor } from "./shown";
import { mention } from "./slash";
import { decoded } from "./visible";

/** Milliseconds that updates are gathered before they are passed on. */
const GATHERED = 30;
/** Milliseconds after which nothing is being selected or typed any more. */
const STILL = 100;
/** Where the workspace keeps what the chat remembers. */
const KEPT = "sidecar.chat";
/** Files that complete a mention. */
const MOST_FOUND = 30;
const CANCELLED = -32800;

export function registerChat(context: ExtensionContext, daemon: Daemon, sessions: Sessions, previews: Previews): void {
  const chat = new Chat(context, daemon, sessions, previews);
  context.subscriptions.push(
    chat.diffs,
    chat.asking,
    chat.unseen,
    ...chat.asking.commands,
    commands.registerCommand("sidecar.mention", (file?: Uri) => chat.mention(file)),
    commands.registerCommand("sidecar.reveal", (partId: string) => chat.reveal(partId)),
    commands.registerCommand("sidecar.explain", (file?: Uri) => chat.explain(file)),
    window.registerWebviewViewProvider("sidecar.chat", chat),
    sessions.onChange((sessionId) => chat.begin(sessionId)),
    sessions.onReady(() => chat.ready()),
    sessions.onDraft((draft) => chat.draft(draft)),
    daemon.onUpdate(({ sessionId, update }) => sessionId === sessions.current && chat.pass(update)),
    window.onDidChangeActiveTextEditor(() => chat.lookAtEditor()),
    window.onDidChangeTextEditorSelection(({ textEditor }) => textEditor === window.activeTextEditor && chat.lookAtEditor()),
    window.tabGroups.onDidChangeTabs(() => chat.lookAtEditor()),
    daemon.onMeter((meter) => meter.sessionId === sessions.current && chat.measure(meter)),
    daemon.onState(({ message }) => chat.state(message)),
    daemon.onNotification("session/retrying", (retrying) => retrying.sessionId === sessions.current && chat.post({ type: "retrying", retrying })),
    daemon.onNotification("session/changed", ({ sessionId, cause }) => sessionId === sessions.current && chat.changed(cause)),
    daemon.onPermission((params, token) => chat.asking.ask(params, token)),
  );
}

class Chat implements WebviewViewProvider {
  readonly diffs: Diffs;
  readonly asking: Asking;
  readonly unseen: UnseenParts;
  private readonly reviews: Reviews;
  private view: WebviewView | undefined;
  /** The page is there and listens. */
  private listening = false;
  private gathered: SessionUpdate[] = [];
  private timer: NodeJS.Timeout | undefined;
  private finding: CancellationTokenSource | undefined;
  private looking: NodeJS.Timeout | undefined;
  private busy = false;
  /** Why there is no daemon. */
  private problem = "";
  private replayed = false;
  private meter: Meter | undefined;
  private kept: Kept;
  private keeping: NodeJS.Timeout | undefined;
  private drafted: Draft | undefined;
  private mentioned = "";
  private revealed: string | undefined;
  private questions: Question[] = [];

  constructor(
    private readonly context: ExtensionContext,
    private readonly daemon: Daemon,
    private readonly sessions: Sessions,
    private readonly previews: Previews,
  ) {
    this.diffs = new Diffs(daemon, sessions);
    this.reviews = new Reviews(daemon, sessions, previews);
    this.asking = new Asking(daemon, sessions, (questions) => this.ask(questions));
    this.unseen = new UnseenParts(daemon, sessions, (parts) => this.post({ type: "unseen", parts }));
    this.kept = context.workspaceState.get<Kept>(KEPT) ?? { text: "", pictures: [], sent: [] };
  }

  resolveWebviewView(view: WebviewView): void {
    this.view = view;
    this.listening = false;
    view.webview.onDidReceiveMessage((message: FromChat) => this.take(message));
    this.asking.hide(!view.visible);
    view.onDidChangeVisibility(() => this.asking.hide(!view.visible));
    view.onDidDispose(() => {
      if (this.view !== view) return;
      this.asking.hide(true);
      this.view = undefined;
      this.listening = false;
    });
    showPage(view.webview, this.context, "chat", l10n.t("Sidecar chat"));
  }

  post(message: ToChat): void {
    if (this.listening) void this.view?.webview.postMessage(message);
  }

  /** Another session, or the same anew: its history follows. */
  begin(sessionId: string): void {
    this.replayed = false;
    this.gathered = [];
    this.meter = undefined;
    this.post({ type: "session", sessionId });
    this.asking.tell();
  }

  /** The history came, or the options changed. */
  ready(): void {
    if (!this.replayed) this.gathered = joined(this.gathered);
    this.replayed = true;
    this.flush();
    const model = this.sessions.options.find(({ id }) => id === "model")?.currentValue ?? "";
    this.post({ type: "ready", readOnly: this.sessions.readOnly, model: String(model) });
    this.showRevealed();
    if (this.listening) this.unseen.look();
    void this.lookAround();
  }

  /** Bring a part of the conversation into sight. */
  async reveal(partId: string): Promise<void> {
    this.revealed = partId;
    await commands.executeCommand("sidecar.chat.focus");
    if (this.replayed) this.showRevealed();
  }

  private showRevealed(): void {
    if (!this.listening || this.revealed === undefined) return;
    this.post({ type: "reveal", partId: this.revealed });
    this.revealed = undefined;
  }

  pass(update: SessionUpdate): void {
    this.gathered.push(update);
    if (this.replayed) this.timer ??= setTimeout(() => this.flush(), GATHERED);
  }

  measure(meter: Meter): void {
    this.meter = meter;
    this.post({ type: "meter", meter });
  }

  /** Show what of the editor goes along, when it has been still for a moment. */
  lookAtEditor(): void {
    clearTimeout(this.looking);
    this.looking = setTimeout(() => this.post({ type: "editor", shown: shownInEditor() }), STILL);
  }

  state(message: string): void {
    this.busy = false;
    this.problem = message;
    this.post({ type: "busy", busy: false });
    if (this.daemon.state !== "ready") this.asking.forget();
    this.postState();
  }

  changed(cause: string): void {
    this.flush();
    if (cause === "turn_started" || cause === "turn_ended") {
      this.busy = cause === "turn_started";
      this.post({ type: "busy", busy: this.busy });
    }
    if (cause !== "step") void this.listCheckpoints();
    if (cause !== "step" && cause !== "turn_started" && this.listening) this.unseen.look();
  }

  /** Show a message in the input. A view that is not in sight is opened, and whoever is elsewhere stays there. */
  draft(draft: Draft): void {
    this.drafted = draft;
    if (this.view?.visible) this.view.show();
    else void commands.executeCommand("sidecar.chat.focus", { preserveFocus: true });
    if (this.listening) this.putDraft();
  }

  /** Name a file, or what is selected in the editor, in the input. */
  async mention(file?: Uri): Promise<void> {
    this.mentioned += pointed(file);
    await commands.executeCommand("sidecar.chat.focus");
    if (this.listening) this.putMention();
  }

  /** Ask for an explanation of what is selected; it is sent when the user says so. */
  async explain(file?: Uri): Promise<void> {
    this.draft({ text: l10n.t("Explain {0}", pointed(file).trim()), pictures: [] });
    await commands.executeCommand("sidecar.chat.focus");
  }

  private async take(message: FromChat): Promise<void> {
    try {
      await this.act(message);
    } catch (error) {
      void fail(`Sidecar: ${(error as Error).message}`);
    }
  }

  private async act(message: FromChat): Promise<unknown> {
    switch (message.type) {
      case "shown":
        return this.shown();
      case "send":
        return this.send(message, message.steer, message.without);
      case "keep":
        return this.keep(message.kept);
      case "find":
        return this.find(message.query);
      case "mention":
        return this.post({ type: "mentions", text: message.uris.map((uri) => mention(relative(Uri.parse(uri)))).join("") });
      case "cancel":
        return this.daemon.notify("session/cancel", { sessionId: this.sessions.id() });
      case "answer":
        return this.asking.answer(message.id, message.optionId);
      case "reject":
        await this.asking.reject(message.id);
        return commands.executeCommand("sidecar.chat.focus");
      case "showQuestion":
        return this.asking.open(message.id, false);
      case "diff":
        return this.diffs.open(message.change);
      case "insert":
        return insert(message.text);
      case "apply":
        return applyBlock(this.daemon, this.sessions, message.text, message.language);
      case "edit":
        return editMessage(this.daemon, this.sessions, this.previews, message);
      case "review":
        return this.review(message.from, message.path);
      case "takeBack":
        return this.takeBack(message);
      case "open":
        return openFile(this.sessions.cwd, message.path, message.line);
      case "link":
        return openLink(this.sessions.cwd, message.href);
      case "run":
        return commands.executeCommand(`sidecar.${message.command}`, ...(message.argument === undefined ? [] : [message.argument]));
    }
  }

  private async review(from: string, path: string): Promise<void> {
    const seen = await this.reviews.look(from, path).catch((error) => ({ from, path, hunks: [], told: (error as Error).message }));
    this.post({ type: "reviewed", ...seen });
  }

  private async takeBack(wish: TakeBack): Promise<void> {
    try {
      this.post({ type: "reviewed", ...(await this.reviews.takeBack(wish)) });
    } catch (error) {
      await this.review(wish.from, wish.path);
      throw error;
    }
  }

  /** The page is there, for the first time or again: everything comes from the daemon. */
  private async shown(): Promise<void> {
    this.listening = true;
    this.postState();
    this.post({ type: "kept", kept: this.kept });
    this.putDraft();
    this.putMention();
    this.lookAtEditor();
    const id = this.sessions.current;
    if (id === undefined || this.daemon.state !== "ready") return;
    this.replayed = false;
    await this.sessions.open(id);
  }

  private async send(draft: Draft, steer: boolean, without: ShownPart[]): Promise<void> {
    try {
      const along = await recalledBlocks(this.daemon, draft.recalled ?? []);
      if (steer) {
        await this.daemon.request("session/prompt", { sessionId: this.sessions.id(), prompt: [...blocks(draft), ...along], steer });
      } else {
        await sendTurn(this.daemon, this.sessions, draft, without, along);
      }
    } catch (error) {
      const { code, message } = error as { code?: number; message: string };
      const { text, pictures, recalled = [] } = draft;
      this.post({ type: "refused", text, pictures, recalled, message: code === CANCELLED ? l10n.t("Stopped before it began.") : message });
    }
  }

  /** Have the daemon find files; what is open comes first while nothing is asked for. A newer question ends this one. */
  private async find(query: string): Promise<void> {
    this.finding?.cancel();
    const asked = new CancellationTokenSource();
    this.finding = asked;
    const given = { sessionId: this.sessions.id(), query, limit: MOST_FOUND };
    // Nothing found is no failure while one types.
    const { files } = await this.daemon.request("session/findFiles", given, asked.token).catch(() => ({ files: [] }));
    if (this.finding !== asked) return;
    const found = { type: "found", query, files: [...new Set([...(query ? [] : openPaths()), ...files])].slice(0, MOST_FOUND) } as const;
    this.post(found);
    // Languages may take long, and come behind the files.
    const [symbols, named] = await Promise.all([findSymbols(query).catch(() => []), findSessions(this.daemon, this.sessions, query).catch(() => [])]);
    if (this.finding === asked && (symbols.length || named.length)) this.post({ ...found, symbols, sessions: named });
  }

  /** Keep what is typed for the next window, when it has been still for a moment; what was reviewed, at once. */
  private keep(kept: Partial<Kept>): void {
    this.kept = { ...this.kept, ...kept };
    clearTimeout(this.keeping);
    this.keeping = setTimeout(() => void this.context.workspaceState.update(KEPT, this.kept), kept.reviewed ? 0 : STILL);
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.gathered.length) this.post({ type: "updates", updates: this.gathered });
    this.gathered = [];
  }

  /** Tell the page what an update does not say: whether a turn runs, checkpoints, questions, the meter. */
  private async lookAround(): Promise<void> {
    const { sessions } = await this.daemon.request("daemon/status", {});
    this.busy = sessions.some(({ sessionId, busy }) => busy && sessionId === this.sessions.current);
    this.post({ type: "busy", busy: this.busy });
    this.postQuestions();
    if (this.meter) this.post({ type: "meter", meter: this.meter });
    else this.measure(await this.daemon.request("context/meter", { sessionId: this.sessions.id() }));
    await this.listCheckpoints();
  }

  private async listCheckpoints(): Promise<void> {
    const sessionId = this.sessions.id();
    const { checkpoints } = await this.daemon.request("checkpoint/list", { sessionId });
    if (sessionId === this.sessions.current) this.post({ type: "checkpoints", checkpoints });
  }

  /** What is asked stands below what it is about. */
  private ask(questions: Question[]): void {
    this.questions = questions;
    this.flush();
    this.postQuestions();
  }

  private postQuestions(): void {
    const { questions } = this;
    if (this.view) this.view.badge = questions.length ? { value: questions.length, tooltip: l10n.t("Sidecar asks for permission") } : undefined;
    this.post({ type: "questions", questions });
  }

  private postState(): void {
    this.post({ type: "daemon", state: this.daemon.state, message: this.problem, trusted: workspace.isTrusted });
  }

  private putDraft(): void {
    if (this.drafted) this.post({ type: "draft", ...this.drafted });
    this.drafted = undefined;
  }

  private putMention(): void {
    if (this.mentioned) this.post({ type: "mentions", text: this.mentioned });
    this.mentioned = "";
  }
}

/** A mention of a file: of the lines that are selected, where it is the one in front. */
function pointed(file = window.activeTextEditor?.document.uri): string {
  return file ? mention(relative(file), selectedLines(file)) : "";
}

async function openFile(cwd: string, path: string, line?: number): Promise<void> {
  const uri = path.startsWith("/") || /^[a-z]:/i.test(path) ? Uri.file(path) : Uri.joinPath(Uri.file(cwd), path);
  const selection = line === undefined ? {} : { selection: { start: { line: line - 1, character: 0 }, end: { line: line - 1, character: 0 } } };
  await commands.executeCommand("vscode.open", uri, { preview: true, ...selection });
}

/** A link to the web goes to the browser, after the editor's own question; any other is a file. */
async function openLink(cwd: string, href: string): Promise<void> {
  if (/^(https?|mailto):/i.test(href)) await env.openExternal(Uri.parse(href));
  else if (!/^[a-z][\w+.-]+:/i.test(href)) await openFile(cwd, decoded(href.replace(/#.*$/, ""), decodeURI), Number(/#L(\d+)/.exec(href)?.[1]) || undefined);
}
