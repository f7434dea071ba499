/** What can be done with a session of the tree. */

import type { SessionInfo } from "sidecar-protocol";
import { commands, Uri, window } from "vscode";
import type { Daemon } from "../../daemon";
import { archiveSession, fork, pickSession } from "../../moving";
import type { Sessions } from "../../sessions";
import { demand, inform } from "../notify";
import { plainTitle } from "../../wording";
import { visibleName } from "../visible";
import type { Node } from "./nodes";
import { SessionTree } from "./sessionTree";

const BAD_REQUEST = -32602;
const DELETING = "Its messages, and what its calls gave back, are erased for good. Files stay as they are.";

type Line = Extract<Node, { info: SessionInfo }>;

/** By their names, the commands of the tree; without a line they are of the session that is open, or ask. */
export function sessionCommands(tree: SessionTree, daemon: Daemon, sessions: Sessions): Record<string, (line?: never) => Promise<unknown>> {
  const found: Record<string, (line?: Line) => Promise<unknown>> = {
    openListed: async (line) => line && open(line, tree, sessions),
    renameSession: (line) => rename(line?.info, daemon, sessions),
    deleteSession: (line) => erase(line?.info, daemon, sessions),
    archiveListed: async (line) => line && archiveSession(daemon, sessions, line.info.sessionId),
    forkListed: async (line) => line && (await isHere(line.info.cwd, tree)) && fork(daemon, sessions, undefined, line.info.sessionId),
  };
  const changing = ["renameSession", "deleteSession", "archiveListed", "forkListed"];
  const renewing = Object.entries(found).map(([name, act]) => [name, async (...given: [line?: Line]) => {
    // A line that was drawn anew under its menu is given as undefined; no other session is meant by it.
    if (given.length && !given[0]) return inform("The list of sessions was just read anew: please choose again.");
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

/** Whether a session is of this window's folder; else offer a window for its own, as trust is for one folder. */
async function isHere(cwd: string, tree: SessionTree): Promise<boolean> {
  if (tree.isHere(cwd)) return true;
  const answer = await demand("This session is of another folder.", `It works in ${cwd}.`, "Open Folder");
  if (answer) await commands.executeCommand("vscode.openFolder", Uri.file(cwd), { forceNewWindow: true });
  return false;
}

async function rename(info: SessionInfo | undefined, daemon: Daemon, sessions: Sessions): Promise<void> {
  const sessionId = info?.sessionId ?? sessions.id();
  const before = info ?? (await daemon.request("session/list", { cwd: sessions.cwd })).sessions.find((one) => one.sessionId === sessionId);
  const title = await window.showInputBox({ title: "Sidecar: Rename Session", value: before?.title ?? "", ignoreFocusOut: true });
  if (title?.trim()) await daemon.request("session/rename", { sessionId, title });
}

async function erase(info: SessionInfo | undefined, daemon: Daemon, sessions: Sessions): Promise<void> {
  const sessionId = info?.sessionId ?? (await pickSession(daemon, sessions, "Sidecar: Delete Session…"));
  if (!sessionId) return;
  const named = info ? ` “${plainTitle(visibleName(info.title || "(empty)"))}”` : " this session";
  if ((await demand(`Delete${named}?`, DELETING, "Delete")) !== "Delete") return;
  const erased = { sessionId };
  try {
    await daemon.request("session/delete", erased);
  } catch (error) {
    if ((error as { code?: number }).code !== BAD_REQUEST) throw error;
    const answer = await demand("A turn of this session runs.", "It is stopped first.", "Stop and Delete");
    if (answer !== "Stop and Delete") return;
    await daemon.request("session/delete", { ...erased, force: true });
  }
  if (sessionId === sessions.current) await sessions.create();
}

async function search(words: string | undefined, tree: SessionTree): Promise<void> {
  const query = words ?? (await window.showInputBox({
    title: "Sidecar: Search Sessions",
    prompt: "All words in one text of any session: message, answer, call or result. Quotes hold words together.",
    value: tree.query,
  }));
  if (query?.trim()) await tree.find(query);
}
