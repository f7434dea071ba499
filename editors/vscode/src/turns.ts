/** Sending and stopping turns, with what the editor shows. */

import type { SessionPromptResult } from "sidecar-protocol";
import { window } from "vscode";
import type { Daemon } from "./daemon";
import type { Sessions } from "./sessions";
import type { Draft, ShownPart } from "./views/messages";
import { editorContext } from "./views/shown";
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

/** The palette's way to send: ask for the text, and say so if the turn failed. */
export async function askAndSend(daemon: Daemon, sessions: Sessions, typed?: string): Promise<void> {
  const text = typed ?? (await window.showInputBox({ title: "Sidecar: Send Turn", prompt: "What should be done?", ignoreFocusOut: true }));
  if (!text?.trim()) return;
  const result = await sendTurn(daemon, sessions, { text, pictures: [] });
  if (result.error) void fail(`Sidecar: ${result.error.message}`);
}
