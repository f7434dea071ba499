/** What is left of a turn's change to a file, and taking it back: the whole file or hunks of it. */

import { createHash } from "node:crypto";
import type { CheckpointRestoreResult } from "sidecar-protocol";
import type { Daemon } from "../daemon";
import type { Previews } from "./texts";
import { foreseen } from "../rollback";
import type { Sessions } from "../sessions";
import type { Reviewed, ReviewedHunk, TakeBack } from "./messages";

const BAD_REQUEST = -32602;
/** Milliseconds until a plan that was refused is asked for again. */
const CONCLUDED = 300;

export class Reviews {
  constructor(
    private readonly daemon: Daemon,
    private readonly sessions: Sessions,
    private readonly previews: Previews,
  ) {}

  /** Ask what going back in this file alone would do: that is what is left of the change. */
  async look(from: string, path: string): Promise<Reviewed> {
    const { files, reason } = await this.plan(from, path);
    const acting = [...files.restored, ...files.merged];
    // A file that was moved goes back whole, with its other name.
    const hunks = acting.length === 1 ? (acting[0]?.diff ?? "").split(/(?<=\n)(?=@@ )/).slice(1) : [];
    const [told] = [...files.conflicts, ...acting, ...files.skipped].map((file) => file.reason);
    return { from, path, hunks: named(hunks), ...(!hunks.length && { told: told ?? reason ?? "" }) };
  }

  /** Take it back, or some hunks of it, or undo that; a conflict is asked about. Gives what is left, and how to undo it. */
  async takeBack({ from, path, hunks, undo }: TakeBack): Promise<Reviewed> {
    const sessionId = this.sessions.id();
    const act = (choice: object) => (undo ? this.daemon.request("checkpoint/redo", { sessionId, checkpointId: undo, ...choice }) : this.restore(from, path, choice));
    const done = hunks ? await act({ hunks, onConflict: "merge" }) : await foreseen(this.sessions, this.previews, act, "quiet");
    return { ...(await this.look(from, path)), ...(done && { undo: undo ? "" : done.undoCheckpointId }) };
  }

  /** A turn of which the end was told is still concluded for a moment. */
  private async plan(from: string, path: string, times = 5): Promise<CheckpointRestoreResult> {
    try {
      return await this.restore(from, path, { dryRun: true, onConflict: "merge" });
    } catch (error) {
      if (times === 1 || (error as { code?: number }).code !== BAD_REQUEST) throw error;
      await new Promise((done) => setTimeout(done, CONCLUDED));
      return this.plan(from, path, times - 1);
    }
  }

  private restore(from: string, path: string, choice: object): Promise<CheckpointRestoreResult> {
    return this.daemon.request("checkpoint/restore", { sessionId: this.sessions.id(), checkpointId: from, scope: "files", paths: [path], ...choice });
  }
}

/** Name hunks by their text without its place, and which of those with that text each is. */
function named(hunks: string[]): ReviewedHunk[] {
  const counts = new Map<string, number>();
  return hunks.map((text) => {
    const digest = createHash("sha256").update(text.slice(text.indexOf("\n")), "utf16le").digest("hex");
    const nth = (counts.get(digest) ?? 0) + 1;
    counts.set(digest, nth);
    return { text, name: `${digest} ${nth}` };
  });
}
