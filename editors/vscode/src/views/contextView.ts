/** The context view: asks the daemon what fills the window whenever it changed, while it is in sight. */

import { commands, type Disposable, type ExtensionContext, type WebviewView, type WebviewViewProvider, window } from "vscode";
import type { Daemon } from "../daemon";
import type { Sessions } from "../sessions";
import type { FromContext, ToContext } from "./messages";
import { showPage } from "./page";

/** Milliseconds between two looks. */
const PAUSE = 300;
/** Bytes of a text that are shown at once. */
const PIECE = 8000;

export function registerContextView(context: ExtensionContext, daemon: Daemon, sessions: Sessions): void {
  const view = new ContextView(context, daemon, sessions);
  context.subscriptions.push(
    view,
    window.registerWebviewViewProvider("sidecar.context", view),
    sessions.onReady(() => view.look()),
    daemon.onMeter((meter) => meter.sessionId === sessions.current && view.look()),
    daemon.onNotification("session/changed", ({ sessionId }) => sessionId === sessions.current && view.look()),
    daemon.onState(({ state }) => state !== "ready" && view.post({ type: "none", message: `The daemon is ${state}.` })),
  );
}

class ContextView implements WebviewViewProvider, Disposable {
  private view: WebviewView | undefined;
  private listening = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly context: ExtensionContext,
    private readonly daemon: Daemon,
    private readonly sessions: Sessions,
  ) {}

  resolveWebviewView(view: WebviewView): void {
    this.view = view;
    this.listening = false;
    view.webview.onDidReceiveMessage((message: FromContext) => this.take(message));
    view.onDidChangeVisibility(() => this.look());
    view.onDidDispose(() => {
      if (this.view === view) this.view = undefined;
    });
    showPage(view.webview, this.context, "context", "Sidecar context");
  }

  post(message: ToContext): void {
    if (this.view && this.listening) void this.view.webview.postMessage(message);
  }

  /** Look again, soon: changes come in swarms. */
  look(): void {
    if (!this.view?.visible || !this.listening) return;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.draw();
    }, PAUSE);
  }

  private async draw(): Promise<void> {
    const sessionId = this.sessions.current;
    if (sessionId === undefined || this.daemon.state !== "ready") return;
    try {
      const [breakdown, { checkpoints }] = await Promise.all([
        this.daemon.request("context/breakdown", { sessionId }),
        this.daemon.request("checkpoint/list", { sessionId }),
      ]);
      if (sessionId === this.sessions.current) this.post({ type: "context", breakdown, checkpoints });
    } catch (error) {
      this.post({ type: "none", message: (error as Error).message });
    }
  }

  private async take(message: FromContext): Promise<void> {
    switch (message.type) {
      case "shown":
        this.listening = true;
        return this.draw();
      case "recall":
        return this.recall(message.partId, message.offset);
      case "run":
        await commands.executeCommand(`sidecar.${message.command}`, ...(message.argument === undefined ? [] : [message.argument]));
    }
  }

  private async recall(partId: string, offset: number): Promise<void> {
    try {
      const piece = await this.daemon.request("context/recall", { sessionId: this.sessions.id(), partId, offset, limit: PIECE });
      this.post({ type: "recalled", partId, piece });
    } catch (error) {
      this.post({ type: "lost", partId, message: (error as Error).message });
    }
  }

  dispose(): void {
    clearTimeout(this.timer);
  }
}
