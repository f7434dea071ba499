/** What the views' pages and the extension say to each other. Pages know no other way out. */

import type {
  Checkpoint,
  ContextBreakdownResult,
  ContextRecallResult,
  Meter,
  PermissionOption,
  PermissionToolCall,
  SessionRetryingParams,
  SessionUpdate,
} from "sidecar-protocol";

/** A question that waits for an answer; `id` is the extension's own. */
export interface Question {
  id: number;
  toolCall: PermissionToolCall;
  options: PermissionOption[];
}

/** A change of a file, to be opened as a diff. Without `diff` it is asked for. */
export interface Change {
  path: string;
  /** Unified, as the tool gave it. */
  diff?: string;
  /** The checkpoints before and after it, as far as they are known. */
  from?: string;
  to?: string;
}

export type ToChat =
  /** Another session, or the same from its beginning: clear what is shown. */
  | { type: "session"; sessionId: string }
  | { type: "updates"; updates: SessionUpdate[] }
  /** The history was shown; what comes from now on is new. */
  | { type: "ready"; readOnly: boolean; model: string }
  | { type: "checkpoints"; checkpoints: Checkpoint[] }
  | { type: "questions"; questions: Question[] }
  | { type: "busy"; busy: boolean }
  /** No turn began: what was typed goes back into the input. */
  | { type: "refused"; text: string; message: string }
  | { type: "retrying"; retrying: SessionRetryingParams }
  | { type: "draft"; text: string }
  | { type: "meter"; meter: Meter }
  | { type: "daemon"; state: string; message: string };

export type FromChat =
  | { type: "shown" }
  /** With `steer` it is for the turn that runs. */
  | { type: "send"; text: string; steer: boolean }
  | { type: "cancel" }
  | { type: "answer"; id: number; optionId: string }
  | { type: "diff"; change: Change }
  | { type: "open"; path: string; line?: number }
  | { type: "link"; href: string }
  | { type: "run"; command: Command; argument?: string };

/** Commands of the palette that a view has buttons for. */
export type Command = "compact" | "pin" | "restart" | "rollBack" | "showContext" | "showLog" | "switchModel" | "undoCompaction" | "unpin";

export type ToContext =
  | { type: "context"; breakdown: ContextBreakdownResult; checkpoints: Checkpoint[] }
  | { type: "none"; message: string }
  | { type: "recalled"; partId: string; piece: ContextRecallResult }
  | { type: "lost"; partId: string; message: string };

export type FromContext =
  | { type: "shown" }
  | { type: "recall"; partId: string; offset: number }
  | { type: "run"; command: Command; argument?: string };
