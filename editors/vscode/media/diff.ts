/** A unified diff as lines with the editor's colours. */

import { l10n } from "vscode";
import { rows } from "../src/views/hunks";
import { many } from "../src/wording";
import { el } from "./dom";

export function diffLines(diff: string): HTMLElement {
  const shown = rows(diff).map((line, index) => {
    if (line.startsWith("@@")) return index === 0 ? undefined : el("span.gap", { "aria-hidden": "true" }, "⋯\n");
    const kind = line.startsWith("+") ? ".added" : line.startsWith("-") ? ".removed" : "";
    return el(`span.line${kind}`, {}, `${line || " "}\n`);
  });
  return el("pre.diff", { tabindex: 0, role: "group", "aria-label": l10n.t("Changes") }, ...shown);
}

/** How many lines came and went, where any did. */
export function figures(added: number, removed: number): HTMLElement[] {
  return [...(added ? [el("span.figure.added", {}, `+${added}`)] : []), ...(removed ? [el("span.figure.removed", {}, `−${removed}`)] : [])];
}

/** The same for those who hear it. */
export function spoken(added: number, removed: number): string {
  return many(added, l10n.t("{0} line added, {1} removed"), l10n.t("{0} lines added, {1} removed")).replace("{1}", String(removed));
}
