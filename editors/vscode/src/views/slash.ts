/** The chat's own commands, typed with a slash: none of them is for the model, however it is spelt. */

import type { Command } from "./messages";

export interface Slash {
  name: string;
  does: string;
  command: Command;
  /** What may stand after it. */
  takes?: string;
}

export const SLASHES: readonly Slash[] = [
  { name: "compact", does: "Make room in the context", command: "compact", takes: "what to keep" },
  { name: "context", does: "Show what fills the context", command: "showContext" },
  { name: "export", does: "Write the session to a file", command: "export" },
  { name: "fork", does: "Go on in a copy of this session", command: "fork" },
  { name: "handoff", does: "Go on in a fresh session that knows where the work stands", command: "handoff", takes: "the goal" },
  { name: "model", does: "Switch the model", command: "switchModel" },
  { name: "new", does: "Begin a new session", command: "newSession" },
  { name: "pin", does: "Keep a part through compactions", command: "pin" },
  { name: "policy", does: "Switch the compaction policy", command: "switchPolicy" },
  { name: "redo", does: "Take back the last going back", command: "redo" },
  { name: "rollback", does: "Go back to before a turn, in files, conversation or both", command: "rollBack" },
  { name: "sessions", does: "Open another session", command: "openSession" },
  { name: "undo", does: "Take back the newest compaction", command: "undoCompaction" },
];

/** A text that is a command, or begins like one: `wrong` says why it cannot be run, `meant` what may have been meant. */
export type Typed = { slash: Slash; argument: string } | { wrong: string; meant?: string };

/** Read what was typed; undefined for any other text, as a path is. */
export function typed(text: string): Typed | undefined {
  const [, name, argument = ""] = /^\/([\w-]*)(?:\s+([^]*))?$/.exec(text.trim()) ?? [];
  if (name === undefined) return undefined;
  const slash = SLASHES.find((one) => one.name === name.toLowerCase());
  if (slash && (slash.takes || !argument)) return { slash, argument };
  if (slash) return { wrong: `/${slash.name} takes no words after it.`, meant: `/${slash.name}` };
  const near = nearest(name.toLowerCase());
  return { wrong: `There is no command /${name}.`, ...(near && { meant: `/${near}${argument && ` ${argument}`}` }) };
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
