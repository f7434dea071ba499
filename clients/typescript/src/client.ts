/** A daemon that is running: any request to it, and its methods by the names of the protocol. */

import { CancellationTokenSource, ConnectionError, ErrorCodes, type MessageConnection, ResponseError } from "vscode-jsonrpc/node";
import { CheckpointCalls, ContextCalls, DaemonCalls, DocumentCalls, FactCalls, SessionCalls } from "./calls.js";
import { Disconnected, SidecarError } from "./errors.js";
import type { DaemonNotifications, DaemonRequests, ServerCapabilities } from "./protocol.js";

type Requests = keyof DaemonRequests;
type Result<M extends Requests> = Promise<DaemonRequests[M]["result"]>;
export type Cancellable = { signal?: AbortSignal };

/**
 * A daemon that is running and initialized. All methods reject with `SidecarError`.
 *
 * The protocol's `session/new` is `session.new`, and so on; `document` has the unsaved buffers.
 * `version` is the daemon's; `capabilities.features` names the methods that it has.
 */
export class Client {
  readonly session = new SessionCalls(this);
  readonly context = new ContextCalls(this);
  readonly checkpoint = new CheckpointCalls(this);
  readonly facts = new FactCalls(this);
  readonly daemon = new DaemonCalls(this);
  readonly document = new DocumentCalls(this);

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
