/** Making room: the plan first, then the rewrite, and the way back. */

import type { CompactionStep, ContextCompactParams, ContextSegment } from "sidecar-protocol";
import { commands, l10n, ProgressLocation, type QuickPickItem, QuickPickItemKind, window } from "vscode";
import type { Daemon } from "./daemon";
import type { Sessions } from "./sessions";
import { count, grouped, many, money, PARTS, REGIONS, REQUESTS } from "./wording";
import { inform } from "./views/notify";

const ACTIONS: Record<string, string> = {
  drop: l10n.t("Leave out"),
  evict: l10n.t("Leave out"),
  truncate: l10n.t("Shorten"),
  excerpt: l10n.t("Keep lines of"),
  restore: l10n.t("Show again"),
  summarize: l10n.t("Summarise"),
};

type Line = QuickPickItem & { apply?: true; look?: true };

/** Ask for instructions unless they are given, show the plan, and carry it out when the user says so. */
export async function compact(daemon: Daemon, sessions: Sessions, given?: string): Promise<void> {
  const sessionId = sessions.id();
  const instructions = given ?? await window.showInputBox({
    title: l10n.t("Sidecar: Compact Now"),
    prompt: l10n.t("Instructions for what to keep, or nothing. Enter shows the plan; nothing is changed yet."),
    placeHolder: l10n.t("for example: keep everything about the parser"),
    ignoreFocusOut: true,
  });
  if (instructions === undefined) return;
  const wish = { sessionId, ...(instructions.trim() && { instructions: instructions.trim() }) };
  const plan = await window.withProgress({ location: ProgressLocation.Window, title: l10n.t("Sidecar: planning a compaction") }, () =>
    daemon.request("context/compact", { ...wish, dryRun: true }),
  );
  if (!plan.plan.length) {
    void inform(plan.reason ?? l10n.t("There is nothing worth leaving out yet."));
    return;
  }
  const earned = !plan.breakEvenRequests ? "" : l10n.t(", earned back after {0}", many(plan.breakEvenRequests, ...REQUESTS));
  // The way to a summary stands before the model.
  const written = plan.asked ? l10n.t("; summary by {0}", plan.asked[0]?.replace(/^\w+ /, "") ?? "") : "";
  const chosen = await window.showQuickPick<Line>(
    [
      { label: `$(check) ${l10n.t("Compact to {0} tokens", count(plan.tokensAfter))}`, detail: l10n.t("from {0}; costs {1}", count(plan.tokensBefore), money(plan.price)) + earned + written, apply: true },
      { label: `$(list-tree) ${l10n.t("Look at each part…")}`, detail: l10n.t("read it, or tick it to stay"), look: true },
      { label: `$(close) ${l10n.t("Leave it as it is")}` },
      { label: l10n.t("The plan"), kind: QuickPickItemKind.Separator },
      ...summed(plan.plan),
    ],
    { title: l10n.t("Sidecar: Compact Now"), placeHolder: l10n.t("What would happen"), matchOnDetail: true, ignoreFocusOut: true },
  );
  if (chosen?.look) await commands.executeCommand("sidecar.openContext", instructions.trim());
  if (chosen?.apply) await carryOut(daemon, wish);
}

/** Compact, and say so with the way back. */
export async function carryOut(daemon: Daemon, wish: ContextCompactParams): Promise<void> {
  const done = await window.withProgress(
    { location: ProgressLocation.Notification, title: l10n.t("Sidecar: compacting"), cancellable: true },
    (_, token) => daemon.request("context/compact", wish, token),
  );
  const undo = l10n.t("Undo Compaction");
  const text = l10n.t("Compacted from {0} to {1} tokens.", count(done.tokensBefore), count(done.tokensAfter));
  // Not waited for: the command has ended whether or not this is read.
  void inform(text, undo).then((answer) => {
    if (answer) void commands.executeCommand("sidecar.undoCompaction", done.compactionId);
  });
}

/** Take back this compaction, or the newest that stands. */
export async function undoCompaction(daemon: Daemon, sessions: Sessions, compactionId?: string): Promise<void> {
  const { meter } = await daemon.request("context/undoCompaction", { sessionId: sessions.id(), ...(compactionId && { compactionId }) });
  void inform(l10n.t("The compaction was taken back: {0} tokens.", count(meter.used)));
}

/** Keep a part through compactions, or no longer; without an id the user picks one. */
export async function pin(daemon: Daemon, sessions: Sessions, pinned: boolean, partId?: string): Promise<void> {
  const sessionId = sessions.id();
  const id = partId ?? (await pickPart(daemon, sessionId, pinned));
  if (id) await daemon.request("context/pin", { sessionId, partId: id, pinned });
}

async function pickPart(daemon: Daemon, sessionId: string, pin: boolean): Promise<string | undefined> {
  const { segments } = await daemon.request("context/breakdown", { sessionId });
  const parts = segments.filter((segment): segment is ContextSegment & { partId: string } => segment.partId !== undefined && segment.pinned !== pin);
  if (!parts.length) return void inform(pin ? l10n.t("There is nothing to pin yet.") : l10n.t("Nothing is pinned."));
  const lines = parts.reverse().map((part) => ({
    label: part.label,
    description: l10n.t("{0}, {1} tokens", (REGIONS as Record<string, string>)[part.region] ?? part.region, count(part.tokens)),
    partId: part.partId,
  }));
  const chosen = await window.showQuickPick(lines, { title: pin ? l10n.t("Sidecar: Pin: keep through compactions") : l10n.t("Sidecar: Unpin"), placeHolder: l10n.t("The newest is first"), matchOnDescription: true });
  return chosen?.partId;
}

/** A plan has a step for each part: those of one kind stand on one line. */
function summed(steps: CompactionStep[]): Line[] {
  const kinds = grouped(steps, (step) => `${step.action}: ${step.reason}`);
  return kinds.map(([kind, those]) => {
    const label = kind.replace(/^\w+/, (action) => ACTIONS[action] ?? action);
    const [before, after] = [those.map((s) => s.tokensBefore), those.map((s) => s.tokensAfter)].map((n) => n.reduce((a, b) => a + b, 0));
    return { label, detail: l10n.t("{0}, {1} → {2} tokens", many(those.length, ...PARTS), count(before ?? 0), count(after ?? 0)) };
  });
}
