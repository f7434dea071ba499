/** A page that shows the context, in the side bar or in a tab: asks the daemon what fills the window whenever it changed, while it is in sight. */

import { commands, type Disposable, type ExtensionContext, l10n, type Webview } from "vscode";
import { carryOut } from "../../compaction";
import type { Daemon } from "../../daemon";
import type { Sessions } from "../../sessions";
import type { FromContext, ToContext, Wish } from "../messages";
import { showPage } from "../page";

/** Milliseconds between two looks. */
const PAUSE = 300;
/** Bytes of a text that are shown at once. */
const PIECE = 8000;

/** What holds a page: a view or a panel. */
export interface Holder {
  readonly webview: Webview;
  readonly visible: boolean;
}

export class ContextPage implements Disposable {
  private listening = false;
  private timer: NodeJS.Timeout | undefined;
  /** What a plan is to be shown for, once the page listens. */
  private wanted: string | undefined;

  constructor(
    context: ExtensionContext,
    private readonly daemon: Daemon,
    private readonly sessions: Sessions,
    private readonly holder: Holder,
  ) {
    holder.webview.onDidReceiveMessage((message: FromContext) => this.take(message));
    showPage(holder.webview, context, "context", l10n.t("Sidecar context"));
  }

  post(message: ToContext): void {
    if (this.listening) void this.holder.webview.postMessage(message);
  }

  /** Look again, soon: changes come in swarms. */
  look(): void {
    if (!this.holder.visible || !this.listening) return;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.draw();
    }, PAUSE);
  }

  /** Show what a compaction would do. */
  preview(instructions: string): void {
    if (this.listening) this.post({ type: "preview", instructions });
    else this.wanted = instructions;
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
        await this.draw();
        if (this.wanted !== undefined) this.post({ type: "preview", instructions: this.wanted });
        this.wanted = undefined;
        return;
      case "recall":
        return this.recall(message.partId, message.offset);
      case "plan":
        return this.attempt(message.number, async () => {
          const plan = await this.daemon.request("context/compact", { ...this.wish(message), dryRun: true });
          this.post({ type: "planned", number: message.number, plan });
        });
      case "compact":
        return this.attempt(message.number, async () => {
          const { revision } = message;
          await carryOut(this.daemon, { ...this.wish(message), ...(revision !== undefined && { expectedRevision: revision }) });
          this.post({ type: "compacted" });
        });
      case "run":
        await commands.executeCommand(`sidecar.${message.command}`, ...(message.argument === undefined ? [] : [message.argument]));
    }
  }

  private wish({ instructions, keep }: Wish) {
    return { sessionId: this.sessions.id(), ...(instructions && { instructions }), ...(keep.length && { keep }) };
  }

  private async attempt(number: number, act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      this.post({ type: "unplanned", number, message: (error as Error).message });
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
