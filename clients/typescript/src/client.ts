/** The daemon's methods, typed. */

import { pathToFileURL } from "node:url";
import { CancellationTokenSource, ConnectionError, ErrorCodes, type MessageConnection, ResponseError } from "vscode-jsonrpc/node";
import { Disconnected, SidecarError } from "./errors.js";
import type {
  CheckpointDiffParams,
  CheckpointRedoParams,
  CheckpointRestoreParams,
  ContextCompactParams,
  ContextRecallParams,
  DaemonNotifications,
  DaemonRequests,
  FactsListParams,
  ServerCapabilities,
  SessionImportParams,
  SessionListParams,
  SessionLoadParams,
  SessionNewParams,
  SessionPromptParams,
} from "./protocol.js";

type Requests = keyof DaemonRequests;
type Result<M extends Requests> = Promise<DaemonRequests[M]["result"]>;
type Rest<P, Given extends string = "sessionId"> = Omit<P, Given>;
type Blocks = SessionPromptParams["prompt"];
type Cancellable = { signal?: AbortSignal };

/**
 * A daemon that is running and initialized. All methods reject with `SidecarError`.
 *
 * `version` is the daemon's; `capabilities.features` names the methods that it has.
 */
export class Client {
  constructor(
    private readonly connection: MessageConnection,
    private readonly end: () => Promise<void>,
    readonly version: string,
    readonly capabilities: ServerCapabilities,
  ) {}

  /** Send any request; aborting the signal tells the daemon to stop it. */
  request<M extends Requests>(method: M, params: DaemonRequests[M]["params"], options?: Cancellable): Result<M>;
  request(method: string, params: object, options?: Cancellable): Promise<unknown>;
  async request(method: string, params: object, { signal }: Cancellable = {}): Promise<unknown> {
    const source = new CancellationTokenSource();
    const cancel = () => source.cancel();
    signal?.addEventListener("abort", cancel);
    if (signal?.aborted) source.cancel();
    try {
      return await this.connection.sendRequest(method, params, source.token);
    } catch (error) {
      throw ours(error);
    } finally {
      signal?.removeEventListener("abort", cancel);
      source.dispose();
    }
  }

  /** Send any notification. */
  notify<M extends keyof DaemonNotifications>(method: M, params: DaemonNotifications[M]["params"]): Promise<void>;
  notify(method: string, params: object): Promise<void>;
  async notify(method: string, params: object): Promise<void> {
    await this.connection.sendNotification(method, params).catch((error) => {
      throw ours(error);
    });
  }

  /** Shut the daemon down, and wait until it has ended. */
  close(): Promise<void> {
    return this.end();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end();
  }

  // --- sessions

  /** Open a new session in a folder; `tools` are those that this client runs. */
  newSession(cwd: string, rest: Rest<SessionNewParams, "cwd"> = {}): Result<"session/new"> {
    return this.request("session/new", { cwd, ...rest });
  }

  /** Open a stored session; its history comes as updates before the result, unless `replay` is false. */
  loadSession(sessionId: string, rest: Rest<SessionLoadParams> = {}): Result<"session/load"> {
    return this.request("session/load", { sessionId, replay: true, ...rest });
  }

  /** List sessions, newest first; `cursor` is `nextCursor` of the page before. */
  listSessions(params: SessionListParams = {}): Result<"session/list"> {
    return this.request("session/list", params);
  }

  /** Let go of a session; it stays stored. */
  async closeSession(sessionId: string): Promise<void> {
    await this.request("session/close", { sessionId });
  }

  /** Delete a session for good; `notes` say where it may be found nevertheless. */
  deleteSession(sessionId: string): Result<"session/delete"> {
    return this.request("session/delete", { sessionId });
  }

  /** Change an option of a session: model, policy, effort, autoCompact, autoContinue. */
  setConfigOption(sessionId: string, configId: string, value: string | boolean, rest: { expectedRevision?: number } = {}): Result<"session/set_config_option"> {
    return this.request("session/set_config_option", { sessionId, configId, value, ...rest });
  }

  // --- turns

  /** Run a turn and wait for its end; a failed one is a result too (`stopReason` is `error`). */
  prompt(
    sessionId: string,
    prompt: string | Blocks,
    { signal, ...rest }: Rest<SessionPromptParams, "sessionId" | "prompt"> & Cancellable = {},
  ): Result<"session/prompt"> {
    return this.request("session/prompt", { sessionId, prompt: blocks(prompt), ...rest }, signal ? { signal } : {});
  }

  /** Stop the running turn: its `prompt` gives `stopReason` `cancelled`. */
  cancel(sessionId: string): Promise<void> {
    return this.notify("session/cancel", { sessionId });
  }

  // --- looking

  /** Read a session's meter. */
  meter(sessionId: string): Result<"context/meter"> {
    return this.request("context/meter", { sessionId });
  }

  /** Take the context apart, piece by piece. */
  breakdown(sessionId: string): Result<"context/breakdown"> {
    return this.request("context/breakdown", { sessionId });
  }

  /** Read what was logged under an id; `offset` and `limit` are bytes of UTF-8. */
  recall(sessionId: string, partId: string, rest: Rest<ContextRecallParams, "sessionId" | "partId"> = {}): Result<"context/recall"> {
    return this.request("context/recall", { sessionId, partId, ...rest });
  }

  /** Show the provider's request as it would be sent, with this prompt or as it stands. */
  preview(sessionId: string, prompt?: string | Blocks): Result<"context/preview"> {
    return this.request("context/preview", { sessionId, ...(prompt !== undefined && { prompt: blocks(prompt) }) });
  }

  /** List what sessions have found out. */
  facts(params: FactsListParams = {}): Result<"facts/list"> {
    return this.request("facts/list", params);
  }

  /** Ask how the daemon is. */
  status(): Result<"daemon/status"> {
    return this.request("daemon/status", {});
  }

  // --- making room

  /** Make room now; a dry run only answers the plan, with `summary` its summary too (paid). */
  compact(sessionId: string, rest: Rest<ContextCompactParams> & Cancellable = {}): Result<"context/compact"> {
    const { signal, ...params } = rest;
    return this.request("context/compact", { sessionId, ...params }, signal ? { signal } : {});
  }

  /** Take a compaction back, the newest that stands if none is named. */
  undoCompaction(sessionId: string, compactionId?: string): Result<"context/undo_compaction"> {
    return this.request("context/undo_compaction", { sessionId, ...(compactionId !== undefined && { compactionId }) });
  }

  /** Keep a part through compactions, or no longer. */
  pin(sessionId: string, partId: string, pinned: boolean): Result<"context/pin"> {
    return this.request("context/pin", { sessionId, partId, pinned });
  }

  // --- going back, branching off

  /** List the states that a session can go back to, oldest first. */
  checkpointList(sessionId: string): Result<"checkpoint/list"> {
    return this.request("checkpoint/list", { sessionId });
  }

  /** Show what changed from one checkpoint to another, or until now; of one path or of all. */
  checkpointDiff(sessionId: string, from: string, rest: Rest<CheckpointDiffParams, "sessionId" | "from"> = {}): Result<"checkpoint/diff"> {
    return this.request("checkpoint/diff", { sessionId, from, ...rest });
  }

  /** Go back to a checkpoint, or to before a message; a dry run only answers the plan. */
  checkpointRestore(sessionId: string, rest: Rest<CheckpointRestoreParams, "sessionId" | "scope"> & Partial<Pick<CheckpointRestoreParams, "scope">>): Result<"checkpoint/restore"> {
    return this.request("checkpoint/restore", { sessionId, scope: "both", ...rest });
  }

  /** Take back a restore, by its `undoCheckpointId`, or the newest that stands. */
  checkpointRedo(sessionId: string, rest: Rest<CheckpointRedoParams> = {}): Result<"checkpoint/redo"> {
    return this.request("checkpoint/redo", { sessionId, ...rest });
  }

  /** Branch off after a message, or as the session is. */
  fork(sessionId: string, atMessageId?: string): Result<"session/fork"> {
    return this.request("session/fork", { sessionId, ...(atMessageId !== undefined && { atMessageId }) });
  }

  /** Draft the first prompt of a session that goes on with a goal; with `continue` open it. */
  handoff(sessionId: string, goal: string, rest: { continue?: boolean } = {}): Result<"session/handoff"> {
    return this.request("session/handoff", { sessionId, goal, ...rest });
  }

  /** Write a session to a file, or to one of its own in a folder or the data folder. */
  exportSession(sessionId: string, path?: string, rest: { overwrite?: boolean } = {}): Result<"session/export"> {
    return this.request("session/export", { sessionId, ...(path !== undefined && { path }), ...rest });
  }

  /** Put a session away, with those of its subtasks; `importSession` with the path brings each back. */
  archiveSession(sessionId: string): Result<"session/archive"> {
    return this.request("session/archive", { sessionId });
  }

  /** Make a session of a bundle or of another agent's recording, by its `path` or its `content`; `loadSession` opens it. */
  importSession(given: SessionImportParams): Result<"session/import"> {
    return this.request("session/import", given);
  }

  // --- unsaved buffers

  /** Show the daemon a buffer: its tools see this text instead of the file's. */
  openDocument(path: string, text: string, { language = "plaintext", version = 1 } = {}): Promise<void> {
    return this.notify("textDocument/didOpen", { textDocument: { uri: uri(path), languageId: language, version, text } });
  }

  /** Give a buffer's whole new text; `version` rises with each change. */
  changeDocument(path: string, text: string, version: number): Promise<void> {
    return this.notify("textDocument/didChange", { textDocument: { uri: uri(path), version }, contentChanges: [{ text }] });
  }

  /** Say that a buffer is closed: the file counts again. */
  closeDocument(path: string): Promise<void> {
    return this.notify("textDocument/didClose", { textDocument: { uri: uri(path) } });
  }
}

/** Give an error as callers know it. */
export function ours(error: unknown): unknown {
  const gone: number[] = [ErrorCodes.PendingResponseRejected, ErrorCodes.ConnectionInactive];
  if (error instanceof ConnectionError) return new Disconnected(error.message);
  if (!(error instanceof ResponseError)) return error;
  if (gone.includes(error.code)) return new Disconnected("the daemon ended: its stderr says why");
  const data = (error.data ?? {}) as Record<string, unknown>;
  return new SidecarError(error.code, String(data.kind ?? ""), error.message, data);
}

function blocks(prompt: string | Blocks): Blocks {
  return typeof prompt === "string" ? [{ type: "text", text: prompt }] : prompt;
}

function uri(path: string): string {
  return pathToFileURL(path).href;
}
