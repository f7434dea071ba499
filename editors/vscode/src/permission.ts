/** Asks by a notification whether a call may run, for when no view asks. */

import type { PermissionOption, SessionRequestPermissionParams } from "sidecar-protocol";
import { type CancellationToken, window } from "vscode";

const MORE = "More…";

/** Give the id of the chosen option; a turn that is cancelled meanwhile ends the question. */
export async function askPermission({ toolCall, options }: SessionRequestPermissionParams, token: CancellationToken): Promise<string | undefined> {
  const cancelled = new Promise<undefined>((done) => token.onCancellationRequested(() => done(undefined)));
  return Promise.race([ask(`Sidecar: ${toolCall.title ?? "a tool"} — may this run?`, options, token), cancelled]);
}

async function ask(question: string, options: PermissionOption[], token: CancellationToken): Promise<string | undefined> {
  // A notification has room for few buttons: what holds for once stands there, the rest behind the last.
  const short = options.filter(({ kind }) => kind.endsWith("_once"));
  const named = new Map(short.map(({ name, optionId }) => [name, optionId]));
  const chosen = await window.showWarningMessage(question, ...named.keys(), ...(short.length < options.length ? [MORE] : []));
  if (chosen !== MORE) return named.get(chosen ?? "");
  const lines = options.map(({ name, optionId }) => ({ label: name, optionId }));
  return (await window.showQuickPick(lines, { title: question, ignoreFocusOut: true }, token))?.optionId;
}
