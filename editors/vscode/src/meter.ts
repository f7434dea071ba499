/** The context meter in the status bar. Every figure is the daemon's; here it is only written out. */

import type { Meter, Regions } from "sidecar-protocol";
import { type Disposable, MarkdownString, StatusBarAlignment, type StatusBarItem, ThemeColor, window } from "vscode";
import type { Daemon } from "./daemon";
import type { Sessions } from "./sessions";
import { clock, count, many, money, REGIONS, servers, short } from "./wording";

/** Milliseconds between looks at the clock while the cache is warm. */
const TICK = 5000;

/** Show the meter of the window's session, for as long as the window lives. */
export function showMeter(daemon: Daemon, sessions: Sessions): Disposable[] {
  const item = window.createStatusBarItem("sidecar.meter", StatusBarAlignment.Right, 100);
  item.name = "Sidecar context meter";
  item.command = "sidecar.showContext";
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
  const words = { starting: "starting…", ready: "…", stopped: "stopped", failed: "failed" }[daemon.state];
  item.text = `$(sidecar-meter) ${words}`;
  item.tooltip = problem || `Sidecar: the daemon is ${daemon.state}.`;
  item.color = undefined;
  item.backgroundColor = daemon.state === "failed" ? new ThemeColor("statusBarItem.errorBackground") : undefined;
  item.accessibilityInformation = { label: `Sidecar, ${words}` };
}

function drawMeter(item: StatusBarItem, meter: Meter, busy: boolean, problem: string, readOnly: boolean): void {
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
    label: `Sidecar context ${about && "about "}${Math.round(meter.percent)} per cent, ${meter.used} of ${room(meter)} tokens, zone ${meter.zone}`,
  };
}

function tooltip(meter: Meter, problem: string, readOnly: boolean): MarkdownString {
  const filled = (Object.keys(REGIONS) as (keyof Regions)[]).filter((name) => meter.regions[name] > 0);
  const lines = [
    ...(problem ? [`$(warning) ${plain(problem)}`, ""] : []),
    ...(readOnly ? ["$(lock) Another window writes this session.", ""] : []),
    `**${count(meter.used)}** of ${count(room(meter))} tokens (${meter.accuracy}), ${count(meter.free)} free  `,
    `${count(meter.window)} in the window, ${count(meter.reservedOutput)} of them kept for the answer`,
    "",
    "| what | &nbsp;&nbsp;&nbsp;tokens | &nbsp;&nbsp;&nbsp;share |",
    "|:--|--:|--:|",
    ...filled.flatMap((name) => [
      `| ${REGIONS[name]} | ${count(meter.regions[name])} | ${share(meter.regions[name], meter.used)} |`,
      ...(name === "tools" ? servers(meter).map(([server, tokens]) => `| &nbsp;&nbsp;of ${plain(server)} | ${count(tokens)} | ${share(tokens, meter.used)} |`) : []),
    ]),
    "",
    `Cache: ${cache(meter)}  `,
    `Cost: ${money(meter.cost.session)} so far, next request ${money(meter.cost.nextRequest)}${meter.cost.compactNow === null ? "" : `, compacting now ${money(meter.cost.compactNow)}`}  `,
    `Compaction: ${runway(meter)}  `,
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
  if (!cache.warm || left <= 0) return "cold, the next request pays in full";
  const hits = `${Math.round(cache.hitRate * 100)}% of the last request came from it`;
  return Number.isNaN(left) ? `warm, ${hits}` : `warm for ${clock(left)}, ${hits}`;
}

function runway(meter: Meter): string {
  const at = `at ${count(meter.compactAt)} tokens`;
  const turns = meter.turnsUntilCompaction;
  if (turns === null) return `${at}, not in sight`;
  return `${at}, in about ${many(turns, "turn")}`;
}

function share(part: number, whole: number): string {
  return whole ? `${Math.round((part / whole) * 100)}%` : "";
}

/** Text that is no Markdown. */
function plain(text: string): string {
  return text.replace(/[\\`*_{}[\]()<>#|~$]/g, "\\$&");
}
