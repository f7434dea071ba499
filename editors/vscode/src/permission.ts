/** Asks by a notification whether a call may run, for when no view asks. */

import type { SessionRequestPermissionParams } from "sidecar-protocol";
import { type CancellationToken, type MessageItem, window } from "vscode";

/** Give the id of the chosen option; a turn that is cancelled meanwhile ends the question. */
export async function askPermission({ toolCall, options }: SessionRequestPermissionParams, token: CancellationToken): Promise<string | undefined> {
  const items = options.map(({ name, optionId }): MessageItem & { optionId: string } => ({ title: name, optionId }));
  const cancelled = new Promise<undefined>((done) => token.onCancellationRequested(() => done(undefined)));
  const asked = window.showWarningMessage(`Sidecar: ${toolCall.title ?? "a tool"} — may this run?`, ...items);
  return (await Promise.race([asked, cancelled]))?.optionId;
}
