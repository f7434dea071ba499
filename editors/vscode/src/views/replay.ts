/** Makes one history of what came while a session was opened: what was replayed, and what went on meanwhile. */

import type { SessionUpdate, UpdateOrigin } from "sidecar-protocol";

/**
 * Give the updates with each part once, as far as it is known.
 *
 * A replay sends a part's text whole. What streamed before that is its end, and what streams after it goes on.
 */
export function joined(updates: readonly SessionUpdate[]): SessionUpdate[] {
  const found: (SessionUpdate | undefined)[] = [];
  const places = new Map<string, number[]>();
  for (const update of updates) {
    const { partId } = (update._meta?.["sidecar"] ?? {}) as Partial<UpdateOrigin>;
    const before = partId === undefined ? [] : (places.get(partId) ?? []);
    const [first = -1] = before;
    const text = textOf(update);
    const shown = textOf(found[first]);
    if (text !== undefined && shown !== undefined && !text.endsWith(shown)) {
      found[first] = { ...update, content: { ...(update as { content: object }).content, text: shown + text } } as SessionUpdate;
      continue;
    }
    const whole = update.sessionUpdate === "tool_call" || (text !== undefined && shown !== undefined);
    if (whole) for (const place of before) found[place] = undefined;
    if (partId !== undefined) places.set(partId, whole ? [found.length] : [...before, found.length]);
    found.push(update);
  }
  return found.filter((update) => update !== undefined);
}

function textOf(update: SessionUpdate | undefined): string | undefined {
  if (!update?.sessionUpdate.endsWith("_chunk")) return undefined;
  const { text } = (update as { content: { text?: unknown } }).content;
  return typeof text === "string" ? text : undefined;
}
