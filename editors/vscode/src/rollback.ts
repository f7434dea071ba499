/** Going back in files and conversation: pick a turn, see what would happen, choose, and redo. */

import type { Checkpoint, CheckpointRestoreParams, CheckpointRestoreResult, FileChange, OnConflict, RestoreScope } from "sidecar-protocol";
import { commands, type QuickPickItem, QuickPickItemKind, window } from "vscode";
import type { Daemon } from "./daemon";
import type { Previews } from "./previews";
import type { Sessions } from "./sessions";
import { grouped } from "./wording";

const CONFLICT = -32013;
const LATEST_FIRST = "Sidecar: Roll Back… to before which turn?";

type Choice = { onConflict: OnConflict; markers?: true };
type Line<T> = QuickPickItem & { value?: T };

/** Roll back; without a checkpoint the user picks a turn. */
export async function rollBack(daemon: Daemon, sessions: Sessions, previews: Previews, checkpointId?: string): Promise<void> {
  const sessionId = sessions.id();
  const { checkpoints } = await daemon.request("checkpoint/list", { sessionId });
  const target = checkpointId ?? (await pickTurn(checkpoints));
  const scope = target && (await pickScope());
  if (!scope) return;
  const wish: CheckpointRestoreParams = { sessionId, checkpointId: target, scope };
  const plan = await daemon.request("checkpoint/restore", { ...wish, dryRun: true, onConflict: "merge" });
  try {
    if (scope !== "conversation") await preview(daemon, sessions, previews, target, plan);
    const done = await carryOut(plan, (choice) => daemon.request("checkpoint/restore", { ...wish, ...choice, expectedRevision: plan.revision }));
    if (done) await told(sessions, done, "Went back");
  } finally {
    await previews.close();
  }
}

/** Undo the newest restore that stands. */
export async function redo(daemon: Daemon, sessions: Sessions): Promise<void> {
  const sessionId = sessions.id();
  const plan = await daemon.request("checkpoint/redo", { sessionId, dryRun: true, onConflict: "merge" });
  const done = conflicting(plan)
    ? await carryOut(plan, (choice) => daemon.request("checkpoint/redo", { sessionId, ...choice, expectedRevision: plan.revision }))
    : await daemon.request("checkpoint/redo", { sessionId, onConflict: "merge", expectedRevision: plan.revision });
  if (done) await told(sessions, done, "Redone");
}

async function pickTurn(checkpoints: Checkpoint[]): Promise<string | undefined> {
  const turns = grouped(checkpoints.filter((one) => !one.left), (one) => one.turnId).reverse();
  const lines = turns.flatMap(([, turn]): Line<string>[] => {
    const [begin, ...steps] = turn;
    if (!begin?.turnId) return [];
    const detail = [...changed(steps), ...changed([begin]).map((file) => `${file} before it`)].join(", ");
    return [{ label: begin.title || "(no text)", description: new Date(begin.at).toLocaleString(), detail: detail || "no files changed", value: begin.checkpointId }];
  });
  if (!lines.length) void window.showInformationMessage("There is no turn to go back to yet.");
  const chosen = lines.length ? await window.showQuickPick(lines, { title: LATEST_FIRST, placeHolder: "The newest is first", matchOnDetail: true }) : undefined;
  return chosen?.value;
}

function changed(checkpoints: Checkpoint[]): string[] {
  const files = grouped(checkpoints.flatMap((one) => one.files), (file) => `${file.path} (${AUTHORS[file.author] ?? file.author})`);
  return files.map(([name, changes]) => `${name} ${counts(changes)}`);
}

const AUTHORS: Record<string, string> = { tool: "agent", agent: "agent", shell: "agent's command", user: "you" };

function counts(changes: FileChange[]): string {
  const sum = (name: "additions" | "deletions") => changes.reduce((total, change) => total + change[name], 0);
  return `+${sum("additions")} −${sum("deletions")}`;
}

async function pickScope(): Promise<RestoreScope | undefined> {
  const lines: Line<RestoreScope>[] = [
    { label: "Files and conversation", value: "both" },
    { label: "Files only", detail: "The conversation stays.", value: "files" },
    { label: "Conversation only", detail: "Files stay as they are.", value: "conversation" },
  ];
  return (await window.showQuickPick(lines, { title: "Sidecar: Roll Back… what?" }))?.value;
}

async function preview(daemon: Daemon, sessions: Sessions, previews: Previews, from: string, plan: CheckpointRestoreResult): Promise<void> {
  const { restored, merged, conflicts } = plan.files;
  const touched = new Set([...restored, ...merged, ...conflicts].map((file) => file.path));
  const { files } = await daemon.request("checkpoint/diff", { sessionId: sessions.id(), from });
  const shown = files.filter((file) => touched.has(file.path));
  if (shown.length) await previews.open("now ↔ back then", sessions.cwd, shown);
}

/** Ask how, do it, and ask again where that was refused for a conflict. */
async function carryOut(plan: CheckpointRestoreResult, go: (choice: Choice) => Promise<CheckpointRestoreResult>): Promise<CheckpointRestoreResult | undefined> {
  for (let clash = false; ; clash = true) {
    const choice = await pickChoice(plan, clash);
    if (!choice) return undefined;
    try {
      return await go(choice);
    } catch (error) {
      if ((error as { code?: number }).code !== CONFLICT) throw error;
    }
  }
}

async function pickChoice(plan: CheckpointRestoreResult, clash: boolean): Promise<Choice | undefined> {
  const { restored, merged, skipped, conflicts } = plan.files;
  const mine = merged.length + conflicts.length;
  const lines: Line<Choice>[] = mine
    ? [
        ...(clash || conflicts.length ? [] : [{ label: "$(git-merge) Merge", detail: "Undo the agent's part, keep your changes.", value: { onConflict: "merge" as const } }]),
        ...(clash || conflicts.length ? [{ label: "$(git-merge) Merge with conflict markers", detail: "Where both changed the same lines, both stand between markers.", value: { onConflict: "merge" as const, markers: true as const } }] : []),
        { label: "$(shield) Keep my files", detail: "Files that you changed stay as they are; the others go back.", value: { onConflict: "keep" } },
        { label: "$(discard) Overwrite", detail: "All files go back; your changes in them can be had again by Redo.", value: { onConflict: "overwrite" } },
      ]
    : [{ label: "$(check) Go back", ...(restored.length === 0 && { detail: "No file changes." }), value: { onConflict: "refuse" } }];
  const listed = [...conflicts.map((f) => ({ f, how: "conflict" })), ...merged.map((f) => ({ f, how: "merge" })), ...restored.map((f) => ({ f, how: "goes back" })), ...skipped.map((f) => ({ f, how: "stays" }))];
  const chosen = await window.showQuickPick<Line<Choice>>(
    [
      ...lines,
      { label: "$(close) Cancel" },
      { label: "Files", kind: QuickPickItemKind.Separator },
      ...listed.map(({ f, how }) => ({ label: f.path, description: how, detail: f.reason })),
    ],
    { title: "Sidecar: Roll Back…", placeHolder: clash ? "Both changed the same lines. How shall it be done?" : "The diff shows what would change. Go back?", ignoreFocusOut: true },
  );
  return chosen?.value;
}

function conflicting(plan: CheckpointRestoreResult): boolean {
  return plan.files.conflicts.length > 0;
}

async function told(sessions: Sessions, done: CheckpointRestoreResult, what: string): Promise<void> {
  await sessions.open(sessions.id());
  if (done.restoredPrompt) sessions.draft(done.restoredPrompt);
  const { restored, merged, skipped } = done.files;
  const parts = [`${restored.length} restored`, `${merged.length} merged`, `${skipped.length} left`].filter((part) => !part.startsWith("0 "));
  const text = `${what}${parts.length ? `: ${parts.join(", ")}` : ""}.`;
  void window.showInformationMessage(text, ...(what === "Redone" ? [] : ["Redo"])).then((answer) => {
    if (answer) void commands.executeCommand("sidecar.redo");
  });
}
