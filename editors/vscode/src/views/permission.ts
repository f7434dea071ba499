/** Asks by a notification whether a call may run. */

import type { PermissionToolCall } from "sidecar-protocol";
import { l10n, ProgressLocation, window } from "vscode";
import { answerName } from "../wording";
import type { Question } from "./messages";
import { plain } from "./notify";
import { says, visible } from "./visible";

/** Characters of a call that a notification shows whole. */
const MOST = 300;
/** Lines of one that a low chat shows whole, names and values each on their own. */
const MOST_LINES = 6;

/** What a notification says of a call, and whether that is all of it. */
function briefly({ title: given = l10n.t("a tool"), content = [], rawInput }: PermissionToolCall): { question: string; whole: boolean } {
  const title = visible(given);
  const whole = says(given, rawInput ?? {}) && title.length <= MOST && !title.includes("\n") && !content.length;
  return { question: l10n.t("Sidecar: {0} — may this run?", whole ? title : `${title.split("\n")[0]?.slice(0, MOST)} …`), whole };
}

/** Whether the chat has room for all that a call is given. */
export function isShort({ rawInput }: PermissionToolCall): boolean {
  const given = Object.entries(rawInput ?? {}).flat().map((one) => (typeof one === "string" ? one : JSON.stringify(one)));
  const text = visible(given.join("\n"));
  return text.length <= MOST && text.split("\n").length <= MOST_LINES;
}

/** Whether a notification shows all of a call. */
export const isWhole = (toolCall: PermissionToolCall) => briefly(toolCall).whole;

/** On the only button of a notification; the editor takes its words, though the interface says `true` alone. */
const SHOW = l10n.t("Show…") as unknown as true;

/**
 * Show a question and its answers until the result is called; `show` is called by the button. What is `seen` elsewhere stands whole there.
 *
 * One with several buttons could not be taken away again. A progress can; its answers are links to commands.
 */
export function notice({ toolCall, options, session }: Question, seen: boolean, link: (optionId: string) => string, show: () => void): () => void {
  const { question, whole } = briefly(toolCall);
  // What it cannot show whole is not allowed there.
  const offered = whole || seen ? options : options.filter(({ kind }) => kind === "reject_once");
  // An open bracket would make the words behind it, and so a model's, part of the first link.
  const safe = plain(session ? `${question} (${session})` : question).replace(/\[(?=[^\]]*$)/g, "［");
  const links = offered.map(({ name, optionId }) => `[${plain(answerName(name)).replace(/[[\]]/g, "")}](${link(optionId)})`).join(" · ");
  let close = () => {};
  const gone = new Promise<void>((done) => (close = done));
  void window.withProgress({ location: ProgressLocation.Notification, title: `${safe} ${links}`, cancellable: SHOW }, (_, token) => {
    token.onCancellationRequested(show);
    return gone;
  });
  return close;
}
