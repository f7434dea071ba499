/** Numbers, names and lists as people read them. The views' pages read them so too. */

import type { Meter, Regions } from "sidecar-protocol";

/** The regions of the context, as the meter and the breakdown name them, in the order of the prompt. */
export const REGIONS: Record<keyof Regions, string> = {
  system: "system prompt",
  tools: "tools",
  instructions: "instructions",
  learned: "learned",
  summary: "summary",
  ledger: "ledger",
  user: "your messages",
  assistant: "answers",
  reasoning: "thinking",
  toolResults: "tool results",
  context: "editor context",
};

/** The MCP servers whose tools are in the context, the largest first. */
export function servers({ toolsByServer }: Meter): [string, number][] {
  return Object.entries(toolsByServer).sort(([, one], [, other]) => other - one);
}

/** 84012 as `84,012`. */
export function count(tokens: number): string {
  return tokens.toLocaleString("en-US");
}

/** 84012 as `84k`, 1234 as `1.2k`. */
export function short(tokens: number): string {
  if (tokens < 1000) return String(tokens);
  return tokens < 9950 ? `${(tokens / 1000).toFixed(1)}k` : `${Math.round(tokens / 1000)}k`;
}

/** A price to the cent, as `$1.23`, or of less than one, as `0.3 ¢`; null is unknown. */
export function money(usd: string | null): string {
  if (usd === null) return "unknown";
  const dollars = Number(usd);
  if (!dollars || dollars >= 0.00995) return `$${dollars.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
  return dollars < 0.0005 ? "<0.1 ¢" : `${(dollars * 100).toFixed(1)} ¢`;
}

/** The time of today, the day of others. */
export function when(iso: string): string {
  const at = new Date(iso);
  const today = at.toDateString() === new Date().toDateString();
  return today ? at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }) : at.toLocaleDateString();
}

/** `1 turn`, `2 turns`. */
export function many(number: number, one: string): string {
  return `${count(number)} ${one}${number === 1 ? "" : "s"}`;
}

/** A title as it is read: what is typed as code stands without its marks. */
export function plainTitle(title: string): string {
  return title.replace(/(`+)(.+?)\1/g, "$2");
}

/** The values by key, in the order in which keys first came. */
export function grouped<T>(values: readonly T[], key: (value: T) => string): [string, T[]][] {
  const groups = new Map<string, T[]>();
  for (const value of values) groups.set(key(value), [...(groups.get(key(value)) ?? []), value]);
  return [...groups];
}

/** Milliseconds that are left, as `40 s` or `4 min`. */
export function clock(left: number): string {
  const seconds = Math.ceil(left / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}
