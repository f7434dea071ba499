/** The context meter in the status bar. Every figure is the daemon's; here it is only written out. */

import type { Meter, Regions } from "sidecar-protocol";
import { type Disposable, l10n, MarkdownString, StatusBarAlignment, type StatusBarItem, ThemeColor, window } from "vscode";
import type { Daemon } from "../daemon";
import type { Sessions } from "../sessions";
import { ACCURACIES, clock, costs, count, many, REGIONS, servers, short, STATES, TURNS, ZONES } from "../wording";

/** Milliseconds between looks at the clock while the cache is warm. */
const TICK = 5000;
const CONTEXT = "sidecar.showContext";

/** Show the meter of the window's session, for as long as the window lives. */
export function showMeter(daemon: Daemon, sessions: Sessions): Disposable[] {
  const item = window.createStatusBarItem("sidecar.meter", StatusBarAlignment.Right, 100);
  item.name = l10n.t("Sidecar context meter");
  let meter: Meter | undefined;
  let busy = false;
  let problem = "";
  const draw = () => {
    if (meter && daemon.state === "ready") drawMeter(item, meter, busy, problem, sessions.readOnly);
    else drawState(item, daemon, problem);
  };
  const timer = setInterval(() => meter?.cache.warm && draw(), TICK);
  draw();
  item.show();
  return [
    item,
    { dispose: () => clearInterval(timer) },
    daemon.onMeter((newest) => {
      if (newest.sessionId !== sessions.current) return;
      meter = newest;
      draw();
    }),
    daemon.onState(({ message }) => {
      busy = false;
      problem = message;
      draw();
    }),
    daemon.onNotification("daemon/statusChanged", (status) => {
      busy = status.busy;
      problem = status.kind === "error" ? status.message : "";
      draw();
    }),
    sessions.onReady(async (sessionId) => {
      const asked = await daemon.request("context/meter", { sessionId });
      if (asked.sessionId !== sessions.current) return;
      meter = asked;
      draw();
    }),
  ];
}

function drawState(item: StatusBarItem, daemon: Daemon, problem: string): void {
  const words = { starting: l10n.t("starting…"), ready: "…", stopped: l10n.t("stopped"), failed: l10n.t("failed") }[daemon.state];
  const down = daemon.state === "failed" || daemon.state === "stopped";
  item.text = `$(sidecar-meter) ${down ? `Sidecar: ${words}` : words}`;
  item.tooltip = [problem || `Sidecar: ${STATES[daemon.state]}`, ...(down ? [l10n.t("A click tries again.")] : [])].join(" ");
  item.command = down ? "sidecar.restart" : CONTEXT;
  item.color = undefined;
  item.backgroundColor = daemon.state === "failed" ? new ThemeColor("statusBarItem.errorBackground") : undefined;
  item.accessibilityInformation = { label: `Sidecar, ${words}` };
}

function drawMeter(item: StatusBarItem, meter: Meter, busy: boolean, problem: string, readOnly: boolean): void {
  item.command = CONTEXT;
  const about = meter.accuracy === "exact" ? "" : "~";
  const figures = `${about}${Math.round(meter.percent)}% · ${short(meter.used)}/${short(room(meter))}`;
  item.text = `$(sidecar-meter) ${figures}${readOnly ? " $(lock)" : ""}${problem ? " $(warning)" : ""}${busy ? " $(sync~spin)" : ""}`;
  item.color = meter.zone === "yellow" ? new ThemeColor("editorWarning.foreground") : undefined;
  item.backgroundColor = {
    orange: new ThemeColor("statusBarItem.warningBackground"),
    red: new ThemeColor("statusBarItem.errorBackground"),
  }[meter.zone as string];
  item.tooltip = tooltip(meter, problem, readOnly);
  item.accessibilityInformation = {
    label: l10n.t("Sidecar context {0} per cent, {1} of {2} tokens, zone {3}", (about && l10n.t("about ")) + Math.round(meter.percent), meter.used, room(meter), ZONES[meter.zone] ?? meter.zone),
  };
}

function tooltip(meter: Meter, problem: string, readOnly: boolean): MarkdownString {
  const filled = (Object.keys(REGIONS) as (keyof Regions)[]).filter((name) => meter.regions[name] > 0);
  const lines = [
    ...(problem ? [`$(warning) ${plain(problem)}`, ""] : []),
    ...(readOnly ? [`$(lock) ${l10n.t("Another window writes this session.")}`, ""] : []),
    `${l10n.t("{0} of {1} tokens", `**${count(meter.used)}**`, count(room(meter)))} (${ACCURACIES[meter.accuracy] ?? meter.accuracy}), ${l10n.t("{0} free", count(meter.free))}  `,
    l10n.t("{0} in the window, {1} of them kept for the answer", count(meter.window), count(meter.reservedOutput)),
    "",
    `| ${l10n.t("what")} | &nbsp;&nbsp;&nbsp;${l10n.t("tokens")} | &nbsp;&nbsp;&nbsp;${l10n.t("share")} |`,
    "|:--|--:|--:|",
    ...filled.flatMap((name) => [
      `| ${REGIONS[name]} | ${count(meter.regions[name])} | ${share(meter.regions[name], meter.used)} |`,
      ...(name === "tools" ? servers(meter).map(([server, tokens]) => `| &nbsp;&nbsp;${l10n.t("of {0}", plain(server))} | ${count(tokens)} | ${share(tokens, meter.used)} |`) : []),
    ]),
    "",
    `${l10n.t("Cache: {0}", cache(meter))}  `,
    `${l10n.t("Cost: {0}", costs(meter))}  `,
    `${l10n.t("Compaction: {0}", runway(meter))}  `,
    "",
    `_${plain(meter.reason)}_`,
  ];
  const text = new MarkdownString(lines.join("\n"), true);
  text.isTrusted = false;
  return text;
}

/** What the prompt may fill: the rest of the window is kept for the answer. */
function room(meter: Meter): number {
  return meter.window - meter.reservedOutput;
}

function cache({ cache }: Meter): string {
  const left = cache.expiresAt ? Date.parse(cache.expiresAt) - Date.now() : Number.NaN;
  if (!cache.warm || left <= 0) return l10n.t("cold, the next request pays in full");
  const hits = l10n.t("{0}% of the last request came from it", Math.round(cache.hitRate * 100));
  return Number.isNaN(left) ? l10n.t("warm, {0}", hits) : l10n.t("warm for {0}, {1}", clock(left), hits);
}

function runway(meter: Meter): string {
  const turns = meter.turnsUntilCompaction;
  const soon = turns === null ? l10n.t("not in sight") : l10n.t("in about {0}", many(turns, ...TURNS));
  return l10n.t("at {0} tokens, {1}", count(meter.compactAt), soon);
}

function share(part: number, whole: number): string {
  return whole ? `${Math.round((part / whole) * 100)}%` : "";
}

/** Text that is no Markdown. */
function plain(text: string): string {
  return text.replace(/[\\`*_{}[\]()<>#|~$]/g, "\\$&");
}
