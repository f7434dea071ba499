/** Other sessions: opening, archiving, forking, handing on, exporting, importing; and the options of this one. */

import type { SessionInfo } from "sidecar-protocol";
import { commands, l10n, Uri, window } from "vscode";
import type { Daemon } from "./daemon";
import type { Sessions } from "./sessions";
import { many, money, plainTitle, TURNS, when } from "./wording";
import { demand, inform } from "./views/notify";
import { recordings } from "./views/recordings";
import { cut, rowText, visibleName } from "./views/visible";

/** Letters of a title in a list. */
const MOST_TITLE = 80;
const ARCHIVING = l10n.t("It goes whole into a packed file in Sidecar's data folder, and leaves the list of sessions; Import Session… of that file brings it back as it was. One that another window has open, or in which a turn runs, is refused.");

/** Pick one of the folder's sessions and open it. */
export async function openSession(daemon: Daemon, sessions: Sessions): Promise<void> {
  const chosen = await pickSession(daemon, sessions, l10n.t("Sidecar: Open Session…"));
  if (chosen) await sessions.open(chosen);
}

/** Pick one of the folder's sessions and, once it is said what that means, have it put away. */
export async function archiveSession(daemon: Daemon, sessions: Sessions, chosen?: SessionInfo): Promise<void> {
  const sessionId = chosen?.sessionId ?? await pickSession(daemon, sessions, l10n.t("Sidecar: Archive Session…"));
  if (!sessionId) return;
  const question = chosen ? l10n.t("Archive “{0}”?", plainTitle(visibleName(chosen.title || l10n.t("(empty)")))) : l10n.t("Archive this session?");
  const answer = await demand(question, ARCHIVING, l10n.t("Archive"));
  if (!answer) return;
  const { sessions: put } = await daemon.request("session/archive", { sessionId });
  if (sessionId === sessions.current) await sessions.create();
  void inform(l10n.t("Archived to {0}.", put[put.length - 1]?.path ?? ""));
}

export async function pickSession(daemon: Daemon, sessions: Sessions, title: string): Promise<string | undefined> {
  const { sessions: found } = await daemon.request("session/list", { cwd: sessions.cwd });
  const lines = found.map((one) => ({
    label: rowText(plainTitle(one.title)) || l10n.t("(empty)"),
    description: `${many(one.turns, ...TURNS)}, ${when(one.updatedAt)}${Number(one.cost) ? `, ${money(one.cost)}` : ""}`,
    ...(one.sessionId === sessions.current && { detail: l10n.t("open now") }),
    id: one.sessionId,
  }));
  return (await window.showQuickPick(lines, { title, matchOnDescription: true }))?.id;
}

/** Branch off and go on in the branch: after this message, or as the session is. */
export async function fork(daemon: Daemon, sessions: Sessions, atMessageId?: string, of = sessions.id()): Promise<void> {
  const { sessionId } = await daemon.request("session/fork", { sessionId: of, ...(atMessageId && { atMessageId }) });
  await sessions.open(sessionId);
}

/** Ask for the next goal unless it is given, and open a session whose input holds the drafted first prompt. */
export async function handOff(daemon: Daemon, sessions: Sessions, given?: string): Promise<void> {
  const goal = given ?? await window.showInputBox({
    title: l10n.t("Sidecar: Handoff"),
    prompt: l10n.t("What is the next session for? Its first prompt is drafted from this one; you can edit it before it is sent."),
    ignoreFocusOut: true,
  });
  if (!goal?.trim()) return;
  const { draft } = await daemon.request("session/handoff", { sessionId: sessions.id(), goal });
  await sessions.create({ from: sessions.id() });
  sessions.draft(draft);
}

/** Have the daemon write the session to a file; what is not in it is said. */
export async function exportSession(daemon: Daemon, sessions: Sessions): Promise<void> {
  const id = sessions.id();
  const target = await window.showSaveDialog({
    title: l10n.t("Sidecar: Export"),
    defaultUri: Uri.joinPath(Uri.file(sessions.cwd), `${id}.sidecar`),
    filters: { [l10n.t("Sidecar sessions")]: ["sidecar"] },
  });
  if (!target) return;
  // The dialog has asked before a file that is there is replaced.
  const { path, notes } = await daemon.request("session/export", { sessionId: id, path: target.fsPath, overwrite: true });
  void inform([l10n.t("Exported to {0}.", path), ...notes].join(" "));
}

/** Make a session of this folder from another agent's recording of it, or from a file: such a one, or one that was exported. One that was put away comes back to the folder that it was of. */
export async function importSession(daemon: Daemon, sessions: Sessions): Promise<void> {
  const path = await pickRecording(sessions.cwd);
  if (!path) return;
  const { sessionId, notes } = await daemon.request("session/import", { path, cwd: sessions.cwd });
  const away = (await listed(daemon, sessionId, { cwd: sessions.cwd })) ? undefined : await listed(daemon, sessionId, {});
  if (away) await offerFolder(away.cwd);
  else await sessions.open(sessionId);
  void inform([l10n.t("Imported."), ...notes].join(" "));
}

async function pickRecording(cwd: string): Promise<string | undefined> {
  const title = l10n.t("Sidecar: Import Session…");
  const found = await recordings(cwd);
  if (found.length) {
    const lines = found.map(({ agent, path, at, begins }) => ({ label: rowText(cut(begins.trim(), MOST_TITLE)) || l10n.t("(empty)"), description: `${agent}, ${when(at)}`, path }));
    const chosen = await window.showQuickPick([...lines, { label: `$(folder-opened) ${l10n.t("A file…")}`, path: "" }], { title, placeHolder: l10n.t("What other agents recorded in this folder") });
    if (chosen?.path !== "") return chosen?.path;
  }
  return (await window.showOpenDialog({ title, openLabel: l10n.t("Import") }))?.[0]?.fsPath;
}

/** What the list of a folder's sessions, or of all, says of this one. */
async function listed(daemon: Daemon, sessionId: string, of: { cwd?: string }): Promise<SessionInfo | undefined> {
  let cursor: string | undefined;
  do {
    const page = await daemon.request("session/list", { ...of, ...(cursor && { cursor }) });
    const found = page.sessions.find((one) => one.sessionId === sessionId);
    if (found) return found;
    cursor = page.nextCursor;
  } while (cursor);
  return undefined;
}

/** Say that a session is of another folder, and offer a window for that one, as trust is for one folder. */
export async function offerFolder(cwd: string): Promise<void> {
  const answer = await demand(l10n.t("This session is of another folder."), l10n.t("It works in {0}.", cwd), l10n.t("Open Folder"));
  if (answer) await commands.executeCommand("vscode.openFolder", Uri.file(cwd), { forceNewWindow: true });
}

/** Change an option of the session: pick one of its values. */
export async function switchOption(daemon: Daemon, sessions: Sessions, configId: string): Promise<void> {
  const option = sessions.options.find((one) => one.id === configId);
  if (!option?.options) throw new Error(l10n.t("This session has no option {0}.", configId));
  const lines = option.options.map((one) => ({
    label: one.name,
    ...(one.value === option.currentValue && { description: l10n.t("now") }),
    ...(one.description && { detail: one.description }),
    value: one.value,
  }));
  const chosen = await window.showQuickPick(lines, { title: `Sidecar: ${option.name}` });
  if (!chosen || chosen.value === option.currentValue) return;
  const { configOptions } = await daemon.request("session/set_config_option", { sessionId: sessions.id(), configId, value: chosen.value });
  sessions.configured(configOptions);
}
