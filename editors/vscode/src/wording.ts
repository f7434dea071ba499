/** Numbers, names and lists as people read them. The views' pages read them so too. */

import type { Meter, Regions } from "sidecar-protocol";
import { env, l10n } from "vscode";

/** The editor's language, as the system's country writes it where that speaks it. */
const system = new Intl.NumberFormat().resolvedOptions().locale;
export const LOCALE = system.startsWith(`${env.language}-`) ? system : env.language;
// Where there are no texts in it, they are English.
const RULES = new Intl.PluralRules(l10n.bundle ? LOCALE : "en");

/** Both forms of what is counted. */
export const TURNS = [l10n.t("{0} turn"), l10n.t("{0} turns")] as const;
export const REQUESTS = [l10n.t("{0} request"), l10n.t("{0} requests")] as const;
export const PARTS = [l10n.t("{0} part"), l10n.t("{0} parts")] as const;

/** The daemon's words for how full the context is, how exactly that is known, and how it is itself. */
export const ZONES: Record<string, string> = { green: l10n.t("green"), yellow: l10n.t("yellow"), orange: l10n.t("orange"), red: l10n.t("red") };
export const ACCURACIES: Record<string, string> = { exact: l10n.t("exact"), estimated: l10n.t("estimated") };
export const STATES: Record<string, string> = { starting: l10n.t("The daemon is starting."), ready: l10n.t("The daemon is ready."), stopped: l10n.t("The daemon is stopped."), failed: l10n.t("The daemon has failed.") };

/** The regions of the context, as the meter and the breakdown name them, in the order of the prompt. */
export const REGIONS: Record<keyof Regions, string> = {
  system: l10n.t("system prompt"),
  tools: l10n.t("tools"),
  instructions: l10n.t("instructions"),
  learned: l10n.t("learned"),
  summary: l10n.t("summary"),
  ledger: l10n.t("notes of compactions"),
  user: l10n.t("your messages"),
  assistant: l10n.t("answers"),
  reasoning: l10n.t("thinking"),
  toolResults: l10n.t("tool results"),
  context: l10n.t("editor context"),
};

/** The MCP servers whose tools are in the context, the largest first. */
export function servers({ toolsByServer }: Meter): [string, number][] {
  return Object.entries(toolsByServer).sort(([, one], [, other]) => other - one);
}

/** 84012 as `84,012`. */
export const count = (tokens: number) => tokens.toLocaleString(LOCALE);

/** 84012 as `84k`, 1234 as `1.2k`. */
export const short = (tokens: number) => (tokens < 1000 ? String(tokens) : `${digits(tokens / 1000, tokens < 9950 ? 1 : 0)}k`);

/** A price to the cent, as `$1.23`, or of less than one, as `0.3 ¢`; null is unknown. */
export function money(usd: string | null): string {
  if (usd === null) return l10n.t("unknown");
  const dollars = Number(usd);
  if (!dollars || dollars >= 0.00995) return dollars.toLocaleString(LOCALE, { style: "currency", currency: "USD", currencyDisplay: "narrowSymbol" });
  return dollars < 0.0005 ? `<${digits(0.1)} ¢` : `${digits(dollars * 100)} ¢`;
}

const digits = (number: number, behind = 1) => number.toLocaleString(LOCALE, { minimumFractionDigits: behind, maximumFractionDigits: behind });

/** What the session cost, and what comes next. */
export function costs({ cost }: Meter): string {
  const compacting = cost.compactNow === null ? "" : l10n.t(", compacting now {0}", money(cost.compactNow));
  return l10n.t("{0} so far, next request {1}", money(cost.session), money(cost.nextRequest)) + compacting;
}

/** The time of today, the day of others. */
export function when(iso: string): string {
  const at = new Date(iso);
  const today = at.toDateString() === new Date().toDateString();
  return today ? at.toLocaleTimeString(LOCALE, { hour: "2-digit", minute: "2-digit" }) : at.toLocaleDateString(LOCALE);
}

/** `1 turn`, `2 turns`: of two texts with a place for the number, the one that the language takes. */
export function many(number: number, one: string, other: string): string {
  return (RULES.select(number) === "one" ? one : other).replace("{0}", count(number));
}

/** A title as it is read: what is typed as code stands without its marks. */
export function plainTitle(title: string): string {
  return title.replace(/(`+)(.+?)\1/g, "$2");
}

/** The daemon's answers to its questions; one that names a rule or a folder reads as the daemon has it. */
const ANSWERS = new Map([
  ["Allow once", l10n.t("Allow once")],
  ["Reject", l10n.t("Reject")],
  ["Always allow this tool", l10n.t("Always allow this tool")],
  ["Always allow this path", l10n.t("Always allow this path")],
  ["Always allow exactly this", l10n.t("Always allow exactly this")],
  ["Always reject this tool", l10n.t("Always reject this tool")],
  ["Always reject this path", l10n.t("Always reject this path")],
  ["Always reject exactly this", l10n.t("Always reject exactly this")],
  ["Do not trust it", l10n.t("Do not trust it")],
  ["Trust it for now", l10n.t("Trust it for now")],
  ["Trust this folder", l10n.t("Trust this folder")],
  ["Let it continue", l10n.t("Let it continue")],
  ["Stop this turn", l10n.t("Stop this turn")],
  ["Do not ask again in this session", l10n.t("Do not ask again in this session")],
]);

export function answerName(name: string): string {
  return ANSWERS.get(name) ?? name;
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
  return seconds < 60 ? l10n.t("{0} s", seconds) : l10n.t("{0} min", Math.round(seconds / 60));
}
