/** The chat's own commands, typed with a slash: none of them is for the model, however it is spelt. */

import { l10n } from "vscode";
import type { Command } from "./messages";

export interface Slash {
  name: string;
  does: string;
  command: Command;
  /** What may stand after it. */
  takes?: string;
}

export const SLASHES: readonly Slash[] = [
  { name: "compact", does: l10n.t("Make room in the context"), command: "compact", takes: l10n.t("what to keep") },
  { name: "context", does: l10n.t("Show what fills the context"), command: "showContext" },
  { name: "export", does: l10n.t("Write the session to a file"), command: "export" },
  { name: "fork", does: l10n.t("Go on in a copy of this session"), command: "fork" },
  { name: "handoff", does: l10n.t("Go on in a fresh session that knows where the work stands"), command: "handoff", takes: l10n.t("the goal") },
  { name: "model", does: l10n.t("Switch the model"), command: "switchModel" },
  { name: "new", does: l10n.t("Begin a new session"), command: "newSession" },
  { name: "pin", does: l10n.t("Keep a part through compactions"), command: "pin" },
  { name: "policy", does: l10n.t("Switch the compaction policy"), command: "switchPolicy" },
  { name: "redo", does: l10n.t("Take back the last going back"), command: "redo" },
  { name: "rollback", does: l10n.t("Go back to before a turn, in files, conversation or both"), command: "rollBack" },
  { name: "sessions", does: l10n.t("Open another session"), command: "openSession" },
  { name: "undo", does: l10n.t("Take back the newest compaction"), command: "undoCompaction" },
];

/** A text that is a command, or begins like one: `wrong` says why it cannot be run, `meant` what may have been meant. */
export type Typed = { slash: Slash; argument: string } | { wrong: string; meant?: string };

/** Read what was typed; undefined for any other text, as a path is. */
export function typed(text: string): Typed | undefined {
  const [, name, argument = ""] = /^\/([\w-]*)(?:\s+([^]*))?$/.exec(text.trim()) ?? [];
  if (name === undefined) return undefined;
  const slash = SLASHES.find((one) => one.name === name.toLowerCase());
  if (slash && (slash.takes || !argument)) return { slash, argument };
  if (slash) return { wrong: l10n.t("/{0} takes no words after it.", slash.name), meant: `/${slash.name}` };
  const near = nearest(name.toLowerCase());
  return { wrong: l10n.t("There is no command /{0}.", name), ...(near && { meant: `/${near}${argument && ` ${argument}`}` }) };
}

/** A file as it is mentioned in a message, or some of its lines. */
export function mention(path: string, lines?: [number, number]): string {
  const whole = !lines ? path : lines[0] === lines[1] ? `${path}#L${lines[0]}` : `${path}#L${lines[0]}-L${lines[1]}`;
  return /\s/.test(path) ? `@"${whole}" ` : `@${whole} `;
}

function nearest(name: string): string | undefined {
  const begun = SLASHES.find((one) => name && one.name.startsWith(name));
  const near = SLASHES.map((one) => [distance(name, one.name), one.name] as const).sort(([one], [other]) => one - other);
  return begun?.name ?? near.find(([far]) => far < Math.min(3, name.length))?.[1];
}

/** Letters to add, take out or change. */
function distance(from: string, to: string): number {
  let row = [...Array(to.length + 1).keys()];
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1];
    for (const [place, other] of [...to].entries()) {
      next.push(Math.min((next[place] ?? 0) + 1, (row[place + 1] ?? 0) + 1, (row[place] ?? 0) + (letter === other ? 0 : 1)));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
