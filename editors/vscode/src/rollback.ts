/** Going back in files and conversation: pick a turn, see what would happen, choose, and redo. */

import type { Checkpoint, CheckpointRestoreParams, CheckpointRestoreResult, FileChange, OnConflict, RestoreScope } from "sidecar-protocol";
import { commands, l10n, type QuickPickItem, window } from "vscode";
import type { Daemon } from "./daemon";
import type { Previews } from "./views/texts";
import { fork } from "./moving";
import type { Sessions } from "./sessions";
import type { Edited, Picture } from "./views/messages";
import { grouped, many, plainTitle, when } from "./wording";
import { inform } from "./views/notify";
import { cut, rowText } from "./views/visible";

/** Reasons that the question tells, and files that it names for each. */
const MOST_LINES = 4;
const MOST_NAMED = 6;
/** Letters of a message that the question shows. */
const MOST_TITLE = 40;

type Choice = { onConflict: OnConflict; markers?: true };
/** `redone`: a restore is undone, which needs no question as long as nothing came after it. */
type Manner = "asked" | "quiet" | "redone";
type Line<T> = QuickPickItem & { value?: T };

/** Roll back; without a checkpoint the user picks a turn. */
export async function rollBack(daemon: Daemon, sessions: Sessions, previews: Previews, checkpointId?: string): Promise<void> {
  const sessionId = sessions.id();
  const target = checkpointId ?? (await pickTurn((await daemon.request("checkpoint/list", { sessionId })).checkpoints));
  const scope = target && (await pickScope());
  if (!scope) return;
  await goBack(daemon, sessions, previews, { sessionId, checkpointId: target, scope });
}

async function goBack(daemon: Daemon, sessions: Sessions, previews: Previews, wish: CheckpointRestoreParams, pictures: Picture[] = []): Promise<void> {
  // What was chosen for the conversation alone is asked no second time.
  const manner = wish.scope === "conversation" ? "quiet" : "asked";
  const done = await foreseen(sessions, previews, (choice) => daemon.request("checkpoint/restore", { ...wish, ...choice }), manner);
  if (done) await told(sessions, done, false, pictures);
}

/** Put an earlier message into the input to be sent anew: after going back to before it, or in a fork. */
export async function editMessage(daemon: Daemon, sessions: Sessions, previews: Previews, { messageId, after, text, pictures }: Edited): Promise<void> {
  const sessionId = sessions.id();
  const lines: Line<RestoreScope | "fork">[] = [
    { label: `$(discard) ${l10n.t("Go back to before it")}`, detail: l10n.t("In files and conversation."), value: "both" },
    { label: `$(discard) ${l10n.t("Go back in the conversation alone")}`, detail: l10n.t("Files stay as they are."), value: "conversation" },
    { label: `$(repo-forked) ${l10n.t("Fork before it")}`, detail: l10n.t("This session stays as it is, and so do files."), value: "fork" },
  ];
  const chosen = (await window.showQuickPick(lines, { title: l10n.t("Sidecar: Edit and Send Again"), placeHolder: text.split("\n")[0] ?? "" }))?.value;
  if (chosen === undefined) return;
  if (chosen !== "fork") return goBack(daemon, sessions, previews, { sessionId, beforeMessageId: messageId, scope: chosen }, pictures);
  if (after === undefined) await sessions.create();
  else await fork(daemon, sessions, after);
  sessions.draft(text, pictures);
}

/** Undo a restore: the newest that stands, or the one named. */
export async function redo(daemon: Daemon, sessions: Sessions, previews: Previews, checkpointId?: string): Promise<void> {
  const wish = { sessionId: sessions.id(), ...(checkpointId && { checkpointId }) };
  const done = await foreseen(sessions, previews, (choice) => daemon.request("checkpoint/redo", { ...wish, ...choice }), "redone");
  if (done) await told(sessions, done, true);
}

/** The session and its revision as this window's last going back left them. */
let left = "";

/** Show what would happen, ask how, and do it; where it is quiet, only a conflict is asked about. */
export async function foreseen(
  sessions: Sessions,
  previews: Previews,
  restore: (choice: Partial<CheckpointRestoreParams>) => Promise<CheckpointRestoreResult>,
  manner: Manner,
): Promise<CheckpointRestoreResult | undefined> {
  const plan = await restore({ dryRun: true, onConflict: "merge" });
  if (plan.reason !== undefined) return void inform(`Sidecar: ${plan.reason}`);
  const { restored, merged, conflicts } = plan.files;
  const quietly = manner === "quiet" || (manner === "redone" && `${sessions.id()} ${plan.revision}` === left);
  if (quietly && !conflicts.length) return restore({ onConflict: "merge", expectedRevision: plan.revision });
  // What cannot be merged is shown as it would be if it were overwritten.
  const over = conflicts.length ? (await restore({ dryRun: true, onConflict: "overwrite" })).files.restored : [];
  const files = [...restored, ...merged, ...over.filter(({ path }) => conflicts.some((file) => file.path === path))].flatMap(({ path, diff }) => (diff ? [{ path, diff }] : []));
  try {
    if (files.length) await previews.open(l10n.t("now ↔ after going back"), sessions.cwd, files);
    const choice = await pickChoice(plan, manner === "redone");
    return choice && (await restore({ ...choice, expectedRevision: plan.revision }));
  } finally {
    await previews.close();
  }
}

async function pickTurn(checkpoints: Checkpoint[]): Promise<string | undefined> {
  const turns = grouped(checkpoints.filter((one) => !one.left), (one) => one.turnId).reverse();
  const lines = turns.flatMap(([, turn]): Line<string>[] => {
    const [begin, ...steps] = turn;
    if (!begin?.turnId) return [];
    const detail = [...changed(steps), ...changed([begin]).map((file) => l10n.t("{0} before it", file))].join(", ");
    return [{ label: rowText(plainTitle(begin.title)) || l10n.t("(no text)"), description: when(begin.at), detail: detail || l10n.t("no files changed"), value: begin.checkpointId }];
  });
  if (!lines.length) void inform(l10n.t("There is no turn to go back to yet."));
  const chosen = lines.length ? await window.showQuickPick(lines, { title: l10n.t("Sidecar: Roll Back… to before which turn?"), placeHolder: l10n.t("The newest is first"), matchOnDetail: true }) : undefined;
  return chosen?.value;
}

function changed(checkpoints: Checkpoint[]): string[] {
  const files = grouped(checkpoints.flatMap((one) => one.files), (file) => `${file.path} (${AUTHORS[file.author] ?? file.author})`);
  return files.map(([name, changes]) => `${name} ${counts(changes)}`);
}

const AUTHORS: Record<string, string> = { tool: l10n.t("agent"), agent: l10n.t("agent"), shell: l10n.t("agent's command"), user: l10n.t("you"), unknown: l10n.t("agent's command or you"), restore: l10n.t("taken back"), merge: l10n.t("taken back") };

function counts(changes: FileChange[]): string {
  const sum = (name: "additions" | "deletions") => changes.reduce((total, change) => total + change[name], 0);
  return `+${sum("additions")} −${sum("deletions")}`;
}

async function pickScope(): Promise<RestoreScope | undefined> {
  const lines: Line<RestoreScope>[] = [
    { label: l10n.t("Files and conversation"), detail: l10n.t("Your message comes back into the input."), value: "both" },
    { label: l10n.t("Files only"), detail: l10n.t("The conversation stays."), value: "files" },
    { label: l10n.t("Conversation only"), detail: l10n.t("Files stay as they are."), value: "conversation" },
  ];
  return (await window.showQuickPick(lines, { title: l10n.t("Sidecar: Roll Back… what?") }))?.value;
}

/** Asked by a list that stays while the diff is read: the editor hides a notification after some seconds. */
async function pickChoice({ files, restoredPrompt }: CheckpointRestoreResult, redone: boolean): Promise<Choice | undefined> {
  const { restored, merged, skipped, conflicts } = files;
  const keep: Line<Choice> = { label: l10n.t("Keep Mine"), value: { onConflict: "keep" } };
  const overwrite: Line<Choice> = { label: l10n.t("Overwrite"), value: { onConflict: "overwrite" } };
  const asked: Line<Choice>[] = conflicts.length
    ? [keep, overwrite, { label: l10n.t("Merge With Markers"), value: { onConflict: "merge", markers: true } }]
    : merged.length
      ? [{ label: l10n.t("Merge"), value: { onConflict: "merge" } }, keep, overwrite]
      : [{ label: redone ? l10n.t("Redo") : l10n.t("Go Back"), value: { onConflict: "refuse" } }];
  // What is said of several files is said once.
  const lines = grouped([...conflicts, ...merged, ...restored, ...skipped], ({ reason }) => reason).map(([reason, those]) => `${named(those.map(({ path }) => path))}: ${reason}`);
  const told = [
    ...(restoredPrompt === undefined ? [] : [l10n.t("Leaves the conversation: all from “{0}” on.", cut(plainTitle(restoredPrompt), MOST_TITLE))]),
    ...(lines.length ? lines.slice(0, MOST_LINES) : [l10n.t("Files stay as they are.")]),
    ...(lines.length > MOST_LINES ? [l10n.t(" … and {0} more.", lines.length - MOST_LINES)] : []),
  ];
  const question = conflicts.length ? l10n.t("You changed these files, or may have. What shall become of your changes?") : redone ? l10n.t("Redo? Something came after you went back.") : l10n.t("Go back?");
  const rows = [...asked, ...told.map((label): Line<Choice> => ({ label: `$(info) ${rowText(label)}` }))];
  for (;;) {
    const chosen = await window.showQuickPick(rows, { title: `Sidecar: ${question}`, ignoreFocusOut: true });
    if (chosen === undefined || chosen.value) return chosen?.value;
  }
}

function named(paths: string[]): string {
  const more = paths.length - MOST_NAMED;
  return more > 0 ? `${paths.slice(0, MOST_NAMED).join(", ")} ${many(more, l10n.t("and {0} other"), l10n.t("and {0} others"))}` : paths.join(", ");
}

async function told(sessions: Sessions, done: CheckpointRestoreResult, again: boolean, pictures: Picture[] = []): Promise<void> {
  left = again ? "" : `${sessions.id()} ${done.revision}`;
  await sessions.open(sessions.id());
  // What was redone stands in the conversation again, and no longer in the input.
  if (done.restoredPrompt || pictures.length || again) sessions.draft(done.restoredPrompt ?? "", pictures);
  const { restored, merged, skipped } = done.files;
  const outcomes = [[restored, l10n.t("{0} file restored"), l10n.t("{0} files restored")], [merged, l10n.t("{0} file merged"), l10n.t("{0} files merged")], [skipped, l10n.t("{0} file left as it is"), l10n.t("{0} files left as they are")]] as const;
  const parts = outcomes.filter(([files]) => files.length).map(([files, one, other]) => many(files.length, one, other)).join(", ");
  const [what, how] = again ? [l10n.t("Redone."), l10n.t("Redone: {0}.", parts)] : [l10n.t("Went back."), l10n.t("Went back: {0}.", parts)];
  const text = [parts ? how : what, ...(done.notes ?? [])].join(" ");
  void inform(text, ...(again ? [] : [l10n.t("Redo")])).then((answer) => {
    if (answer) void commands.executeCommand("sidecar.redo", done.undoCheckpointId);
  });
}
