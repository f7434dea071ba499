/** Sending and stopping turns, with what the editor shows. */

import type { SessionPromptResult } from "sidecar-protocol";
import { DiagnosticSeverity, languages, type Position, type Range, TabInputText, type TextEditor, type Uri, window, workspace } from "vscode";
import type { Daemon } from "./daemon";
import type { Sessions } from "./sessions";
import type { Draft, Shown, ShownPart } from "./views/messages";
import { fail } from "./views/notify";

/** Run a turn with this, and what the editor shows but for some parts; gives how it ended. An error means that none began. */
export async function sendTurn(daemon: Daemon, sessions: Sessions, draft: Draft, without: readonly ShownPart[] = []): Promise<SessionPromptResult> {
  const result = await daemon.request("session/prompt", { sessionId: sessions.id(), prompt: blocks(draft), context: editorContext(without) });
  // Who may send writes it, whoever did before.
  sessions.readOnly = false;
  return result;
}

/** A draft as the protocol's content blocks. */
export function blocks({ text, pictures }: Draft): Record<string, unknown>[] {
  return [...(text ? [{ type: "text", text }] : []), ...pictures.map((picture) => ({ type: "image", ...picture }))];
}

/** Give what the editor shows, but for some parts: open files, the selection, problems in the open files. */
function editorContext(without: readonly ShownPart[]): Record<string, unknown> {
  const front = inFront();
  const [file, others] = openFiles(front);
  const open = [...(without.includes("file") ? [] : file), ...(without.includes("others") ? [] : others)];
  const selection = front && !front.selection.isEmpty && !without.includes("selection")
    ? { path: front.document.uri.fsPath, range: plain(front.selection), text: front.document.getText(front.selection) }
    : undefined;
  const diagnostics = open.flatMap((uri) =>
    languages.getDiagnostics(uri)
      .filter((problem) => problem.severity <= DiagnosticSeverity.Warning)
      .map(({ range, severity, message }) => ({ path: uri.fsPath, range: plain(range), severity: severity + 1, message })),
  );
  return { openFiles: open.map((uri) => uri.fsPath), diagnostics, ...(selection && { selection }) };
}

/** The same as people see it. */
export function shownInEditor(): Shown {
  const front = inFront();
  const [[file], others] = openFiles(front);
  const names = others.map((uri) => relative(uri));
  const { start, end } = front?.selection ?? {};
  const first = (start?.line ?? 0) + 1;
  // One that ends where a line begins does not reach into that line.
  const last = Math.max(first, (end?.line ?? 0) + (end?.character ? 1 : 0));
  const lines = first === last ? `line ${first}` : `lines ${first}–${last}`;
  return {
    ...(file && { file: { label: base(file), said: `the open file ${relative(file)}` } }),
    ...(names.length && { others: { label: `${names.length} more open`, said: `the other open files: ${names.join(", ")}` } }),
    ...(front && !front.selection.isEmpty && { selection: { label: lines, said: `the selection, ${lines} of ${relative(front.document.uri)}` } }),
  };
}

/** The files of the folder that are open, the one in front first. */
export function openPaths(): string[] {
  return openFiles(inFront()).flat().filter((uri) => workspace.getWorkspaceFolder(uri)).map(relative);
}

/** A file's path from the folder on. */
export function relative(uri: Uri): string {
  return workspace.asRelativePath(uri, false);
}

function inFront(): TextEditor | undefined {
  const editor = window.activeTextEditor;
  return editor?.document.uri.scheme === "file" ? editor : undefined;
}

/** The file in front, and the others that are open. */
function openFiles(front: TextEditor | undefined): [Uri[], Uri[]] {
  const inputs = window.tabGroups.all.flatMap((group) => group.tabs.map((tab) => tab.input));
  const open = inputs.filter((input) => input instanceof TabInputText).map((input) => input.uri).filter((uri) => uri.scheme === "file");
  const once = [...new Map(open.map((uri) => [uri.toString(), uri])).values()];
  const isFront = (uri: Uri) => uri.toString() === front?.document.uri.toString();
  return [once.filter(isFront), once.filter((uri) => !isFront(uri))];
}

function base(uri: Uri): string {
  return uri.path.slice(uri.path.lastIndexOf("/") + 1);
}

/** The palette's way to send: ask for the text, and say so if the turn failed. */
export async function askAndSend(daemon: Daemon, sessions: Sessions, typed?: string): Promise<void> {
  const text = typed ?? (await window.showInputBox({ title: "Sidecar: Send Turn", prompt: "What should be done?", ignoreFocusOut: true }));
  if (!text?.trim()) return;
  const result = await sendTurn(daemon, sessions, { text, pictures: [] });
  if (result.error) void fail(`Sidecar: ${result.error.message}`);
}

/** A range as LSP has it; the editor's own becomes a list in JSON. */
function plain({ start, end }: Range): { start: Position; end: Position } {
  return { start, end };
}
