/** Sending and stopping turns, with what the editor shows. */

import type { SessionPromptResult } from "sidecar-protocol";
import { l10n, window } from "vscode";
import type { Daemon } from "./daemon";
import type { Sessions } from "./sessions";
import type { Draft, ShownPart } from "./views/messages";
import { editorContext, openPaths } from "./views/shown";
import { mention } from "./views/slash";
import { fail } from "./views/notify";

/** Run a turn with this, and what the editor shows but for some parts; gives how it ended. An error means that none began. */
export async function sendTurn(daemon: Daemon, sessions: Sessions, draft: Draft, without: readonly ShownPart[] = [], files: Record<string, unknown>[] = []): Promise<SessionPromptResult> {
  const result = await daemon.request("session/prompt", { sessionId: sessions.id(), prompt: [...blocks(draft), ...files], context: editorContext(without) });
  // Who may send writes it, whoever did before.
  sessions.readOnly = false;
  return result;
}

/** A draft as the protocol's content blocks. */
export function blocks({ text, pictures }: Draft): Record<string, unknown>[] {
  return [...(text ? [{ type: "text", text }] : []), ...pictures.map((picture) => ({ type: "image", ...picture }))];
}

/** Write a text where the cursor is, instead of what is selected. */
export async function insert(text: string): Promise<void> {
  const editor = window.activeTextEditor;
  const done = await editor?.edit((edit) => editor.selections.forEach((selection) => edit.replace(selection, text)));
  if (!done) throw new Error(l10n.t("There is no editor to write into: open a file first."));
}

/** Have the agent work a piece of code into one of the open files: by its edit tool, which asks. */
export async function applyBlock(daemon: Daemon, sessions: Sessions, text: string, language: string): Promise<void> {
  const paths = openPaths();
  if (!paths.length) throw new Error(l10n.t("Open the file first that this belongs to."));
  const path = await window.showQuickPick(paths, { title: l10n.t("Sidecar: Apply to a File"), placeHolder: l10n.t("The agent edits it; you are asked as for any edit") });
  if (!path) return;
  const words = `Work the code that goes along into ${mention(path)}by editing it there, and change nothing else.`;
  // Nobody typed it: as a file it is taken for no rule of the user's.
  const code = { type: "resource", resource: { uri: `untitled:code${language && `.${language}`}`, text } };
  await sendTurn(daemon, sessions, { text: words, pictures: [] }, [], [code]);
}

/** The palette's way to send: ask for the text, and say so if the turn failed. */
export async function askAndSend(daemon: Daemon, sessions: Sessions, typed?: string): Promise<void> {
  const text = typed ?? (await window.showInputBox({ title: l10n.t("Sidecar: Send Turn"), prompt: l10n.t("What should be done?"), ignoreFocusOut: true }));
  if (!text?.trim()) return;
  const result = await sendTurn(daemon, sessions, { text, pictures: [] });
  if (result.error) void fail(`Sidecar: ${result.error.message}`);
}
