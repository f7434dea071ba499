/** The context's page: what fills the window, turn by turn, and what left it and can be read again. */

import type { ContextBreakdownResult, Meter } from "sidecar-protocol";
import type { FromContext, ToContext, Wish } from "../src/views/messages";
import { clock, count, many, money, REGIONS, servers } from "../src/wording";
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
const legend = el("ul.legend", { "aria-label": "What fills the context" });
const segments = new Segments(send, state, remember);
const plan = new Plan(send, (wish) => {
  segments.element.hidden = wish !== undefined;
  document.body.classList.toggle("planning", wish !== undefined);
  remember({ wish });
});
const none = el("p.none", {}, "No session is open yet.");
const all = el("div.all", { hidden: true }, el("div.figures", {}, head, chart, legend, facts), el("div.pieces", {}, plan.element, segments.element));
let meter: Meter | undefined;

document.body.classList.add("context");
document.body.append(el("main", {}, el("h1.spoken", {}, "Sidecar context"), none, all));
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
  if (meter && newest.used < meter.used) say(`The context fell from ${count(meter.used)} to ${count(newest.used)} tokens.`);
  meter = newest;
  const room = newest.window - newest.reservedOutput;
  const about = newest.accuracy === "exact" ? "" : "~";
  fill(
    head,
    el("span.percent", { "data-zone": newest.zone }, `${about}${Math.round(newest.percent)}%`),
    el("span.sizes", { title: newest.reason }, el("span", {}, `${count(newest.used)} of ${count(room)} tokens`), el("span.faint", {}, `${newest.accuracy}, ${count(newest.free)} free`)),
    button("Compact…", () => plan.start(), undefined, "secondary"),
  );
  chart.replaceChildren(bar(newest, room), el("p.spoken", {}, summary(newest, room)));
  const served = servers(newest).map(([server, tokens]) => el("li.within", {}, el("span.name", {}, `of ${server}`), el("span.tokens", {}, count(tokens)), el("span.share")));
  const lines = names(newest).flatMap((name) => {
    const tokens = newest.regions[name];
    const share = newest.used ? `${Math.round((tokens / newest.used) * 100)}%` : "";
    const over = newest.overSoftLimit.includes(name) && el("span.over", { title: "takes most of its room" }, icon("warning"));
    const line = el("li", {}, el(`span.swatch.region-${name}`, { "aria-hidden": "true" }), el("span.name", {}, REGIONS[name], over), el("span.tokens", {}, count(tokens)), el("span.share", {}, share));
    return name === "tools" ? [line, ...served] : [line];
  });
  legend.replaceChildren(...lines);
  drawFacts(newest);
}

function drawFacts({ cache, cost, compactAt, turnsUntilCompaction, velocity }: Meter): void {
  const left = cache.expiresAt ? Date.parse(cache.expiresAt) - Date.now() : Number.NaN;
  const warm = cache.warm && !(left <= 0);
  const hits = `${Math.round(cache.hitRate * 100)}% of the last request`;
  const held = warm ? `warm${Number.isNaN(left) ? "" : ` for ${clock(left)}`}, ${hits}` : "cold, the next request pays in full";
  const soon = turnsUntilCompaction === null ? "not in sight" : turnsUntilCompaction === 0 ? "due now" : `in about ${many(turnsUntilCompaction, "turn")}`;
  const rows: [string, string][] = [
    ["Cache", held],
    ["Compaction", `at ${count(compactAt)} tokens, ${soon}`],
    ["Growth", `${count(velocity)} tokens a turn`],
    ["Cost", `${money(cost.session)} so far, next request ${money(cost.nextRequest)}${cost.compactNow === null ? "" : `, compacting now ${money(cost.compactNow)}`}`],
    ...(cache.lastBreak ? [["Last cache miss", `${cache.lastBreak.segment}: ${cache.lastBreak.reason}`] as [string, string]] : []),
  ];
  facts.replaceChildren(...rows.map(([name, text]) => el("div", {}, el("dt", {}, name), el("dd", {}, text))));
}
