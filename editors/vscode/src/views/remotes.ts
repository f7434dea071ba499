/** Sessions on a git remote: synced now, and opened from another machine. */

import { l10n, window } from "vscode";
import type { SessionListRemoteParams, SessionSyncParams, SessionSyncResult } from "sidecar-protocol";
import type { Daemon } from "../daemon";
import type { Sessions } from "../sessions";
import { many, plainTitle, TURNS, when } from "../wording";
import { demand, inform } from "./notify";
import { rowText } from "./visible";

const INVALID = -32602;
const AGREEING = l10n.t("From now on, sessions of this folder go there when they are synced. Every text and tool output does, but what looks like a key, and none of your files' contents.");
const LEGIBLE = l10n.t("Who can read there can read them.");
const ENCRYPTED = l10n.t("They lie there encrypted: who has one of the keys can read them.");
const SEND = l10n.t("Send");

/** Bring this folder's sessions and the remote's together, and say what came of it. */
export async function syncSessions(daemon: Daemon, sessions: Sessions): Promise<void> {
  const done = await synced(daemon, { cwd: sessions.cwd });
  if (done) void inform(told(done));
}

/** Pick a session that lies on the remote, and open it here. */
export async function openFromElsewhere(daemon: Daemon, sessions: Sessions): Promise<void> {
  const cwd = sessions.cwd;
  const [remote, { sessions: found }] = await withRemote({ cwd } as SessionListRemoteParams, (about) => daemon.request("session/listRemote", about));
  if (!found.length) return void inform(l10n.t("No session lies on the remote."));
  const lines = found.map((one) => ({
    label: rowText(plainTitle(one.title)) || l10n.t("(empty)"),
    description: `${many(one.turns, ...TURNS)}, ${when(one.updatedAt)}, ${rowText(one.folder)}`,
    ...(one.sessionId && { detail: l10n.t("here already") }),
    one,
  }));
  const chosen = (await window.showQuickPick(lines, { title: l10n.t("Sidecar: Open from Another Machine…"), matchOnDescription: true }))?.one;
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
  const lines = plan.sent.map((one) => `${(one.title || one.sessionId).replace(/\s+/g, " ")}: ${many(one.messages, l10n.t("{0} message"), l10n.t("{0} messages"))}, ${Math.ceil(one.size / 1000)} kB`);
  const answer = await demand(l10n.t("Send sessions of this folder to {0}?", plan.remote), [AGREEING, plan.recipients ? ENCRYPTED : LEGIBLE, ...lines].join("\n"), SEND);
  if (answer !== SEND) return undefined;
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
    const remote = await window.showInputBox({ title: l10n.t("Sidecar: Git Remote"), prompt: `${message}`, placeHolder: l10n.t("name, address or path"), ignoreFocusOut: true });
    if (!remote) throw error;
    return [remote, await ask({ ...given, remote })];
  }
}

function told(done: SessionSyncResult): string {
  const { sent, received, forked } = done;
  const counts = [
    ...(sent.length ? [l10n.t("{0} sent", sent.length)] : []),
    ...(received.length ? [l10n.t("{0} received", received.length)] : []),
    ...(forked.length ? [l10n.t("{0} forked", forked.length)] : []),
  ];
  const elsewhere = done.elsewhere ? [many(done.elsewhere, l10n.t("{0} session more there."), l10n.t("{0} sessions more there."))] : [];
  return [`${counts.join(", ") || l10n.t("Nothing to do")}: ${done.remote}.`, ...elsewhere, ...done.notes].join(" ");
}
