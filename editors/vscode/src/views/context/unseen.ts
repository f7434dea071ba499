/** What the model no longer sees whole, for the chat: asked of the daemon whenever the context may be another. */

import type { ContextSegment } from "sidecar-protocol";
import type { Disposable } from "vscode";
import type { Daemon } from "../../daemon";
import type { Sessions } from "../../sessions";
import type { Recalled, Unseen } from "../messages";
import { encoded } from "../visible";

/** Milliseconds between two looks. */
const PAUSE = 200;

export class UnseenParts implements Disposable {
  private timer: NodeJS.Timeout | undefined;

  /** `told` hears of all parts that are not whole. */
  constructor(
    private readonly daemon: Daemon,
    private readonly sessions: Sessions,
    private readonly told: (parts: Unseen[]) => void,
  ) {}

  /** Look again, soon: changes come in swarms. */
  look(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.tell();
    }, PAUSE);
  }

  private async tell(): Promise<void> {
    const sessionId = this.sessions.current;
    if (sessionId === undefined || this.daemon.state !== "ready") return;
    // What failed is said elsewhere; the next change asks again.
    const found = await this.daemon.request("context/breakdown", { sessionId }).catch(() => undefined);
    if (found && sessionId === this.sessions.current) this.told(unseen(found.segments));
  }

  dispose(): void {
    clearTimeout(this.timer);
  }
}

/** The parts that are not whole, each once; a call is as its result. */
export function unseen(segments: readonly ContextSegment[]): Unseen[] {
  const parts = segments.flatMap(({ partId, presentation, reason }) =>
    partId === undefined || presentation === "verbatim" || presentation === "note" ? [] : [{ partId, presentation, ...(reason && { reason }) }],
  );
  return [...new Map(parts.map((part) => [part.partId, part])).values()];
}

/** Read what was recalled, as files that go along with a message: whatever is in them, nobody typed it. */
export function recalledBlocks(daemon: Daemon, recalled: readonly Recalled[]): Promise<Record<string, unknown>[]> {
  return Promise.all(
    recalled.map(async ({ sessionId, partId, label }) => {
      if (partId === undefined) return { type: "resource_link", uri: `sidecar:session/${sessionId}`, name: label };
      const { content, nextOffset, totalBytes } = await daemon.request("context/recall", { sessionId, partId });
      const rest = nextOffset === undefined ? "" : `\n[the first ${nextOffset} of ${totalBytes} bytes; recall reads on from there by the id ${partId}]`;
      const text = `${label}, as it was earlier in this conversation:\n\n${content}${rest}`;
      return { type: "resource", resource: { uri: `sidecar:part/${partId}#${encoded(label)}`, text } };
    }),
  );
}
