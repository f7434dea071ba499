/** The daemon's methods, typed, by the names of the protocol. */

import { pathToFileURL } from "node:url";
import type { Cancellable, Client } from "./client.js";
import type {
  CheckpointDiffParams,
  CheckpointRedoParams,
  CheckpointRestoreParams,
  ContextCompactParams,
  ContextRecallParams,
  DaemonRequests,
  FactsListParams,
  SessionFindFilesParams,
  SessionImportParams,
  SessionListRemoteParams,
  SessionListParams,
  SessionLoadParams,
  SessionNewParams,
  SessionPromptParams,
  SessionSearchParams,
  SessionSyncParams,
} from "./protocol.js";

type Requests = keyof DaemonRequests;
type Result<M extends Requests> = Promise<DaemonRequests[M]["result"]>;
type Rest<P, Given extends string = "sessionId"> = Omit<P, Given>;
type Blocks = SessionPromptParams["prompt"];

/** The methods of sessions. */
export class SessionCalls {
  constructor(private readonly client: Client) {}

  /** Open a new session in a folder; `tools` are those that this client runs. */
  new(cwd: string, rest: Rest<SessionNewParams, "cwd"> = {}): Result<"session/new"> {
    return this.client.request("session/new", { cwd, ...rest });
  }

  /** Open a stored session; its history comes as updates before the result, unless `replay` is false. */
  load(sessionId: string, rest: Rest<SessionLoadParams> = {}): Result<"session/load"> {
    return this.client.request("session/load", { sessionId, replay: true, ...rest });
  }

  /** List sessions, newest first; `cursor` is `nextCursor` of the page before. */
  list(params: SessionListParams = {}): Result<"session/list"> {
    return this.client.request("session/list", params);
  }

  /** Find words in the texts of all sessions, newest first; with `nextCursor` some were not read yet. */
  search(query: string, { signal, ...rest }: Rest<SessionSearchParams, "query"> & Cancellable = {}): Result<"session/search"> {
    return this.client.request("session/search", { query, ...rest }, signal ? { signal } : {});
  }

  /** Give a session another title. */
  rename(sessionId: string, title: string): Result<"session/rename"> {
    return this.client.request("session/rename", { sessionId, title });
  }

  /** Let go of a session; it stays stored. */
  async close(sessionId: string): Promise<void> {
    await this.client.request("session/close", { sessionId });
  }

  /** Delete a session for good; `notes` say where it may be found nevertheless. */
  delete(sessionId: string): Result<"session/delete"> {
    return this.client.request("session/delete", { sessionId });
  }

  /** Change an option of a session: model, policy, effort, autoCompact, autoContinue. */
  setConfigOption(sessionId: string, configId: string, value: string | boolean, rest: { expectedRevision?: number } = {}): Result<"session/set_config_option"> {
    return this.client.request("session/set_config_option", { sessionId, configId, value, ...rest });
  }

  /** Run a turn and wait for its end; a failed one is a result too (`stopReason` is `error`). */
  prompt(
    sessionId: string,
    prompt: string | Blocks,
    { signal, ...rest }: Rest<SessionPromptParams, "sessionId" | "prompt"> & Cancellable = {},
  ): Result<"session/prompt"> {
    return this.client.request("session/prompt", { sessionId, prompt: blocks(prompt), ...rest }, signal ? { signal } : {});
  }

  /** Stop the running turn: its `prompt` gives `stopReason` `cancelled`. */
  cancel(sessionId: string): Promise<void> {
    return this.client.notify("session/cancel", { sessionId });
  }

  /** Find files of the session's folder by a few letters of their paths. */
  findFiles(sessionId: string, query: string, { signal, ...rest }: Rest<SessionFindFilesParams, "sessionId" | "query"> & Cancellable = {}): Result<"session/findFiles"> {
    return this.client.request("session/findFiles", { sessionId, query, ...rest }, signal ? { signal } : {});
  }

  /** Branch off after a message, or as the session is. */
  fork(sessionId: string, atMessageId?: string): Result<"session/fork"> {
    return this.client.request("session/fork", { sessionId, ...(atMessageId !== undefined && { atMessageId }) });
  }

  /** Draft the first prompt of a session that goes on with a goal; with `continue` open it. */
  handoff(sessionId: string, goal: string, rest: { continue?: boolean } = {}): Result<"session/handoff"> {
    return this.client.request("session/handoff", { sessionId, goal, ...rest });
  }

  /** Write a session to a file, or to one of its own in a folder or the data folder. */
  export(sessionId: string, path?: string, rest: { overwrite?: boolean } = {}): Result<"session/export"> {
    return this.client.request("session/export", { sessionId, ...(path !== undefined && { path }), ...rest });
  }

  /** Put a session away, with those of its subtasks; `import` with the path brings each back. */
  archive(sessionId: string): Result<"session/archive"> {
    return this.client.request("session/archive", { sessionId });
  }

  /** Make a session of a bundle or of another agent's recording, by its `path` or its `content`; `load` opens it. */
  import(given: SessionImportParams): Result<"session/import"> {
    return this.client.request("session/import", given);
  }

  /** Bring a folder's sessions and a git remote's together; nothing is sent until `agree` repeats the result's `remote`. */
  sync(given: SessionSyncParams = {}): Result<"session/sync"> {
    return this.client.request("session/sync", given);
  }

  /** List the sessions that lie on a git remote, newest first; `sync` with `open` takes them in. */
  listRemote(given: SessionListRemoteParams = {}): Result<"session/listRemote"> {
    return this.client.request("session/listRemote", given);
  }
}

/** The methods of a session's context. */
export class ContextCalls {
  constructor(private readonly client: Client) {}

  /** Read a session's meter. */
  meter(sessionId: string): Result<"context/meter"> {
    return this.client.request("context/meter", { sessionId });
  }

  /** Take the context apart, piece by piece. */
  breakdown(sessionId: string): Result<"context/breakdown"> {
    return this.client.request("context/breakdown", { sessionId });
  }

  /** Read what was logged under an id; `offset` and `limit` are bytes of UTF-8. */
  recall(sessionId: string, partId: string, rest: Rest<ContextRecallParams, "sessionId" | "partId"> = {}): Result<"context/recall"> {
    return this.client.request("context/recall", { sessionId, partId, ...rest });
  }

  /** Show the provider's request as it would be sent, with this prompt or as it stands. */
  preview(sessionId: string, prompt?: string | Blocks): Result<"context/preview"> {
    return this.client.request("context/preview", { sessionId, ...(prompt !== undefined && { prompt: blocks(prompt) }) });
  }

  /** Make room now, and leave parts of `keep`; a dry run only answers the plan, with `summary` its summary too (paid). */
  compact(sessionId: string, rest: Rest<ContextCompactParams> & Cancellable = {}): Result<"context/compact"> {
    const { signal, ...params } = rest;
    return this.client.request("context/compact", { sessionId, ...params }, signal ? { signal } : {});
  }

  /** Take a compaction back, the newest that stands if none is named. */
  undoCompaction(sessionId: string, compactionId?: string): Result<"context/undoCompaction"> {
    return this.client.request("context/undoCompaction", { sessionId, ...(compactionId !== undefined && { compactionId }) });
  }

  /** Keep a part through compactions, or no longer. */
  pin(sessionId: string, partId: string, pinned: boolean): Result<"context/pin"> {
    return this.client.request("context/pin", { sessionId, partId, pinned });
  }
}

/** The methods of a session's checkpoints. */
export class CheckpointCalls {
  constructor(private readonly client: Client) {}

  /** List the states that a session can go back to, oldest first. */
  list(sessionId: string): Result<"checkpoint/list"> {
    return this.client.request("checkpoint/list", { sessionId });
  }

  /** Show what changed from one checkpoint to another, or until now; of one path or of all. */
  diff(sessionId: string, from: string, rest: Rest<CheckpointDiffParams, "sessionId" | "from"> = {}): Result<"checkpoint/diff"> {
    return this.client.request("checkpoint/diff", { sessionId, from, ...rest });
  }

  /** Go back to a checkpoint, or to before a message; a dry run only answers the plan. */
  restore(sessionId: string, rest: Rest<CheckpointRestoreParams, "sessionId">): Result<"checkpoint/restore"> {
    return this.client.request("checkpoint/restore", { sessionId, scope: "both", ...rest });
  }

  /** Take back a restore, by its `undoCheckpointId`, or the newest that stands. */
  redo(sessionId: string, rest: Rest<CheckpointRedoParams> = {}): Result<"checkpoint/redo"> {
    return this.client.request("checkpoint/redo", { sessionId, ...rest });
  }
}

/** The methods of what sessions found out. */
export class FactCalls {
  constructor(private readonly client: Client) {}

  /** List what sessions have found out. */
  list(params: FactsListParams = {}): Result<"facts/list"> {
    return this.client.request("facts/list", params);
  }
}

/** The methods of the daemon itself. */
export class DaemonCalls {
  constructor(private readonly client: Client) {}

  /** Ask how the daemon is. */
  status(): Result<"daemon/status"> {
    return this.client.request("daemon/status", {});
  }
}

/** LSP's notifications of open documents. */
export class DocumentCalls {
  constructor(private readonly client: Client) {}

  /** Show the daemon a buffer: its tools see this text instead of the file's. */
  open(path: string, text: string, { language = "plaintext", version = 1 } = {}): Promise<void> {
    return this.client.notify("textDocument/didOpen", { textDocument: { uri: uri(path), languageId: language, version, text } });
  }

  /** Give a buffer's whole new text; `version` rises with each change. */
  change(path: string, text: string, version: number): Promise<void> {
    return this.client.notify("textDocument/didChange", { textDocument: { uri: uri(path), version }, contentChanges: [{ text }] });
  }

  /** Say that a buffer is closed: the file counts again. */
  close(path: string): Promise<void> {
    return this.client.notify("textDocument/didClose", { textDocument: { uri: uri(path) } });
  }
}

function blocks(prompt: string | Blocks): Blocks {
  return typeof prompt === "string" ? [{ type: "text", text: prompt }] : prompt;
}

function uri(path: string): string {
  return pathToFileURL(path).href;
}
