/** What can be done with a session of the tree. */

import type { SessionInfo } from "sidecar-protocol";
import { commands, l10n, window } from "vscode";
import type { Daemon } from "../../daemon";
import { archiveSession, fork, offerFolder, pickSession } from "../../moving";
import type { Sessions } from "../../sessions";
import { demand, inform } from "../notify";
import { plainTitle } from "../../wording";
import { visibleName } from "../visible";
import type { Node } from "./nodes";
import { SessionTree } from "./sessionTree";

const BAD_REQUEST = -32602;
const DELETING = l10n.t("Its messages, and what its calls gave back, are erased for good. Files stay as they are.");

type Line = Extract<Node, { info: SessionInfo }>;

/** By their names, the commands of the tree; without a line they are of the session that is open, or ask. */
export function sessionCommands(tree: SessionTree, daemon: Daemon, sessions: Sessions): Record<string, (line?: never) => Promise<unknown>> {
  const found: Record<string, (line?: Line) => Promise<unknown>> = {
    openListed: async (line) => line && open(line, tree, sessions),
    renameSession: (line) => rename(line?.info, daemon, sessions),
    deleteSession: (line) => erase(line?.info, daemon, sessions),
    archiveListed: async (line) => line && archiveSession(daemon, sessions, line.info),
    forkListed: async (line) => line && (await isHere(line.info.cwd, tree)) && fork(daemon, sessions, undefined, line.info.sessionId),
  };
  const changing = ["renameSession", "deleteSession", "archiveListed", "forkListed"];
  const renewing = Object.entries(found).map(([name, act]) => [name, async (...given: [line?: Line]) => {
    // A line that was drawn anew under its menu is given as undefined; no other session is meant by it.
    if (given.length && !given[0]) return inform(l10n.t("The list of sessions was just read anew: please choose again."));
    await act(given[0]);
    if (changing.includes(name)) await tree.renew();
  }]);
  return {
    ...Object.fromEntries(renewing),
    // By its button it is called with other things.
    searchSessions: (words?: unknown) => search(typeof words === "string" ? words : undefined, tree),
    clearSearch: () => tree.clear(),
    refreshSessions: () => tree.renew(),
    moreSessions: () => tree.more(),
  };
}

/** Open a session, at what was found. */
async function open(line: Line, tree: SessionTree, sessions: Sessions): Promise<void> {
  const { sessionId, cwd } = line.info;
  if (sessionId !== sessions.current) {
    if (!(await isHere(cwd, tree))) return;
    await sessions.open(sessionId);
  }
  if (line.kind === "hit") await commands.executeCommand("sidecar.reveal", line.hit.partId);
  else await commands.executeCommand("sidecar.chat.focus");
}

/** Whether a session is of this window's folder; else offer a window for its own. */
async function isHere(cwd: string, tree: SessionTree): Promise<boolean> {
  if (tree.isHere(cwd)) return true;
  await offerFolder(cwd);
  return false;
}

async function rename(info: SessionInfo | undefined, daemon: Daemon, sessions: Sessions): Promise<void> {
  const sessionId = info?.sessionId ?? sessions.id();
  const before = info ?? (await daemon.request("session/list", { cwd: sessions.cwd })).sessions.find((one) => one.sessionId === sessionId);
  const title = await window.showInputBox({ title: l10n.t("Sidecar: Rename Session"), value: before?.title ?? "", ignoreFocusOut: true });
  if (title?.trim()) await daemon.request("session/rename", { sessionId, title });
}

async function erase(info: SessionInfo | undefined, daemon: Daemon, sessions: Sessions): Promise<void> {
  const sessionId = info?.sessionId ?? (await pickSession(daemon, sessions, l10n.t("Sidecar: Delete Session…")));
  if (!sessionId) return;
  const question = info ? l10n.t("Delete “{0}”?", plainTitle(visibleName(info.title || l10n.t("(empty)")))) : l10n.t("Delete this session?");
  if (!(await demand(question, DELETING, l10n.t("Delete")))) return;
  const erased = { sessionId };
  try {
    await daemon.request("session/delete", erased);
  } catch (error) {
    if ((error as { code?: number }).code !== BAD_REQUEST) throw error;
    const answer = await demand(l10n.t("A turn of this session runs."), l10n.t("It is stopped first."), l10n.t("Stop and Delete"));
    if (!answer) return;
    await daemon.request("session/delete", { ...erased, force: true });
  }
  if (sessionId === sessions.current) await sessions.create();
}

async function search(words: string | undefined, tree: SessionTree): Promise<void> {
  const query = words ?? (await window.showInputBox({
    title: l10n.t("Sidecar: Search Sessions"),
    prompt: l10n.t("All words in one text of any session: message, answer, call or result. Quotes hold words together."),
    value: tree.query,
  }));
  if (query?.trim()) await tree.find(query);
}
