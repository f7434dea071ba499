/** What the views' pages and the extension say to each other. Pages know no other way out. */

import type {
  Checkpoint,
  ContextBreakdownResult,
  ContextCompactResult,
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
  /** What the session is called, unless it is the one that is shown. */
  session: string;
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

/** A piece of code that is to be written at the cursor, or that the agent is to work into a file. */
export type Block = { type: "insert"; text: string } | { type: "apply"; text: string; language: string };

/** An earlier message that is to be sent anew; `after` is the message before it, if there is one. */
export interface Edited extends Draft {
  messageId: string;
  after?: string;
}

/** A hunk, and its name in the file: one that changes is another, one that moves is not. */
export interface ReviewedHunk {
  text: string;
  name: string;
}

/** What is left of a turn's change to a file, as a restore's hunks, from now to before. */
export interface Reviewed {
  /** The checkpoint before the turn. */
  from: string;
  path: string;
  hunks: ReviewedHunk[];
  /** Why there are none. */
  told?: string;
  /** The restore that took the rest back; absent is as before, empty is none. */
  undo?: string;
}

/** Take back a file's change: all of it, these hunks, or what a restore did. */
export interface TakeBack {
  from: string;
  path: string;
  hunks?: string[];
  undo?: string;
}

/** A picture, its bytes in base64. */
export interface Picture {
  mimeType: string;
  data: string;
}

/** What of the editor goes along with a message: the file in front, the other open ones, the selection. */
export type ShownPart = "file" | "others" | "selection";
/** By part, a few words for a chip, and all that is meant. */
export type Shown = { [part in ShownPart]?: { label: string; said: string } };

/** What a message is made of. */
export interface Draft {
  text: string;
  pictures: Picture[];
  /** Earlier parts that go along whole, and digests of sessions. */
  recalled?: Recalled[];
}

/** A part of this session that is to be seen again, and what it is called; without `partId`, another session's digest. */
export interface Recalled {
  sessionId: string;
  partId?: string;
  label: string;
}

/** A session that can be named in a message. */
export interface FoundSession {
  sessionId: string;
  title: string;
  about: string;
}

/** A part that the model does not see whole, as the protocol presents it, and why. */
export interface Unseen {
  partId: string;
  presentation: string;
  reason?: string;
}

/** A function, a class, a heading: where it stands. */
export interface FoundSymbol {
  name: string;
  path: string;
  lines: [number, number];
}

/** What the chat remembers: the draft, what was sent lately in any session, what was reviewed and kept. */
export interface Kept extends Draft {
  sent: readonly string[];
  reviewed?: string[];
}

export type ToChat =
  /** Another session, or the same from its beginning: clear what is shown. */
  | { type: "session"; sessionId: string }
  | { type: "updates"; updates: SessionUpdate[] }
  /** The history was shown; what comes from now on is new. */
  | { type: "ready"; readOnly: boolean; model: string }
  | { type: "checkpoints"; checkpoints: Checkpoint[] }
  /** All parts that the model does not see whole. */
  | { type: "unseen"; parts: Unseen[] }
  | { type: "questions"; questions: Question[] }
  | { type: "busy"; busy: boolean }
  /** No turn began: what was typed goes back into the input. */
  | ({ type: "refused"; message: string } & Draft)
  | { type: "retrying"; retrying: SessionRetryingParams }
  | ({ type: "draft" } & Draft)
  | { type: "kept"; kept: Kept }
  | { type: "editor"; shown: Shown }
  | { type: "found"; query: string; files: string[]; symbols?: FoundSymbol[]; sessions?: FoundSession[] }
  /** Names of files, to be written where the caret is. */
  | { type: "mentions"; text: string }
  | { type: "meter"; meter: Meter }
  | { type: "reveal"; partId: string }
  | ({ type: "reviewed" } & Reviewed)
  | { type: "daemon"; state: string; message: string; trusted: boolean };

export type FromChat =
  | { type: "shown" }
  /** With `steer` it is for the turn that runs. */
  | ({ type: "send"; steer: boolean; without: ShownPart[] } & Draft)
  /** What is absent is as before. */
  | { type: "keep"; kept: Partial<Kept> }
  /** Files to complete a mention with. */
  | { type: "find"; query: string }
  /** Files that were dropped. */
  | { type: "mention"; uris: string[] }
  | { type: "cancel" }
  | { type: "answer"; id: number; optionId: string }
  /** The extension asks for words for the agent. */
  | { type: "reject"; id: number }
  | { type: "showQuestion"; id: number }
  | { type: "diff"; change: Change }
  | ({ type: "edit" } & Edited)
  | Block
  | { type: "review"; from: string; path: string }
  | ({ type: "takeBack" } & TakeBack)
  | { type: "open"; path: string; line?: number }
  | { type: "link"; href: string }
  | { type: "run"; command: Command; argument?: string };

/** Commands of the palette that a view has buttons or words for. */
export type Command =
  | "compact"
  | "export"
  | "fork"
  | "handoff"
  | "import"
  | "newSession"
  | "openSession"
  | "pin"
  | "redo"
  | "restart"
  | "rollBack"
  | "setApiKey"
  | "showContext"
  | "showLog"
  | "switchModel"
  | "switchPolicy"
  | "tour"
  | "trust"
  | "undoCompaction"
  | "unpin";

/** What a compaction is to keep: by words, and parts as they are. */
export interface Wish {
  instructions: string;
  keep: string[];
}

export type ToContext =
  | { type: "context"; breakdown: ContextBreakdownResult; checkpoints: Checkpoint[] }
  | { type: "none"; message: string }
  | { type: "recalled"; partId: string; piece: ContextRecallResult }
  | { type: "lost"; partId: string; message: string }
  /** Show what a compaction would do. */
  | { type: "preview"; instructions: string }
  | { type: "planned"; number: number; plan: ContextCompactResult }
  | { type: "unplanned"; number: number; message: string }
  | { type: "compacted" };

export type FromContext =
  | { type: "shown" }
  | { type: "recall"; partId: string; offset: number }
  | ({ type: "plan"; number: number } & Wish)
  /** Only while the context has this revision. */
  | ({ type: "compact"; number: number; revision?: number } & Wish)
  | { type: "run"; command: Command; argument?: string };
