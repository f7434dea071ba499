/** What the editor shows: the file in front, the others that are open, the selection; and symbols that it knows. */

import { basename } from "node:path";
import { commands, DiagnosticSeverity, l10n, languages, type Position, type Range, type SymbolInformation, TabInputText, type TextEditor, type Uri, window, workspace } from "vscode";
import type { FoundSymbol, Shown, ShownPart } from "./messages";
import { many } from "../wording";

/** Letters from which on symbols are looked for, and how many are given. */
const LETTERS = 2;
const MOST_SYMBOLS = 10;

/** The folder's symbols of this name, as far as the editor's languages know them. */
export async function findSymbols(query: string): Promise<FoundSymbol[]> {
  if (query.length < LETTERS) return [];
  const found = await commands.executeCommand<SymbolInformation[]>("vscode.executeWorkspaceSymbolProvider", query);
  const inside = found.filter(({ location: { uri } }) => uri.scheme === "file" && workspace.getWorkspaceFolder(uri));
  return inside.slice(0, MOST_SYMBOLS).map(({ name, location: { uri, range } }) => ({ name, path: relative(uri), lines: [range.start.line + 1, range.end.line + 1] }));
}

/** Give what the editor shows, but for some parts: open files, the selection, problems in the open files. */
export function editorContext(without: readonly ShownPart[]): Record<string, unknown> {
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

/** What of it goes along with a message, as people see it. */
export function shownInEditor(): Shown {
  const front = inFront();
  const [[file], others] = openFiles(front);
  const names = others.map((uri) => relative(uri));
  const [first, last] = (front && selectedLines(front.document.uri)) ?? [];
  const lines = first === last ? l10n.t("line {0}", first ?? 0) : l10n.t("lines {0}–{1}", first ?? 0, last ?? 0);
  return {
    ...(file && { file: { label: basename(file.path), said: l10n.t("the open file {0}", relative(file)) } }),
    ...(names.length && { others: { label: file ? l10n.t("{0} more open", names.length) : many(names.length, l10n.t("{0} file open"), l10n.t("{0} files open")), said: l10n.t("the other open files: {0}", names.join(", ")) } }),
    ...(front && first !== undefined && { selection: { label: lines, said: l10n.t("the selection, {0} of {1}", lines, relative(front.document.uri)) } }),
  };
}

/** The first and the last line of what is selected in this file, if it is the one in front. */
export function selectedLines(file: Uri): [number, number] | undefined {
  const front = inFront();
  if (!front || front.selection.isEmpty || front.document.uri.toString() !== file.toString()) return undefined;
  const { start, end } = front.selection;
  // One that ends where a line begins does not reach into that line.
  return [start.line + 1, Math.max(start.line + 1, end.line + (end.character ? 1 : 0))];
}

/** The files of the folder that are open, the one in front first. */
export function openPaths(): string[] {
  return openFiles(inFront()).flat().filter((uri) => workspace.getWorkspaceFolder(uri)).map(relative);
}

/** A file's path from the folder on. */
export function relative(uri: Uri): string {
  return workspace.asRelativePath(uri, false);
}

/** The editor of a file that is in front. */
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

/** A range as LSP has it; the editor's own becomes a list in JSON. */
function plain({ start, end }: Range): { start: Position; end: Position } {
  return { start, end };
}
