/** Asks by a notification whether a call may run. */

import type { PermissionOption, PermissionToolCall, SessionRequestPermissionParams } from "sidecar-protocol";
import { type CancellationToken, window } from "vscode";

const MORE = "More…";

/** Ask for a session that no view shows: give the id of the chosen option; a turn that is cancelled meanwhile ends the question. */
export async function askPermission({ toolCall, options }: SessionRequestPermissionParams, token: CancellationToken): Promise<string | undefined> {
  const cancelled = new Promise<undefined>((done) => token.onCancellationRequested(() => done(undefined)));
  return Promise.race([choose(toolCall, options), cancelled]);
}

/** Give the id of the chosen option, or the name of the other `button`. */
export async function choose(toolCall: PermissionToolCall, options: PermissionOption[], button?: string): Promise<string | undefined> {
  const question = `Sidecar: ${toolCall.title ?? "a tool"} — may this run?`;
  // A notification has room for few buttons: what holds for once stands there, the rest behind the last.
  const short = options.filter(({ kind }) => kind.endsWith("_once"));
  const more = short.length < options.length ? [MORE] : [];
  const chosen = await window.showWarningMessage(question, ...(button ? [button] : []), ...short.map(({ name }) => name), ...more);
  if (chosen === undefined || chosen === button) return chosen;
  if (chosen !== MORE) return short.find(({ name }) => name === chosen)?.optionId;
  const lines = options.map(({ name, optionId }) => ({ label: name, optionId }));
  return (await window.showQuickPick(lines, { title: question, ignoreFocusOut: true }))?.optionId;
}
