/** The context in the side bar, and the same in a tab of the editor. */

import { commands, type ExtensionContext, l10n, Uri, ViewColumn, type WebviewPanel, window } from "vscode";
import type { Daemon } from "../daemon";
import type { Sessions } from "../sessions";
import { ContextPage, type Holder } from "./context/contextPage";
import { STATES } from "../wording";
import type { ToContext } from "./messages";

const TAB = "sidecar.contextTab";

export function registerContextView(context: ExtensionContext, daemon: Daemon, sessions: Sessions): void {
  const pages = new Set<ContextPage>();
  let tab: { panel: WebviewPanel; page: ContextPage } | undefined;

  function show(holder: Holder): ContextPage {
    const page = new ContextPage(context, daemon, sessions, holder);
    pages.add(page);
    return page;
  }

  function end(page: ContextPage): void {
    pages.delete(page);
    page.dispose();
  }

  function adopt(panel: WebviewPanel): ContextPage {
    const page = show(panel);
    tab = { panel, page };
    panel.iconPath = Uri.joinPath(context.extensionUri, "icons", "sidecar.png");
    panel.onDidChangeViewState(() => page.look());
    panel.onDidDispose(() => {
      end(page);
      if (tab?.page === page) tab = undefined;
    });
    return page;
  }

  /** Show the tab; with instructions, or none of them, also what a compaction would do. */
  function open(instructions?: string): void {
    tab?.panel.reveal();
    const page = tab?.page ?? adopt(window.createWebviewPanel(TAB, l10n.t("Sidecar Context"), ViewColumn.Active));
    if (instructions !== undefined) page.preview(instructions);
  }

  const look = () => pages.forEach((page) => page.look());
  const post = (message: ToContext) => pages.forEach((page) => page.post(message));
  context.subscriptions.push(
    { dispose: () => pages.forEach(end) },
    commands.registerCommand("sidecar.openContext", open),
    window.registerWebviewPanelSerializer(TAB, { deserializeWebviewPanel: async (panel) => void adopt(panel) }),
    window.registerWebviewViewProvider("sidecar.context", {
      resolveWebviewView: (view) => {
        const page = show(view);
        view.onDidChangeVisibility(() => page.look());
        view.onDidDispose(() => end(page));
      },
    }),
    sessions.onReady(look),
    daemon.onMeter((meter) => meter.sessionId === sessions.current && look()),
    daemon.onNotification("session/changed", ({ sessionId }) => sessionId === sessions.current && look()),
    daemon.onState(({ state }) => state !== "ready" && post({ type: "none", message: STATES[state] ?? "" })),
  );
}
