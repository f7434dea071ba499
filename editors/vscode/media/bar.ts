/** The bar of the window: its regions, the zone below them, and the mark where the policy rewrites. */

import type { Meter, Regions } from "sidecar-protocol";
import { l10n } from "vscode";
import { count, REGIONS, ZONES } from "../src/wording";
import { el } from "./dom";

type Region = keyof Regions;

/** The regions that hold something, in the order of the prompt. */
export function names({ regions }: Meter): Region[] {
  return (Object.keys(REGIONS) as Region[]).filter((name) => regions[name] > 0);
}

/** Draw the regions of a meter in what the prompt may fill. */
export function bar(meter: Meter, room: number): HTMLElement {
  const pieces = names(meter).map((name) => [name, meter.regions[name]] as const);
  const mark = el("span.mark");
  mark.style.insetInlineStart = `${share(meter.compactAt, room)}%`;
  return el("div.window", { role: "img", "aria-label": summary(meter, room) }, stack(pieces, Math.max(room, meter.used)), el("div.zone", { "data-zone": meter.zone }), mark);
}

/** Pieces beside each other, in per cent of a whole. */
export function stack(pieces: readonly (readonly [string, number])[], whole: number): HTMLElement {
  const drawn = pieces.filter(([, tokens]) => tokens > 0).map(([name, tokens]) => {
    const piece = el(`span.region-${name}`, { title: `${REGIONS[name as Region] ?? name}: ${count(tokens)}` });
    piece.style.inlineSize = `${share(tokens, whole)}%`;
    return piece;
  });
  return el("div.stack", { "aria-hidden": "true" }, ...drawn);
}

/** The bar in words. */
export function summary(meter: Meter, room: number): string {
  const parts = names(meter).map((name) => `${REGIONS[name]} ${count(meter.regions[name])}`);
  return l10n.t("{0} per cent of {1} tokens, zone {2}, compaction at {3}: {4}", Math.round(meter.percent), count(room), ZONES[meter.zone] ?? meter.zone, count(meter.compactAt), parts.join(", "));
}

function share(part: number, whole: number): number {
  return whole ? Math.min(100, (part / whole) * 100) : 0;
}
