/** Asks by a notification whether a call may run. */

import type { PermissionOption, PermissionToolCall, SessionRequestPermissionParams } from "sidecar-protocol";
import { type CancellationToken, window } from "vscode";
import { demand, warn } from "./notify";
import { says, visible } from "./visible";

const MORE = "More…";
/** Characters of a call that a notification shows whole. */
const MOST = 300;

/** Ask for a session that no view shows: give the id of the chosen option; a turn that is cancelled meanwhile ends the question. */
export async function askPermission({ toolCall, options }: SessionRequestPermissionParams, token: CancellationToken): Promise<string | undefined> {
  const cancelled = new Promise<undefined>((done) => token.onCancellationRequested(() => done(undefined)));
  return Promise.race([choose(toolCall, options), cancelled]);
}

/** Give the id of the chosen option, or the name of the other `button`, which leads to where all is shown. */
export async function choose(toolCall: PermissionToolCall, options: PermissionOption[], button?: string): Promise<string | undefined> {
  const { title = "a tool", content = [], rawInput } = toolCall;
  const whole = says(title, rawInput ?? {}) && title.length <= MOST && !title.includes("\n") && !content.length;
  const question = `Sidecar: ${whole ? title : `${title.split("\n")[0]?.slice(0, MOST)} …`} — may this run?`;
  // A notification has room for few buttons: what holds for once stands there, the rest behind the last.
  const once = options.filter(({ kind }) => kind.endsWith("_once"));
  // What it cannot show whole is not allowed there.
  const short = whole || !button ? once : once.filter(({ kind }) => kind === "reject_once");
  const more = whole || !button ? options.filter((one) => !short.includes(one)).map(() => MORE).slice(0, 1) : [];
  const buttons = [...(button ? [button] : []), ...short.map(({ name }) => name), ...more];
  const detail = `${title}\n\n${JSON.stringify(rawInput ?? {}, null, 2)}`;
  const chosen = await (whole || button ? warn(question, ...buttons) : demand("Sidecar: may this run?", detail, ...buttons));
  if (chosen === undefined || chosen === button) return chosen;
  if (chosen !== MORE) return short.find(({ name }) => name === chosen)?.optionId;
  const lines = options.map(({ name, optionId }) => ({ label: visible(name), optionId }));
  return (await window.showQuickPick(lines, { title: visible(question), ignoreFocusOut: true }))?.optionId;
}
