/** Sending and stopping turns, with what the editor shows. */

import type { SessionPromptResult } from "sidecar-protocol";
import { type CancellationToken, DiagnosticSeverity, languages, type Position, type Range, TabInputText, window } from "vscode";
import type { Daemon } from "./daemon";
import type { Sessions } from "./sessions";
import { fail } from "./views/notify";

/** Run a turn with this text; gives how it ended. An error means that none began. */
export async function sendTurn(daemon: Daemon, sessions: Sessions, text: string, token?: CancellationToken): Promise<SessionPromptResult> {
  const result = await daemon.request("session/prompt", { sessionId: sessions.id(), prompt: [{ type: "text", text }], context: editorContext() }, token);
  // Who may send writes it, whoever did before.
  sessions.readOnly = false;
  return result;
}

/** Give what the editor shows: open files, the selection, problems in the open files. */
export function editorContext(): Record<string, unknown> {
  const tabs = window.tabGroups.all.flatMap((group) => group.tabs.map((tab) => tab.input));
  const open = tabs.filter((input) => input instanceof TabInputText).map((input) => input.uri).filter((uri) => uri.scheme === "file");
  const editor = window.activeTextEditor;
  const selection = editor?.document.uri.scheme === "file" && !editor.selection.isEmpty
    ? { path: editor.document.uri.fsPath, range: plain(editor.selection), text: editor.document.getText(editor.selection) }
    : undefined;
  const diagnostics = open.flatMap((uri) =>
    languages.getDiagnostics(uri)
      .filter((problem) => problem.severity <= DiagnosticSeverity.Warning)
      .map(({ range, severity, message }) => ({ path: uri.fsPath, range: plain(range), severity: severity + 1, message })),
  );
  return { openFiles: open.map((uri) => uri.fsPath), diagnostics, ...(selection && { selection }) };
}

/** The palette's way to send: ask for the text, and say so if the turn failed. */
export async function askAndSend(daemon: Daemon, sessions: Sessions, typed?: string): Promise<void> {
  const text = typed ?? (await window.showInputBox({ title: "Sidecar: Send Turn", prompt: "What should be done?", ignoreFocusOut: true }));
  if (!text?.trim()) return;
  const result = await sendTurn(daemon, sessions, text);
  if (result.error) void fail(`Sidecar: ${result.error.message}`);
}

/** A range as LSP has it; the editor's own becomes a list in JSON. */
function plain({ start, end }: Range): { start: Position; end: Position } {
  return { start, end };
}
