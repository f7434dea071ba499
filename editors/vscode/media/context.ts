/** The context's page: what fills the window, turn by turn, and what left it and can be read again. */

import type { ContextBreakdownResult, Meter } from "sidecar-protocol";
import { l10n } from "vscode";
import type { FromContext, ToContext, Wish } from "../src/views/messages";
import { ACCURACIES, clock, costs, count, many, REGIONS, servers, TURNS } from "../src/wording";
import { Plan } from "./contextPlan";
import { bar, names, summary } from "./bar";
import { button, el, fill, say } from "./dom";
import { host } from "./host";
import { icon } from "./icons";
import { Segments } from "./segments";

/** Milliseconds between looks at the clock while the cache is warm. */
const TICK = 5000;

interface State {
  leftOut: boolean;
  open: string[];
  /** Of the plan that is looked at. */
  wish?: Wish | undefined;
}

const { send, kept, keep } = host<FromContext, State>();
let state = kept() ?? { leftOut: false, open: [] };
const remember = (changed: Partial<State>) => keep((state = { ...state, ...changed }));
const head = el("header.head");
const facts = el("dl.facts");
const chart = el("div.chart");
const legend = el("ul.legend", { "aria-label": l10n.t("What fills the context") });
const segments = new Segments(send, state, remember);
const plan = new Plan(send, (wish) => {
  segments.element.hidden = wish !== undefined;
  document.body.classList.toggle("planning", wish !== undefined);
  remember({ wish });
});
const none = el("p.none", {}, l10n.t("No session is open yet."));
const all = el("div.all", { hidden: true }, el("div.figures", {}, head, chart, legend, facts), el("div.pieces", {}, plan.element, segments.element));
let meter: Meter | undefined;

document.body.classList.add("context");
document.body.append(el("main", {}, el("h1.spoken", {}, l10n.t("Sidecar context")), none, all));
addEventListener("message", ({ data }: MessageEvent<ToContext>) => take(data));
setInterval(() => meter?.cache.warm && drawFacts(meter), TICK);
send({ type: "shown" });
if (state.wish) plan.start(state.wish);

function take(message: ToContext): void {
  switch (message.type) {
    case "context":
      all.hidden = false;
      none.hidden = true;
      draw(message.breakdown);
      plan.take(message.breakdown);
      return segments.take(message.breakdown.segments, message.checkpoints);
    case "none":
      all.hidden = true;
      none.hidden = false;
      none.textContent = message.message;
      return;
    case "recalled":
      return each(({ texts }) => texts.recalled(message.partId, message.piece));
    case "lost":
      return each(({ texts }) => texts.lost(message.partId, message.message));
    case "preview":
      return plan.start({ instructions: message.instructions, keep: [] });
    case "planned":
      return plan.planned(message.number, message.plan);
    case "unplanned":
      return plan.failed(message.number, message.message);
    case "compacted":
      return plan.close();
  }
}

function each(show: (list: Plan | Segments) => void): void {
  for (const list of [plan, segments]) show(list);
}

function draw({ meter: newest }: ContextBreakdownResult): void {
  if (meter && newest.used < meter.used) say(l10n.t("The context fell from {0} to {1} tokens.", count(meter.used), count(newest.used)));
  meter = newest;
  const room = newest.window - newest.reservedOutput;
  const about = newest.accuracy === "exact" ? "" : "~";
  fill(
    head,
    el("span.percent", { "data-zone": newest.zone }, `${about}${Math.round(newest.percent)}%`),
    el("span.sizes", { title: newest.reason }, el("span", {}, l10n.t("{0} of {1} tokens", count(newest.used), count(room))), el("span.faint", {}, `${ACCURACIES[newest.accuracy] ?? newest.accuracy}, ${l10n.t("{0} free", count(newest.free))}`)),
    button(l10n.t("Compact…"), () => plan.start(), undefined, "secondary"),
  );
  chart.replaceChildren(bar(newest, room), el("p.spoken", {}, summary(newest, room)));
  const served = servers(newest).map(([server, tokens]) => el("li.within", {}, el("span.name", {}, l10n.t("of {0}", server)), el("span.tokens", {}, count(tokens)), el("span.share")));
  const lines = names(newest).flatMap((name) => {
    const tokens = newest.regions[name];
    const share = newest.used ? `${Math.round((tokens / newest.used) * 100)}%` : "";
    const over = newest.overSoftLimit.includes(name) && el("span.over", { title: l10n.t("takes most of its room") }, icon("warning"));
    const line = el("li", {}, el(`span.swatch.region-${name}`, { "aria-hidden": "true" }), el("span.name", {}, REGIONS[name], over), el("span.tokens", {}, count(tokens)), el("span.share", {}, share));
    return name === "tools" ? [line, ...served] : [line];
  });
  legend.replaceChildren(...lines);
  drawFacts(newest);
}

function drawFacts(meter: Meter): void {
  const { cache, compactAt, turnsUntilCompaction, velocity } = meter;
  const left = cache.expiresAt ? Date.parse(cache.expiresAt) - Date.now() : Number.NaN;
  const warm = cache.warm && !(left <= 0);
  const hits = l10n.t("{0}% of the last request", Math.round(cache.hitRate * 100));
  const held = warm ? (Number.isNaN(left) ? l10n.t("warm, {0}", hits) : l10n.t("warm for {0}, {1}", clock(left), hits)) : l10n.t("cold, the next request pays in full");
  const soon = turnsUntilCompaction === null ? l10n.t("not in sight") : turnsUntilCompaction === 0 ? l10n.t("due now") : l10n.t("in about {0}", many(turnsUntilCompaction, ...TURNS));
  const rows: [string, string][] = [
    [l10n.t("Cache"), held],
    [l10n.t("Compaction"), l10n.t("at {0} tokens, {1}", count(compactAt), soon)],
    [l10n.t("Growth"), l10n.t("{0} tokens a turn", count(velocity))],
    [l10n.t("Cost"), costs(meter)],
    ...(cache.lastBreak ? [[l10n.t("Last cache miss"), `${cache.lastBreak.segment}: ${cache.lastBreak.reason}`] as [string, string]] : []),
  ];
  facts.replaceChildren(...rows.map(([name, text]) => el("div", {}, el("dt", {}, name), el("dd", {}, text))));
}
