/** Sessions on a git remote: synced now, and opened from another machine. */

import { window } from "vscode";
import type { SessionListRemoteParams, SessionSyncParams, SessionSyncResult } from "sidecar-protocol";
import type { Daemon } from "../daemon";
import type { Sessions } from "../sessions";
import { many, when } from "../wording";
import { demand, inform } from "./notify";

const INVALID = -32602;
const AGREEING =
  "From now on, sessions of this folder go there when they are synced. Every text and tool output does, but what looks like a key, and none of your files' contents; " +
  "who can read there can read them.";

/** Bring this folder's sessions and the remote's together, and say what came of it. */
export async function syncSessions(daemon: Daemon, sessions: Sessions): Promise<void> {
  const done = await synced(daemon, { cwd: sessions.cwd });
  if (done) void inform(told(done));
}

/** Pick a session that lies on the remote, and open it here. */
export async function openFromElsewhere(daemon: Daemon, sessions: Sessions): Promise<void> {
  const cwd = sessions.cwd;
  const [remote, { sessions: found }] = await withRemote({ cwd } as SessionListRemoteParams, (about) => daemon.request("session/listRemote", about));
  if (!found.length) return void inform("No session lies on the remote.");
  const lines = found.map((one) => ({
    label: one.title || "(empty)",
    description: `${many(one.turns, "turn")}, ${when(one.updatedAt)}, ${one.folder}`,
    ...(one.sessionId && { detail: "here already" }),
    one,
  }));
  const chosen = (await window.showQuickPick(lines, { title: "Sidecar: Open from Another Machine…", matchOnDescription: true }))?.one;
  if (!chosen) return;
  if (chosen.sessionId) return sessions.open(chosen.sessionId);
  const done = await synced(daemon, { cwd, ...(remote && { remote }), open: [chosen.name] });
  const came = done?.received.find((one) => one.name === chosen.name);
  if (came) await sessions.open(came.sessionId);
  if (done) void inform(told(done));
}

/** Sync; the first time only once it is seen what would go where. */
async function synced(daemon: Daemon, given: SessionSyncParams): Promise<SessionSyncResult | undefined> {
  const [remote, plan] = await withRemote(given, (about) => daemon.request("session/sync", about));
  if (plan.agreed) return plan;
  const lines = plan.sent.map((one) => `${one.title || one.sessionId}: ${many(one.messages, "message")}, ${Math.ceil(one.size / 1000)} kB`);
  const answer = await demand(`Send sessions of this folder to ${plan.remote}?`, [AGREEING, ...lines].join("\n"), "Send");
  if (answer !== "Send") return undefined;
  return daemon.request("session/sync", { ...given, ...(remote && { remote }), agree: plan.remote });
}

type Named = SessionListRemoteParams | SessionSyncParams;

/** Ask with the settings' remote; where none can be used, with one that is typed. Gives that, too. */
async function withRemote<G extends Named, R>(given: G, ask: (about: G) => Promise<R>): Promise<[string | undefined, R]> {
  try {
    return [given.remote, await ask(given)];
  } catch (error) {
    const { code, message } = error as { code?: number; message?: string };
    if (code !== INVALID || given.remote) throw error;
    const remote = await window.showInputBox({ title: "Sidecar: Git Remote", prompt: `${message}`, placeHolder: "name, address or path", ignoreFocusOut: true });
    if (!remote) throw error;
    return [remote, await ask({ ...given, remote })];
  }
}

function told(done: SessionSyncResult): string {
  const counts = ([["sent", done.sent], ["received", done.received], ["forked", done.forked]] as const)
    .filter(([, some]) => some.length)
    .map(([what, some]) => `${some.length} ${what}`);
  const elsewhere = done.elsewhere ? [`${many(done.elsewhere, "session")} more there.`] : [];
  return [`${counts.join(", ") || "Nothing to do"}: ${done.remote}.`, ...elsewhere, ...done.notes].join(" ");
}
