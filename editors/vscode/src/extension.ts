/** Joins the parts: daemon, session, what shows them, and the commands of the palette. */

import { commands, type Disposable, type ExtensionContext, l10n, type LogOutputChannel, window, workspace } from "vscode";
import { findDaemon, installDaemon, openSettings } from "./command";
import { compact, pin, undoCompaction } from "./compaction";
import { Daemon } from "./daemon";
import { showMeter } from "./views/meter";
import { archiveSession, exportSession, fork, handOff, importSession, openSession, switchOption } from "./moving";
import { openFromElsewhere, syncSessions } from "./views/remotes";
import { Previews } from "./views/texts";
import { redo, rollBack } from "./rollback";
import { Sessions } from "./sessions";
import { askForKey, readOptions } from "./settings";
import { askAndSend } from "./turns";
import { registerChat } from "./views/chat";
import { registerContextView } from "./views/contextView";
import { fail, inform } from "./views/notify";
import { sessionCommands } from "./views/sessions/acts";
import { SessionTree } from "./views/sessions/sessionTree";

const CANCELLED = -32800;
const NOTHING_TO_DO = -32012;

export function activate(context: ExtensionContext): void {
  const log = window.createOutputChannel("Sidecar", { log: true });
  const cwd = workspace.workspaceFolders?.[0]?.uri.fsPath;
  context.subscriptions.push(log, commands.registerCommand("sidecar.showLog", () => log.show()));
  // Nothing but its welcome, which the manifest has.
  context.subscriptions.push(window.registerTreeDataProvider("sidecar.welcome", { getChildren: () => [], getTreeItem: () => ({}) }));
  if (cwd === undefined) return;
  const daemon = new Daemon(log);
  const sessions = new Sessions(daemon, context.workspaceState, cwd);
  const previews = new Previews();
  // One after the other: several reasons may come at once.
  let started = Promise.resolve();
  const start = (): Promise<void> => (started = started.then(() => startDaemon(context, daemon, log, start)));
  context.subscriptions.push(
    daemon,
    sessions,
    previews,
    ...showMeter(daemon, sessions),
    ...registerCommands(context, daemon, sessions, previews, start),
    daemon.onState(({ state }) => {
      void commands.executeCommand("setContext", "sidecar.noDaemon", state === "failed");
      if (state === "ready") void resume(daemon, sessions);
    }),
    workspace.onDidGrantWorkspaceTrust(start),
    workspace.onDidChangeConfiguration((change) => change.affectsConfiguration("sidecar") && start()),
  );
  registerChat(context, daemon, sessions, previews);
  registerContextView(context, daemon, sessions);
  void start();
}

/** Open the session again. A daemon that is stopped meanwhile is no failure: the next does it. */
async function resume(daemon: Daemon, sessions: Sessions): Promise<void> {
  await attempt(() =>
    sessions.resume().catch((error) => {
      if (daemon.state === "ready") throw error;
    }),
  );
}

/** Start the daemon, or start it anew if what is set has changed. */
async function startDaemon(context: ExtensionContext, daemon: Daemon, log: LogOutputChannel, again: () => Promise<void>): Promise<void> {
  try {
    const command = await findDaemon();
    if (!command) {
      log.warn(`there is no sidecar on PATH, nor in ~/.local/bin; PATH is ${process.env.PATH}`);
      await daemon.fail(l10n.t("The daemon was not found. See the setting sidecar.path."));
      // Not waited for: meanwhile the setting may be changed.
      void attempt(async () => (await installDaemon(context.extensionUri)) && again());
      return;
    }
    const options = await readOptions(context.secrets);
    if (daemon.runs(command, options)) return;
    log.info(`starting ${command.path}`);
    await daemon.start(command, options);
  } catch (error) {
    const text = l10n.t("Sidecar's daemon did not start: {0}", error instanceof Error ? error.message : String(error));
    await daemon.fail(text);
    void fail(text, l10n.t("Open Settings"), l10n.t("Show Log")).then((answer) => {
      if (answer === l10n.t("Open Settings")) void openSettings();
      if (answer === l10n.t("Show Log")) log.show();
    });
  }
}

function registerCommands(context: ExtensionContext, daemon: Daemon, sessions: Sessions, previews: Previews, start: () => Promise<void>): Disposable[] {
  const tree = new SessionTree(daemon, sessions);
  const found: Record<string, (...given: never[]) => Promise<unknown>> = {
    ...sessionCommands(tree, daemon, sessions),
    newSession: () => sessions.create().then(() => commands.executeCommand("sidecar.chat.focus")),
    openSession: () => openSession(daemon, sessions),
    sendTurn: (text?: string) => askAndSend(daemon, sessions, text),
    cancel: () => daemon.notify("session/cancel", { sessionId: sessions.id() }),
    compact: (instructions?: string) => compact(daemon, sessions, instructions),
    undoCompaction: (id?: string) => undoCompaction(daemon, sessions, id),
    rollBack: (checkpointId?: string) => rollBack(daemon, sessions, previews, checkpointId),
    redo: (checkpointId?: string) => redo(daemon, sessions, previews, checkpointId),
    showContext: async () => commands.executeCommand("sidecar.context.focus"),
    pin: (partId?: string) => pin(daemon, sessions, true, partId),
    unpin: (partId?: string) => pin(daemon, sessions, false, partId),
    switchModel: () => switchOption(daemon, sessions, "model"),
    switchPolicy: () => switchOption(daemon, sessions, "policy"),
    handoff: (goal?: string) => handOff(daemon, sessions, goal),
    fork: (messageId?: string) => fork(daemon, sessions, messageId),
    archive: () => archiveSession(daemon, sessions),
    export: () => exportSession(daemon, sessions),
    import: () => importSession(daemon, sessions),
    sync: () => syncSessions(daemon, sessions),
    openFromElsewhere: () => openFromElsewhere(daemon, sessions),
    setApiKey: async () => {
      const key = await askForKey(context.secrets);
      if (key === undefined) return;
      await start();
      if (key) await chooseModel(daemon, sessions);
    },
    openSettings,
    tour: async () => commands.executeCommand("workbench.action.openWalkthrough", "sidecar.sidecar#sidecar.tour"),
    trust: async () => commands.executeCommand("workbench.trust.manage"),
    restart: async () => {
      await daemon.stop();
      await start();
    },
  };
  return [tree, ...Object.entries(found).map(([name, act]) => commands.registerCommand(`sidecar.${name}`, (...given) => attempt(() => act(...(given as never[])))))];
}

/** A session that began without a key has the model that needs none: have another chosen. */
async function chooseModel(daemon: Daemon, sessions: Sessions): Promise<void> {
  if (!sessions.options.some(({ id, currentValue }) => id === "model" && currentValue === "offline")) return;
  await sessions.open(sessions.id());
  await switchOption(daemon, sessions, "model");
}

/** Do it; what goes wrong is shown in the daemon's words. */
async function attempt(act: () => Promise<unknown>): Promise<void> {
  try {
    await act();
  } catch (error) {
    const { code, message } = error as { code?: number; message?: string };
    if (code === CANCELLED) return;
    if (code === NOTHING_TO_DO) void inform(`Sidecar: ${message}`);
    else void fail(`Sidecar: ${message ?? error}`);
  }
}
