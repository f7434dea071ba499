/** Sessions that a message can name: the daemon gives a digest of each to the model. */

import { l10n } from "vscode";
import type { Daemon } from "../../daemon";
import type { Sessions } from "../../sessions";
import { plainTitle, when } from "../../wording";
import type { FoundSession } from "../messages";
import { visibleName } from "../visible";

/** Letters from which on sessions are looked for, the newest sessions that are looked at, and how many are given. */
const LETTERS = 2;
const LOOKED_AT = 200;
const MOST = 5;

/** The folder's other sessions with these letters in their titles, the newest first. */
export async function findSessions(daemon: Daemon, sessions: Sessions, query: string): Promise<FoundSession[]> {
  if (query.length < LETTERS) return [];
  const { sessions: all } = await daemon.request("session/list", { cwd: sessions.cwd, limit: LOOKED_AT });
  const named = all.map(({ sessionId, title, updatedAt }) => ({ sessionId, title: plainTitle(visibleName(title)), about: l10n.t("session of {0}", when(updatedAt)) }));
  return named.filter(({ sessionId, title }) => sessionId !== sessions.current && title.toLowerCase().includes(query.toLowerCase())).slice(0, MOST);
}
