/** What a client does for the daemon: its callbacks, as capabilities and as answers. */

import { type CancellationToken, ErrorCodes, type MessageConnection, ResponseError } from "vscode-jsonrpc/node";
import type {
  ClientCapabilities,
  FsReadTextFileParams,
  FsWriteTextFileParams,
  Meter,
  SessionRequestPermissionParams,
  SessionRequestPermissionResult,
  SessionUpdateParams,
  ToolCallParams,
  ToolCallResult,
} from "./protocol.js";

const CANCELLED = -32800;

/** Runs a tool on the model's input; gives `tool/call`'s result, or just its text. */
export type Tool = (input: unknown, signal: AbortSignal) => Promise<ToolCallResult | string>;

/** All that a client can do for the daemon; what is left out it does not do. */
export interface Callbacks {
  /** Run what `newSession` defines, by name. */
  tools?: Record<string, Tool>;
  /** Gives the id of an option, or undefined to dismiss the question. */
  onPermission?: (params: SessionRequestPermissionParams, signal: AbortSignal) => Promise<string | undefined>;
  onUpdate?: (params: SessionUpdateParams) => void;
  onMeter?: (meter: Meter) => void;
  /** Gets the notifications without a callback of their own. */
  onNotification?: (method: string, params: unknown) => void;
  readTextFile?: (params: FsReadTextFileParams) => Promise<string>;
  writeTextFile?: (params: FsWriteTextFileParams) => Promise<void>;
  /** Takes LSP's params and says whether it applied. */
  applyEdit?: (params: Record<string, unknown>) => Promise<boolean>;
}

/** Give the capabilities to announce in `initialize`. */
export function capabilities(callbacks: Callbacks): Record<string, unknown> {
  const ours: ClientCapabilities = {
    fs: { readTextFile: callbacks.readTextFile !== undefined, writeTextFile: callbacks.writeTextFile !== undefined },
    toolCall: Object.keys(callbacks.tools ?? {}).length > 0,
    requestPermission: callbacks.onPermission !== undefined,
  };
  return { workspace: { applyEdit: callbacks.applyEdit !== undefined }, experimental: { sidecar: ours } };
}

/** Answer the daemon's requests, and hand its notifications to their callbacks, in order. */
export function listen(connection: MessageConnection, callbacks: Callbacks): void {
  const { tools, onPermission, readTextFile, writeTextFile, applyEdit } = callbacks;
  const answer = <P, R>(method: string, act: (params: P, signal: AbortSignal) => Promise<R>) => {
    connection.onRequest(method, (params: P, token: CancellationToken): Promise<unknown> => {
      const aborted = new AbortController();
      token.onCancellationRequested(() => aborted.abort());
      return act(params, aborted.signal);
    });
  };
  if (tools && Object.keys(tools).length) answer("tool/call", (params: ToolCallParams, signal) => callTool(tools, params, signal));
  if (onPermission) {
    answer("session/request_permission", async (params: SessionRequestPermissionParams, signal): Promise<SessionRequestPermissionResult> => {
      const optionId = await onPermission(params, signal);
      return { outcome: optionId === undefined ? { outcome: "cancelled" } : { outcome: "selected", optionId } };
    });
  }
  if (readTextFile) answer("fs/read_text_file", async (params: FsReadTextFileParams) => ({ content: await readTextFile(params) }));
  if (writeTextFile) {
    answer("fs/write_text_file", async (params: FsWriteTextFileParams) => {
      await writeTextFile(params);
      return {};
    });
  }
  if (applyEdit) answer("workspace/applyEdit", async (params: Record<string, unknown>) => ({ applied: await applyEdit(params) }));
  connection.onRequest((method) => {
    throw new ResponseError(ErrorCodes.MethodNotFound, `this client does not answer ${method}`, { kind: "unknown_method" });
  });
  connection.onNotification((method, params) => notified(callbacks, method, params));
}

function notified(callbacks: Callbacks, method: string, params: unknown): void {
  if (method === "session/update" && callbacks.onUpdate) callbacks.onUpdate(params as SessionUpdateParams);
  else if (method === "context/meterChanged" && callbacks.onMeter) callbacks.onMeter(params as Meter);
  else callbacks.onNotification?.(method, params);
}

async function callTool(tools: Record<string, Tool>, { name, input }: ToolCallParams, signal: AbortSignal): Promise<ToolCallResult> {
  const tool = tools[name];
  if (!tool) throw new ResponseError(ErrorCodes.InvalidParams, `this client has no tool ${name}`, { kind: "bad_request" });
  try {
    const result = await tool(input, signal);
    return typeof result === "string" ? { content: [{ type: "text", text: result }] } : result;
  } catch (error) {
    if (signal.aborted) throw new ResponseError(CANCELLED, "the request was cancelled", { kind: "cancelled" });
    const text = `${name} failed: ${error instanceof Error ? error.message : error}`;
    return { content: [{ type: "text", text }], isError: true };
  }
}
