/** Asks by a notification whether a call may run. */

import type { PermissionOption, PermissionToolCall, SessionRequestPermissionParams } from "sidecar-protocol";
import { type CancellationToken, l10n, ProgressLocation, window } from "vscode";
import { answerName } from "../wording";
import { demand, plain, warn } from "./notify";
import { says, visible } from "./visible";

const MORE = l10n.t("More…");
/** Characters of a call that a notification shows whole. */
const MOST = 300;
/** Lines of one that a low chat shows whole. */
const MOST_LINES = 5;

/** What a notification says of a call, and whether that is all of it. */
function briefly({ title = l10n.t("a tool"), content = [], rawInput }: PermissionToolCall): { question: string; whole: boolean } {
  const whole = says(title, rawInput ?? {}) && title.length <= MOST && !title.includes("\n") && !content.length;
  return { question: l10n.t("Sidecar: {0} — may this run?", whole ? title : `${title.split("\n")[0]?.slice(0, MOST)} …`), whole };
}

/** Whether the chat has room for all that a call is given. */
export function isShort({ rawInput }: PermissionToolCall): boolean {
  const text = Object.values(rawInput ?? {}).map((value) => (typeof value === "string" ? value : JSON.stringify(value))).join("\n");
  return text.length <= MOST && text.split("\n").length <= MOST_LINES;
}

/** Whether a notification shows all of a call. */
export const isWhole = (toolCall: PermissionToolCall) => briefly(toolCall).whole;

/** Ask for a session that no view shows: give the id of the chosen option; a turn that is cancelled meanwhile ends the question. */
export async function askPermission({ toolCall, options }: SessionRequestPermissionParams, token: CancellationToken): Promise<string | undefined> {
  const cancelled = new Promise<undefined>((done) => token.onCancellationRequested(() => done(undefined)));
  return Promise.race([choose(toolCall, options), cancelled]);
}

async function choose(toolCall: PermissionToolCall, options: PermissionOption[]): Promise<string | undefined> {
  const { question, whole } = briefly(toolCall);
  // A notification has room for few buttons: what holds for once stands there, the rest behind the last.
  const short = options.filter(({ kind }) => kind.endsWith("_once"));
  const buttons = [...short.map(({ name }) => answerName(name)), ...(short.length < options.length ? [MORE] : [])];
  const detail = `${toolCall.title ?? l10n.t("a tool")}\n\n${JSON.stringify(toolCall.rawInput ?? {}, null, 2)}`;
  const chosen = await (whole ? warn(question, ...buttons) : demand(l10n.t("Sidecar: may this run?"), detail, ...buttons));
  if (chosen !== MORE) return short.find(({ name }) => answerName(name) === chosen)?.optionId;
  const lines = options.map(({ name, optionId }) => ({ label: visible(answerName(name)), optionId }));
  return (await window.showQuickPick(lines, { title: visible(question), ignoreFocusOut: true }))?.optionId;
}

/** On the only button of a notification; the editor takes its words, though the interface says `true` alone. */
const SHOW = l10n.t("Show…") as unknown as true;

/**
 * Show a question and its answers until the result is called; `show` is called by the button. What is `seen` elsewhere stands whole there.
 *
 * One with several buttons could not be taken away again. A progress can; its answers are links to commands.
 */
export function notice(toolCall: PermissionToolCall, options: PermissionOption[], seen: boolean, link: (optionId: string) => string, show: () => void): () => void {
  const { question, whole } = briefly(toolCall);
  // What it cannot show whole is not allowed there.
  const offered = whole || seen ? options : options.filter(({ kind }) => kind === "reject_once");
  // An open bracket would make the words behind it, and so a model's, part of the first link.
  const safe = plain(question).replace(/\[(?=[^\]]*$)/g, "［");
  const links = offered.map(({ name, optionId }) => `[${plain(answerName(name)).replace(/[[\]]/g, "")}](${link(optionId)})`).join(" · ");
  let close = () => {};
  const gone = new Promise<void>((done) => (close = done));
  void window.withProgress({ location: ProgressLocation.Notification, title: `${safe} ${links}`, cancellable: SHOW }, (_, token) => {
    token.onCancellationRequested(show);
    return gone;
  });
  return close;
}
