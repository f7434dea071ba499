/** A unified diff as lines with the editor's colours. */

import { el } from "./dom";

export function diffLines(diff: string): HTMLElement {
  const lines = diff.replace(/\n$/, "").split("\n").filter((line) => !/^(--- |\+\+\+ )/.test(line));
  const shown = lines.map((line, index) => {
    if (line.startsWith("@@")) return index === 0 ? undefined : el("span.gap", { "aria-hidden": "true" }, "⋯\n");
    const kind = line.startsWith("+") ? ".added" : line.startsWith("-") ? ".removed" : "";
    return el(`span.line${kind}`, {}, `${line || " "}\n`);
  });
  return el("pre.diff", { tabindex: 0, role: "region", "aria-label": "Changes" }, ...shown);
}
