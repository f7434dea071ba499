// GENERATED from protocol/source by protocol/generate.py -- DO NOT EDIT

export const PROTOCOL_VERSION = 1;

// --- The meter: contents of the context window, cost, and time left.

export type Zone = "green" | "yellow" | "orange" | "red" | (string & {});

export type Accuracy = "exact" | "estimated" | (string & {});

/** Tokens by origin; the sum is the meter's `used`. */
export interface Regions {
  system: number;
  tools: number;
  instructions: number;
  learned: number;
  summary: number;
  ledger: number;
  user: number;
  assistant: number;
  reasoning: number;
  toolResults: number;
  context: number;
}

/** The newest request not served by the provider's cache: first segment missed, and reason. */
export interface CacheBreak {
  segment: string;
  reason: string;
}

/**
 * Whether the provider still holds the prefix; `hitRate` is of the last response, 0 to 1.
 *
 * `expiresAt` is left out where nobody knows how long the provider keeps it.
 */
export interface CacheState {
  warm: boolean;
  hitRate: number;
  expiresAt?: string;
  lastBreak?: CacheBreak;
}

/** USD as decimal strings; null where the model's price is unknown. */
export interface Costs {
  session: string | null;
  lastTurn: string | null;
  nextRequest: string | null;
  compactNow: string | null;
}

/**
 * Tokens of the window. `percent` is `used / (window - reservedOutput)` in per cent.
 *
 * `reason` explains the numbers' source. `compactAt`: size at which the policy must rewrite.
 * `velocity`: tokens a turn; `spike`: the last turn added three times the usual; `burnRate`: USD
 * an hour over five turns; `overSoftLimit`: regions above 80 per cent of their room.
 * `turnsUntilCompaction` is null without growth. `toolsByServer`: tool tokens by MCP server.
 */
export interface Meter {
  sessionId: string;
  revision: number;
  window: number;
  used: number;
  reservedOutput: number;
  free: number;
  compactAt: number;
  percent: number;
  zone: Zone;
  accuracy: Accuracy;
  reason: string;
  velocity: number;
  spike: boolean;
  burnRate: string | null;
  overSoftLimit: string[];
  turnsUntilCompaction: number | null;
  regions: Regions;
  toolsByServer: Record<string, number>;
  cache: CacheState;
  cost: Costs;
}

/** Read a session's meter. */
export interface ContextMeterParams {
  sessionId: string;
}

// --- Sessions: opening, listing, options, prompts.

export type ToolKind = "read" | "edit" | "search" | "execute" | "other";

export type StopReason = "end_turn" | "max_tokens" | "max_turn_requests" | "refusal" | "cancelled" | "blocked" | "error" | (string & {});

/** An object without fields, to confirm success. */
export type Empty = Record<string, never>;

/**
 * A tool run by the client. `inputSchema` is JSON Schema; `outputLimit` is in bytes.
 *
 * Calls are asked about where `kind` is `edit` or `execute`, the default unless `readOnly`.
 */
export interface ToolDefinition {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
  kind?: ToolKind;
  readOnly?: boolean;
  outputLimit?: number;
  protectedFromPruning?: boolean;
}

/** A possible value of an option. */
export interface ConfigOptionValue {
  value: string;
  name: string;
  description?: string;
}

/** A setting of a session, in ACP's shape: current and possible values. */
export interface ConfigOption {
  id: string;
  name: string;
  type: "select" | "boolean" | (string & {});
  currentValue: string | boolean;
  options?: ConfigOptionValue[];
  category?: string;
  description?: string;
}

/**
 * Open a session in a folder; absent fields come from the configuration.
 *
 * `window` and `maxTokens` are tokens; the window must exceed the room for an answer, 32,000
 * unless `maxTokens` is given. `builtinTools: false` leaves only the client's tools. `from`:
 * session to continue.
 */
export interface SessionNewParams {
  cwd: string;
  title?: string;
  agent?: string;
  model?: string;
  policy?: string;
  window?: number;
  maxTokens?: number;
  tools?: ToolDefinition[];
  builtinTools?: boolean;
  system?: string;
  mcpServers?: Array<Record<string, unknown>>;
  from?: string;
}

/** The new session, already stored. */
export interface SessionNewResult {
  sessionId: string;
  revision: number;
  configOptions: ConfigOption[];
}

/** List sessions of a folder, or all. `cursor` is `nextCursor` of the last page. */
export interface SessionListParams {
  cwd?: string;
  cursor?: string;
  limit?: number;
}

/**
 * A line of the session list. `updatedAt` is ISO 8601 UTC; `cost` is null when unknown.
 *
 * `parent` is the session forked from, continued, or served as a subtask, and may be deleted. A
 * subtask's cost counts in its parent's too.
 */
export interface SessionInfo {
  sessionId: string;
  title: string;
  cwd: string;
  updatedAt: string;
  turns: number;
  cost: string | null;
  parent?: string;
}

/** One page of sessions, newest first; the last without `nextCursor`. */
export interface SessionListResult {
  sessions: SessionInfo[];
  nextCursor?: string;
}

/**
 * Load a stored session. With `replay` its history comes first, after part `after`.
 *
 * The replay repeats updates: each part whole, ends of turns, compactions, notices. `mcpServers`
 * are started for the session's original tools.
 */
export interface SessionLoadParams {
  sessionId: string;
  cwd?: string;
  replay?: boolean;
  after?: string;
  mcpServers?: Array<Record<string, unknown>>;
}

/** The session's current state. `readOnly`: another daemon writes the session. */
export interface SessionLoadResult {
  sessionId: string;
  revision: number;
  readOnly: boolean;
  configOptions?: ConfigOption[];
}

/** Close a session, which stays stored. */
export interface SessionCloseParams {
  sessionId: string;
}

/**
 * Delete a session for good.
 *
 * While a turn runs or waits, refused with -32602 unless `force` cancels it first. Written by
 * another window, refused with -32011 in any case.
 */
export interface SessionDeleteParams {
  sessionId: string;
  force?: boolean;
}

/** The session is deleted; `notes` name places, in sentences, where copies may remain. */
export interface SessionDeleteResult {
  notes?: string[];
}

/** A session's new title, of 1 to 200 characters; it counts as used when before. */
export interface SessionRenameParams {
  sessionId: string;
  title: string;
}

/** The title as it is kept, on one line; who has the session open gets it as an update. */
export interface SessionRenameResult {
  title: string;
}

/**
 * Search titles, messages, thinking, calls and their shown results of all sessions.
 *
 * All words of `query` must stand in one text, in letters of either size and in any order; words
 * in double quotes stand together. `cwd`: sessions of this folder alone. `limit`: sessions found,
 * 20 when absent, at most 100. `cursor` is `nextCursor` of the last page.
 */
export interface SessionSearchParams {
  query: string;
  cwd?: string;
  cursor?: string;
  limit?: number;
}

/**
 * A match and what stands around it, in one line; a title's has no ids.
 *
 * `context/recall` with `partId` gives the whole text.
 */
export interface SearchHit {
  speaker: "title" | "user" | "agent" | "thinking" | "tool" | "file" | (string & {});
  before: string;
  match: string;
  after: string;
  messageId?: string;
  partId?: string;
}

/** A session and its newest matches, at most five; `more`: there are, or may be, others. */
export interface FoundSession {
  session: SessionInfo;
  hits: SearchHit[];
  more: boolean;
}

/**
 * What was found in two seconds, in the newest sessions first.
 *
 * With `nextCursor` not all sessions were read, whether or not any was found.
 */
export interface SessionSearchResult {
  sessions: FoundSession[];
  nextCursor?: string;
}

/** An option's new value: model, policy, effort, autoCompact, autoContinue. */
export interface SessionSetConfigOptionParams {
  sessionId: string;
  configId: string;
  value: unknown;
  expectedRevision?: number;
}

/** All options with their current values. */
export interface SessionSetConfigOptionResult {
  configOptions: ConfigOption[];
}

/**
 * Run a turn. `prompt` has ACP's content blocks: text, image, resource, resource_link.
 *
 * A link to `sidecar:session/ID` becomes a digest of that session.
 *
 * `context` is the editor's state: `{selection?, openFiles?, diagnostics?}`. `steer` adds the text
 * to the running turn at its next step instead of starting a turn.
 */
export interface SessionPromptParams {
  sessionId: string;
  prompt: Array<Record<string, unknown>>;
  context?: Record<string, unknown>;
  steer?: boolean;
  expectedRevision?: number;
}

/**
 * Find files of the session's folder by letters of their paths, in order, not all together.
 *
 * An empty query gives the topmost files. `limit` is 50 when absent, at most 500.
 */
export interface SessionFindFilesParams {
  sessionId: string;
  query: string;
  limit?: number;
}

/**
 * Paths relative to `cwd`, the best matches first, without ignored files.
 *
 * `partial`: the folder is too large for a look at all of its files.
 */
export interface SessionFindFilesResult {
  files: string[];
  partial: boolean;
}

/** Tokens of all model requests of a turn; `thoughtTokens` is a share of `outputTokens`. */
export interface Usage {
  inputTokens: number;
  outputTokens: number;
  cachedReadTokens: number;
  cachedWriteTokens: number;
  thoughtTokens: number;
  totalTokens: number;
  requests: number;
}

/** A turn's failure; `code` and `kind` as in the table of errors, `status` is HTTP's. */
export interface TurnError {
  code: number;
  kind: string;
  message: string;
  retryable: boolean;
  status?: number | null;
}

/** A turn's end, also of a failed turn. `messageId` is the typed message, `cost` in USD. */
export interface SessionPromptResult {
  stopReason: StopReason;
  turnId: string;
  messageId: string;
  revision: number;
  usage: Usage;
  cost: string | null;
  meter: Meter;
  error?: TurnError;
}

/** End the running turn and waiting prompts as `cancelled`. */
export interface SessionCancelParams {
  sessionId: string;
}

// --- `session/update`: events of a session as they happen. Kinds and fields are ACP's.

export type ToolCallKind = "read" | "edit" | "delete" | "move" | "search" | "execute" | "think" | "fetch" | "other" | (string & {});

export type ToolCallStatus = "pending" | "in_progress" | "completed" | "failed" | (string & {});

export type PlanStatus = "pending" | "in_progress" | "completed" | (string & {});

export type PlanPriority = "high" | "medium" | "low" | (string & {});

export type NoticeLevel = "info" | "warning" | "error" | (string & {});

export type CompactionStatus = "completed" | "failed" | "undone" | (string & {});

export type CompactionCause = "user" | "budget" | "cold" | "pays" | "overflow" | "idle" | "instructions" | "model" | "tools" | "restore" | "undo" | (string & {});

/**
 * `_meta.sidecar` of an update. `seq` rises strictly per session.
 *
 * `inputDelta` and `outputDelta` extend a call's input or output while streaming. `metadata` is
 * the tool's extra information (`exitCode`, `diff`), for people. `discards` names parts withdrawn
 * because their step is retried.
 */
export interface UpdateOrigin {
  seq: number;
  partId?: string;
  messageId?: string;
  turnId?: string;
  inputDelta?: string;
  outputDelta?: string;
  metadata?: Record<string, unknown>;
  discards?: string[];
}

/** More of the user's message: one content block. */
export interface UserMessageChunk {
  sessionUpdate: "user_message_chunk";
  content: Record<string, unknown>;
  _meta?: Record<string, unknown>;
}

/** More of the model's answer: one content block. */
export interface AgentMessageChunk {
  sessionUpdate: "agent_message_chunk";
  content: Record<string, unknown>;
  _meta?: Record<string, unknown>;
}

/** More of the model's thinking: one content block. */
export interface AgentThoughtChunk {
  sessionUpdate: "agent_thought_chunk";
  content: Record<string, unknown>;
  _meta?: Record<string, unknown>;
}

/** A file read or changed by a call; `line` counts from 1. */
export interface ToolCallLocation {
  path: string;
  line?: number;
}

/** A tool call appeared. `content` is ACP's tool call content; `rawInput` is the model's. */
export interface ToolCallStarted {
  sessionUpdate: "tool_call";
  toolCallId: string;
  title: string;
  kind?: ToolCallKind;
  status?: ToolCallStatus;
  content?: Array<Record<string, unknown>>;
  locations?: ToolCallLocation[];
  rawInput?: unknown;
  rawOutput?: unknown;
  _meta?: Record<string, unknown>;
}

/** A tool call changed; absent fields are unchanged, lists are replaced whole. */
export interface ToolCallChanged {
  sessionUpdate: "tool_call_update";
  toolCallId: string;
  title?: string;
  kind?: ToolCallKind;
  status?: ToolCallStatus;
  content?: Array<Record<string, unknown>>;
  locations?: ToolCallLocation[];
  rawInput?: unknown;
  rawOutput?: unknown;
  _meta?: Record<string, unknown>;
}

/** An item of the todo list. */
export interface PlanEntry {
  content: string;
  priority: PlanPriority;
  status: PlanStatus;
}

/** The whole todo list. */
export interface PlanChanged {
  sessionUpdate: "plan";
  entries: PlanEntry[];
  _meta?: Record<string, unknown>;
}

/** The session's cost so far, in ACP's shape; the meter's decimal strings are exact. */
export interface UsageCost {
  amount: number;
  currency: string;
}

/** Tokens in the context and its size; the rest of the meter is in `_meta.sidecar`. */
export interface UsageChanged {
  sessionUpdate: "usage_update";
  used: number;
  size: number;
  cost?: UsageCost;
  _meta?: Record<string, unknown>;
}

/** The session's title or time changed. */
export interface SessionInfoChanged {
  sessionUpdate: "session_info_update";
  title?: string;
  updatedAt?: string;
  _meta?: Record<string, unknown>;
}

/** A slash command; `input` is `{hint}` if text may follow. */
export interface AvailableCommand {
  name: string;
  description: string;
  input?: Record<string, unknown>;
}

/** All current slash commands. */
export interface AvailableCommandsChanged {
  sessionUpdate: "available_commands_update";
  availableCommands: AvailableCommand[];
  _meta?: Record<string, unknown>;
}

/** All current config options. */
export interface ConfigOptionsChanged {
  sessionUpdate: "config_option_update";
  configOptions: ConfigOption[];
  _meta?: Record<string, unknown>;
}

/**
 * A turn ended: its outcome, for all clients watching or loading the session.
 *
 * ACP has no such update; there only the sender of the prompt gets the outcome, as the answer.
 */
export interface TurnEnded {
  sessionUpdate: "turn_ended";
  turnId: string;
  messageId: string;
  stopReason: StopReason;
  usage: Usage;
  cost: string | null;
  error?: TurnError;
  _meta?: Record<string, unknown>;
}

/** The cached prefix was rewritten, or a rewrite failed; nothing else rewrites. `price`: USD. */
export interface CompactionChanged {
  sessionUpdate: "compaction_update";
  compactionId: string;
  status: CompactionStatus;
  cause: CompactionCause;
  tokensBefore: number;
  tokensAfter: number;
  price: string | null;
  summaryPartId?: string;
  _meta?: Record<string, unknown>;
}

/** A message for a person. */
export interface Notice {
  sessionUpdate: "notice";
  level: NoticeLevel;
  message: string;
  _meta?: Record<string, unknown>;
}

export type SessionUpdate = UserMessageChunk | AgentMessageChunk | AgentThoughtChunk | ToolCallStarted | ToolCallChanged | PlanChanged | UsageChanged | SessionInfoChanged | AvailableCommandsChanged | ConfigOptionsChanged | TurnEnded | CompactionChanged | Notice;

/** One update of one session. */
export interface SessionUpdateParams {
  sessionId: string;
  update: SessionUpdate;
}

// --- Starting the daemon, its state, and its other notifications.

export type ChangeCause = "turn_started" | "step" | "tools" | "turn_ended" | "option" | (string & {});

/** The provider's name, address and key. */
export interface ProviderOptions {
  name?: string;
  baseUrl?: string;
  apiKey?: string;
}

/**
 * Rules to allow or reject calls unasked: `TOOL`, `TOOL:PATTERN` or `shell@FOLDER:COMMAND`.
 *
 * See `docs/reference/permissions.md`.
 */
export interface PermissionRules {
  allow?: string[];
  reject?: string[];
}

/**
 * `initializationOptions` of `initialize`; over ACP `_meta.sidecar`. All are optional.
 *
 * `config` has any other of `docs/reference/settings.md`, as in a file:
 * `{retry: {totalMs: 60000}}`.
 */
export interface InitializationOptions {
  model?: string;
  policy?: string;
  window?: number;
  maxTokens?: number;
  provider?: ProviderOptions;
  dataDir?: string;
  workspaceTrusted?: boolean;
  agent?: string;
  config?: Record<string, unknown>;
  permissions?: PermissionRules;
  mcpServers?: Record<string, Record<string, unknown>>;
  providers?: Record<string, Record<string, unknown>>;
}

/** Whether the client reads and writes files for the daemon. */
export interface FileCapabilities {
  readTextFile?: boolean;
  writeTextFile?: boolean;
}

/**
 * `capabilities.experimental.sidecar` of an editor's `initialize`; ACP has the same `fs`.
 *
 * Nothing else is requested: without `requestPermission`, calls in need of permission are refused;
 * without `toolCall`, tools of the client fail, each with the reason. ACP clients always answer
 * questions, and announce `toolCall` in their `_meta.sidecar`. `workspace/applyEdit` is announced
 * as in LSP.
 */
export interface ClientCapabilities {
  fs?: FileCapabilities;
  toolCall?: boolean;
  requestPermission?: boolean;
}

/** `capabilities.experimental.sidecar` of the daemon's answer to `initialize`. */
export interface ServerCapabilities {
  protocolVersion: number;
  features: string[];
}

/** Ask for the daemon's state, without params. */
export type DaemonStatusParams = Record<string, never>;

/** A session open in this daemon. */
export interface OpenSession {
  sessionId: string;
  revision: number;
  busy: boolean;
}

/**
 * The daemon's state. Inner objects are for people; null means absent (so far).
 *
 * `settings` lists all settings changed from their default, by name: value (keys hidden), layer
 * (user, workspace, environment, client) and place, and whether `pending` until a restart.
 */
export interface DaemonStatusResult {
  version: string;
  pid: number;
  uptimeMs: number;
  sessions: OpenSession[];
  store: Record<string, unknown> | null;
  watcher: Record<string, unknown> | null;
  model: Record<string, unknown> | null;
  mcp: Array<Record<string, unknown>>;
  metrics: Record<string, unknown>;
  alerts: Array<Record<string, unknown>>;
  settings?: Record<string, unknown>;
}

/** The daemon became busy or idle, or failed; `message` is for a status bar. */
export interface DaemonStatusChangedParams {
  busy: boolean;
  kind: "idle" | "working" | "error" | (string & {});
  message: string;
}

/**
 * A value crossed a threshold (`raised`) or came back (`cleared`); each is sent once.
 *
 * `name` is the threshold's setting under `alerts`, which also sets the unit of `value`. `action`
 * is advice. Without `sessionId` the alert is about all sessions of the daemon.
 */
export interface DaemonAlertParams {
  state: "raised" | "cleared" | (string & {});
  name: "hit_rate" | "utilisation" | (string & {});
  level: "info" | "warning" | "critical" | (string & {});
  message: string;
  action: string;
  value: number;
  threshold: number;
  at: string;
  sessionId?: string;
}

/** The session's log grew; `revision` is its newest. */
export interface SessionChangedParams {
  sessionId: string;
  revision: number;
  cause: ChangeCause;
}

/** Failure of a model request; `kind` is one of -32020's, `status` is HTTP's. */
export interface RetryError {
  kind: string;
  message: string;
  status?: number;
}

/** A failed model request is retried after `delayMs`; `discard` names void parts. */
export interface SessionRetryingParams {
  sessionId: string;
  attempt: number;
  maxAttempts: number;
  delayMs: number;
  error: RetryError;
  discard: string[];
}

// --- Requests of the daemon to its client: permission, tools, files.

export type PermissionKind = "allow_once" | "allow_always" | "reject_once" | "reject_always";

/** One possible answer of the user. */
export interface PermissionOption {
  optionId: string;
  name: string;
  kind: PermissionKind;
}

/**
 * The call waiting for the answer; fields of a `tool_call_update`.
 *
 * `content` of an edit shows the expected change as ACP's
 * `{type: "diff", path, oldText, newText}`, one per hunk with three lines of context. Beyond
 * 400,000 characters in total, texts are cut, and say so at the end. `path` is absolute; `oldText`
 * is null for a new file. A command stands whole in `rawInput.command`.
 */
export interface PermissionToolCall {
  toolCallId: string;
  title?: string;
  kind?: ToolCallKind;
  status?: ToolCallStatus;
  content?: Array<Record<string, unknown>>;
  locations?: ToolCallLocation[];
  rawInput?: unknown;
  _meta?: Record<string, unknown>;
}

/**
 * Ask the user before a call continues, in ACP's shape.
 *
 * `_meta.sidecar.question` is `permission` (may the call run), `trust` (is the folder
 * `_meta.sidecar.folder` trusted) or `loop` (may a model repeating itself continue). A client
 * answering by its own rules answers `permission` alone. Parallel calls are asked about at the
 * same time, each answered by its request's id. The end of the turn withdraws a question by
 * `$/cancelRequest` (ACP: `$/cancel_request`). `options` may be many, several of one kind: show
 * all, by name.
 */
export interface SessionRequestPermissionParams {
  sessionId: string;
  toolCall: PermissionToolCall;
  options: PermissionOption[];
}

/** The user chose an option. */
export interface PermissionSelected {
  outcome: "selected";
  optionId: string;
}

/** The user dismissed the question, which cancels the turn, or the turn was cancelled. */
export interface PermissionCancelled {
  outcome: "cancelled";
}

export type PermissionOutcome = PermissionSelected | PermissionCancelled;

/**
 * The user's answer. An unknown option refuses the call, and the turn continues.
 *
 * A call rejected by the user ends the turn as `blocked`.
 */
export interface SessionRequestPermissionResult {
  outcome: PermissionOutcome;
}

/** Run one of the client's tools; `input` is the model's, unchanged. */
export interface ToolCallParams {
  sessionId: string;
  callId: string;
  name: string;
  input: unknown;
}

/** The tool's result: ACP content blocks. `metadata.exitCode` marks a failed command. */
export interface ToolCallResult {
  content: Array<Record<string, unknown>>;
  isError?: boolean;
  title?: string;
  metadata?: Record<string, unknown>;
  attachments?: Array<Record<string, unknown>>;
}

/** Read a file as the editor has it, with unsaved changes; `path` is absolute. */
export interface FsReadTextFileParams {
  sessionId: string;
  path: string;
}

/** The file's whole text. */
export interface FsReadTextFileResult {
  content: string;
}

/** Replace a file's whole text through the editor; `path` is absolute. */
export interface FsWriteTextFileParams {
  sessionId: string;
  path: string;
  content: string;
}

// --- Looking into the context and changing it: recall, breakdown, preview, compaction, pins.

/**
 * Recall a logged part by id; `offset` and `limit` are bytes of UTF-8.
 *
 * With `pattern`, a regular expression: matching lines with numbers.
 */
export interface ContextRecallParams {
  sessionId: string;
  partId: string;
  offset?: number;
  limit?: number;
  pattern?: string;
}

/** A piece of the text, the last if without `nextOffset`. */
export interface ContextRecallResult {
  content: string;
  totalBytes: number;
  nextOffset?: number;
}

/** Break down a session's context into segments. */
export interface ContextBreakdownParams {
  sessionId: string;
}

/**
 * A piece of the prompt; `presentation` tells whether whole, cut or a stub.
 *
 * `pinned`: kept through compactions. `reason`: of the rewrite by which the part is not whole.
 * `server`: the MCP server of a tool.
 */
export interface ContextSegment {
  id: string;
  region: string;
  label: string;
  tokens: number;
  accuracy: Accuracy;
  presentation: string;
  cached: boolean;
  pinned: boolean;
  reason?: string;
  turnId?: string;
  partId?: string;
  server?: string;
}

/** The meter and its segments, in the order of the prompt. */
export interface ContextBreakdownResult {
  meter: Meter;
  segments: ContextSegment[];
}

/** Preview the next request with this prompt, or the current history without one. */
export interface ContextPreviewParams {
  sessionId: string;
  prompt?: Array<Record<string, unknown>>;
}

/** `request` is the provider's exact request body; `price` is USD or null. */
export interface ContextPreviewResult {
  request: Record<string, unknown>;
  tokens: number;
  predictedCacheRead: number;
  predictedCacheWrite: number;
  price: string | null;
  breakpoints: Array<Record<string, unknown>>;
}

/**
 * Compact the context now; `dryRun` only plans.
 *
 * With `summary` a dry run requests the summary too, which costs money. `workDoneToken` is LSP's:
 * progress comes by `$/progress`, and `window/workDoneProgress/cancel` stops the work. Parts of
 * `keep` stay this once, as pinned ones do; the plan's `reason` says why where one cannot.
 */
export interface ContextCompactParams {
  sessionId: string;
  strategy?: string;
  keep?: string[];
  instructions?: string;
  dryRun?: boolean;
  expectedRevision?: number;
  summary?: boolean;
  workDoneToken?: string | number;
}

/** A change to one part or turn, with its reason. */
export interface CompactionStep {
  action: "drop" | "evict" | "truncate" | "excerpt" | "restore" | "summarize" | (string & {});
  reason: string;
  tokensBefore: number;
  tokensAfter: number;
  partId?: string;
  turnId?: string;
}

/**
 * A file that is worked on: ranges of lines from 1, their tokens, and USD for writing them.
 *
 * `price` is null where prices are not known.
 */
export interface FileShownAsItStands {
  path: string;
  lines: "1-40, 88-120" | (string & {});
  tokens: number;
  price: string | null;
}

/**
 * The plan and its gain; `breakEvenRequests` is the number of requests until the plan pays.
 *
 * `files` are shown as they stand, in place of earlier reads of them. A dry run with nothing to
 * leave out returns an empty plan and the `reason`. `asked`: the ways to a summary and the models
 * asked, in order (`server`: the provider's own compaction; `extension`: behind the conversation;
 * `fresh`: apart); of a dry run, the first to be asked. `problem`: why one gave none.
 */
export interface ContextCompactResult {
  plan: CompactionStep[];
  tokensBefore: number;
  tokensAfter: number;
  price: string | null;
  breakEvenRequests: number | null;
  files?: FileShownAsItStands[];
  compactionId?: string;
  summary?: string;
  asked?: string[];
  problem?: string;
  reason?: string;
}

/** Undo a compaction, by default the newest not undone. */
export interface ContextUndoCompactionParams {
  sessionId: string;
  compactionId?: string;
}

/** The session afterwards. */
export interface ContextUndoCompactionResult {
  revision: number;
  meter: Meter;
}

/** Keep a part in the context through compactions, or no longer. */
export interface ContextPinParams {
  sessionId: string;
  partId: string;
  pinned: boolean;
}

/** The session's newest revision. */
export interface ContextPinResult {
  revision: number;
}

// --- Going back, branching off, moving sessions: checkpoints, fork, handoff, export, facts.

export type RestoreScope = "conversation" | "files" | "both";

export type OnConflict = "refuse" | "keep" | "overwrite" | "merge";

export type BundleFormat = "sidecar" | "claude-code" | "codex" | "opencode" | "pi" | "neutral";

export type FileChangeKind = "created" | "modified" | "deleted" | "renamed" | "mode" | (string & {});

export type FactKind = "decision" | "error" | "file_state" | "dependency" | "constraint" | "learning" | (string & {});

export type Speaker = "user" | "model" | "tool" | (string & {});

export type Author = "tool" | "shell" | "user" | "unknown" | "restore" | "several" | (string & {});

/**
 * Fork a session at the end of a message, or at its current end.
 *
 * Unfinished work is left out.
 */
export interface SessionForkParams {
  sessionId: string;
  atMessageId?: string;
  mcpServers?: Array<Record<string, unknown>>;
}

/** The new session. */
export interface SessionForkResult {
  sessionId: string;
  revision: number;
}

/**
 * Draft the next session's first prompt, for a goal.
 *
 * `continue` opens it at once, in the same folder with the same settings; its first prompt
 * includes the state of the work. Then an empty `goal` keeps the old one.
 */
export interface SessionHandoffParams {
  sessionId: string;
  goal: string;
  continue?: boolean;
}

/**
 * A first prompt to edit, in Markdown, and relevant files, likeliest first.
 *
 * Open the next session with `session/new` and `from`; with `continue`, `sessionId` is already
 * there.
 */
export interface SessionHandoffResult {
  draft: string;
  files: string[];
  sessionId?: string;
}

/**
 * Export a session to an absolute path of a file or folder.
 *
 * A folder gets a new file; so does the data folder's `exports` without a path. An existing file
 * is kept unless `overwrite` is true. With `snapshots`, what checkpoints need of files goes along:
 * at most 64 MiB, but no file with a likely key.
 */
export interface SessionExportParams {
  sessionId: string;
  path?: string;
  overwrite?: boolean;
  snapshots?: boolean;
}

/**
 * The bundle: a packed file, readable by its user only, `size` bytes long.
 *
 * Holds durable, settled content only. `redacted` counts likely keys removed; `notes` name other
 * omissions, in sentences.
 */
export interface SessionExportResult {
  path: string;
  size: number;
  redacted: number;
  notes: string[];
}

/** Archive a session without running turns and not open in another window. */
export interface SessionArchiveParams {
  sessionId: string;
}

/** A session in a bundle at `path`, of `size` bytes; `freed` bytes in the store. */
export interface ArchivedSession {
  sessionId: string;
  path: string;
  size: number;
  freed: number;
}

/**
 * The archived sessions: first those of subtasks, last the session itself.
 *
 * `session/import` with a path restores each under its own id.
 */
export interface SessionArchiveResult {
  sessions: ArchivedSession[];
}

/**
 * Import a session from a file's absolute path, or its text as `content`.
 *
 * An absent format is detected. The session works in the folder `cwd`, by default the workspace
 * named by `initialize`; never in one named by the file. With `snapshots`, what a bundle says of
 * files is believed, so that the session can go back in these, too.
 */
export interface SessionImportParams {
  format?: BundleFormat;
  content?: string;
  path?: string;
  cwd?: string;
  snapshots?: boolean;
}

/**
 * The new session, ready to load, and the detected format.
 *
 * `notes` are remarks for people, in sentences.
 */
export interface SessionImportResult {
  sessionId: string;
  revision: number;
  format: BundleFormat;
  notes: string[];
}

/**
 * A changed file; `path` is relative to `cwd` with `/`, `from` is a renamed file's old path.
 *
 * `author`: the agent by a `tool` or `shell` command, the `user` (or anybody else), a `restore`,
 * or `unknown`: by the user or a command that does not declare its writes, while it ran. `size`
 * and `sizeBefore` are bytes, 0 without a file. `restorable` is false where content before or
 * after is not stored (too large, for example).
 */
export interface FileChange {
  path: string;
  change: FileChangeKind;
  author: Author;
  additions: number;
  deletions: number;
  size: number;
  sizeBefore: number;
  from?: string;
  restorable?: boolean;
}

/**
 * A changed file with its unified diff; `restorable` as in `FileChange`.
 *
 * `authors` are all between the two states, the last at the end; `author` is the only one, or
 * `several`, so that no author's lines are shown as another's.
 */
export interface FileDiff {
  path: string;
  change: FileChangeKind;
  author: Author;
  authors: Author[];
  diff: string;
  additions: number;
  deletions: number;
  from?: string;
  restorable?: boolean;
}

/**
 * A state to go back to; `files` are the changes up to it.
 *
 * Made at each turn's start, after each step that changed files, and before each restore. A turn's
 * marks the place of its prompt, and the user's changes before. `left` is true on an abandoned
 * branch, its message no longer in the conversation.
 */
export interface Checkpoint {
  checkpointId: string;
  turnId: string;
  messageId: string;
  at: string;
  title: string;
  files: FileChange[];
  left?: boolean;
}

/** List a session's checkpoints. */
export interface CheckpointListParams {
  sessionId: string;
}

/** The agent's changes in a session, except undone ones; `additions`, `deletions` are sums. */
export interface SessionChanges {
  files: FileChange[];
  additions: number;
  deletions: number;
}

/**
 * All checkpoints, oldest first; `head` is the session's current one.
 *
 * Checkpoints of abandoned branches are included.
 */
export interface CheckpointListResult {
  checkpoints: Checkpoint[];
  head: string | null;
  changes?: SessionChanges;
}

/** Compare two checkpoints, or one with now; for one file or folder, or all files. */
export interface CheckpointDiffParams {
  sessionId: string;
  from: string;
  to?: string;
  path?: string;
}

/** The changed files. */
export interface CheckpointDiffResult {
  files: FileDiff[];
}

/**
 * Go back to a checkpoint, or to before a message.
 *
 * Absent, `scope` is `both`, and `onConflict` is `refuse`. `paths` are files or folders, relative
 * to `cwd`. `hunks`, for one file, are the only ones to restore of the `diff` of a dry run, each
 * whole from its `@@` line on; refused if the file changed since. With `markers`, `merge` writes
 * both sides of a clash between conflict markers. Refused while a turn runs.
 */
export interface CheckpointRestoreParams {
  sessionId: string;
  scope?: RestoreScope;
  checkpointId?: string;
  beforeMessageId?: string;
  onConflict?: OnConflict;
  markers?: boolean;
  paths?: string[];
  hunks?: string[];
  dryRun?: boolean;
  expectedRevision?: number;
}

/**
 * A file of a restore, with the reason for its outcome.
 *
 * In a dry run `diff` is the expected change. A conflict has two diffs, where known: the agent's
 * changes, and later ones. `unknownDiff`: changes while a command of the agent ran, by it or by
 * others; `keep` leaves them, `overwrite` treats them as the agent's.
 */
export interface RestoredFile {
  path: string;
  reason: string;
  diff?: string;
  agentDiff?: string;
  userDiff?: string;
  unknownDiff?: string;
}

/** Every file examined by a restore, by outcome. */
export interface RestoredFiles {
  restored: RestoredFile[];
  merged: RestoredFile[];
  skipped: RestoredFile[];
  conflicts: RestoredFile[];
}

/**
 * The session after the restore, or as expected by a dry run.
 *
 * `undoCheckpointId` names the state before (empty in a dry run); `restoredPrompt` is the text of
 * the first message that left the conversation. `notes` list everything outside of snapshots
 * (`.git`, `node_modules`), and losses there, in sentences. A dry run with nothing to do returns
 * an empty plan, `reason` and notes; `files.skipped` has each path's reason.
 */
export interface CheckpointRestoreResult {
  undoCheckpointId: string;
  revision: number;
  files: RestoredFiles;
  reason?: string;
  notes?: string[];
  restoredPrompt?: string;
}

/**
 * Undo a restore by its `undoCheckpointId`, by default the newest not undone.
 *
 * The scope is the restore's. `onConflict` is `refuse` when absent; `markers` is as for a restore.
 */
export interface CheckpointRedoParams {
  sessionId: string;
  checkpointId?: string;
  onConflict?: OnConflict;
  markers?: boolean;
  dryRun?: boolean;
  expectedRevision?: number;
}

/**
 * List facts by session, folder, kind and words (the last may be a word's beginning).
 *
 * All given conditions must hold.
 */
export interface FactsListParams {
  sessionId?: string;
  cwd?: string;
  kind?: FactKind;
  query?: string;
}

/** The turn that supports a fact, and the speaker. */
export interface FactSource {
  sessionId: string;
  turnId: string;
  saidBy: Speaker;
}

/** A fact found out in a session; `learned` once passed on to later sessions. */
export interface Fact {
  factId: string;
  kind: FactKind;
  content: string;
  source: FactSource;
  at: string;
  learned: boolean;
}

/** The facts, newest first; at most 200. */
export interface FactsListResult {
  facts: Fact[];
}

// --- Sessions on git remotes: sync, and what lies there.

/**
 * Sync the sessions of a folder, by default the workspace, with a git remote.
 *
 * `remote` is a name of the project's remotes, an address or a path; by default the setting
 * `sync.remote`, else `origin`. Nothing is sent before somebody has seen what: a first call
 * answers `agreed: false`, and the next one repeats the answer's `remote` as `agree`. With
 * `sessionIds`, only these are synced; `open` names sessions of the remote to take in, by their
 * names there or beginnings of these. With `snapshots`, what checkpoints need of files comes and
 * goes along, from now on; that is shown and agreed to by itself, and `false` ends it.
 */
export interface SessionSyncParams {
  cwd?: string;
  remote?: string;
  agree?: string;
  dryRun?: boolean;
  sessionIds?: string[];
  open?: string[];
  snapshots?: boolean;
}

/**
 * A session that was sent, or taken in; `name` is that of its ref, `refs/sidecar/NAME`.
 *
 * `messages` are those that were new, `size` the packed bytes sent, `redacted` likely keys that
 * were taken out, `files` contents of files. `forkOf`, of a fork: the session here that another
 * machine went on with first.
 */
export interface SyncedSession {
  name: string;
  sessionId: string;
  title: string;
  messages: number;
  size: number;
  redacted: number;
  files: number;
  forkOf?: string;
}

/**
 * What was done; without `agreed`, or in a dry run, what would be, and nothing was.
 *
 * `recipients`: for how many keys (`sync.recipients`) what is sent is encrypted; 0: for all who
 * can read there. `removed` names refs of sessions deleted or archived here. `notes` are
 * sentences for people; `elsewhere` counts sessions of the remote that are not here
 * (`session/listRemote`).
 */
export interface SessionSyncResult {
  remote: string;
  agreed: boolean;
  recipients: number;
  sent: SyncedSession[];
  received: SyncedSession[];
  forked: SyncedSession[];
  removed: string[];
  notes: string[];
  elsewhere: number;
}

/** List the sessions of a git remote, named as for `session/sync`. */
export interface SessionListRemoteParams {
  cwd?: string;
  remote?: string;
}

/**
 * A session on a remote, as its last sender described it: nobody vouches for it.
 *
 * `folder` is where it works there, `project` the repository that its `origin` names
 * (`example.org/ada/engine`), "" without one; `sameProject` whether that is this folder's, by
 * whichever address. `sessionId` is its id here, where it is here.
 */
export interface RemoteSession {
  name: string;
  title: string;
  folder: string;
  updatedAt: string;
  turns: number;
  project: string;
  sameProject: boolean;
  sessionId?: string;
}

/**
 * The remote's sessions, newest first, but those of the folder's project before others.
 *
 * `session/sync` with `open` takes one in.
 */
export interface SessionListRemoteResult {
  remote: string;
  sessions: RemoteSession[];
}

/** Requests that the client sends. */
export interface DaemonRequests {
  /** Open a new session in a folder. */
  "session/new": { params: SessionNewParams; result: SessionNewResult };
  /** List sessions, newest first. */
  "session/list": { params: SessionListParams; result: SessionListResult };
  /** Open a stored session; its history comes as session/update before the result. */
  "session/load": { params: SessionLoadParams; result: SessionLoadResult };
  /** Let go of a session. It ends, with its turn, unless others have it open or at work. */
  "session/close": { params: SessionCloseParams; result: Empty };
  /** Delete a session for good. */
  "session/delete": { params: SessionDeleteParams; result: SessionDeleteResult };
  /** Give a session another title. */
  "session/rename": { params: SessionRenameParams; result: SessionRenameResult };
  /** Search the texts of all sessions. */
  "session/search": { params: SessionSearchParams; result: SessionSearchResult };
  /** Change the model, the policy, the effort or a switch of a session. */
  "session/set_config_option": { params: SessionSetConfigOptionParams; result: SessionSetConfigOptionResult };
  /** Run a turn; answered when it ends, a failed one too. An error means none began. */
  "session/prompt": { params: SessionPromptParams; result: SessionPromptResult };
  /** Find files by a few letters of their paths, as a mention is completed. */
  "session/findFiles": { params: SessionFindFilesParams; result: SessionFindFilesResult };
  /** Read a session's meter. */
  "context/meter": { params: ContextMeterParams; result: Meter };
  /** Read anything that was ever logged in a session, whole or by pieces. */
  "context/recall": { params: ContextRecallParams; result: ContextRecallResult };
  /** Ask how the daemon is. */
  "daemon/status": { params: DaemonStatusParams; result: DaemonStatusResult };
  /** Branch off a session; the new one is open and shares what the other's cache holds. */
  "session/fork": { params: SessionForkParams; result: SessionForkResult };
  /** Draft the first prompt of a session that goes on with a goal, or open one. */
  "session/handoff": { params: SessionHandoffParams; result: SessionHandoffResult };
  /** Write a session to a file that session/import takes in, here or elsewhere. */
  "session/export": { params: SessionExportParams; result: SessionExportResult };
  /** Put a session away into a packed file, from which session/import brings it back. */
  "session/archive": { params: SessionArchiveParams; result: SessionArchiveResult };
  /** Make a session of a file: one of session/export, or another agent's recording. */
  "session/import": { params: SessionImportParams; result: SessionImportResult };
  /** Bring a folder's sessions and those of a git remote together. */
  "session/sync": { params: SessionSyncParams; result: SessionSyncResult };
  /** List the sessions that lie on a git remote. */
  "session/listRemote": { params: SessionListRemoteParams; result: SessionListRemoteResult };
  /** Take the context apart, piece by piece. */
  "context/breakdown": { params: ContextBreakdownParams; result: ContextBreakdownResult };
  /** See exactly what would be sent, and what it would cost. */
  "context/preview": { params: ContextPreviewParams; result: ContextPreviewResult };
  /** Make room in the context, or plan it. */
  "context/compact": { params: ContextCompactParams; result: ContextCompactResult };
  /** Take a compaction back. */
  "context/undoCompaction": { params: ContextUndoCompactionParams; result: ContextUndoCompactionResult };
  /** Keep a part through compactions. */
  "context/pin": { params: ContextPinParams; result: ContextPinResult };
  /** List the states to which a session can go back. */
  "checkpoint/list": { params: CheckpointListParams; result: CheckpointListResult };
  /** See what changed between two checkpoints. */
  "checkpoint/diff": { params: CheckpointDiffParams; result: CheckpointDiffResult };
  /** Go back: conversation, files or both. */
  "checkpoint/restore": { params: CheckpointRestoreParams; result: CheckpointRestoreResult };
  /** Undo a restore. */
  "checkpoint/redo": { params: CheckpointRedoParams; result: CheckpointRestoreResult };
  /** List what sessions have found out. */
  "facts/list": { params: FactsListParams; result: FactsListResult };
}

/** Notifications that the client sends. */
export interface DaemonNotifications {
  /** Stop the running turn; its session/prompt answers with stopReason cancelled. */
  "session/cancel": { params: SessionCancelParams };
}

/** Requests that the daemon sends. */
export interface ClientRequests {
  /** Ask the user whether a call may run, or whether a folder is trusted. */
  "session/request_permission": { params: SessionRequestPermissionParams; result: SessionRequestPermissionResult };
  /** Run one of the client's tools. */
  "tool/call": { params: ToolCallParams; result: ToolCallResult };
  /** Read a file as the editor has it; only where the client says that it can. */
  "fs/read_text_file": { params: FsReadTextFileParams; result: FsReadTextFileResult };
  /** Write a file through the editor; only where the client says that it can. */
  "fs/write_text_file": { params: FsWriteTextFileParams; result: Empty };
}

/** Notifications that the daemon sends. */
export interface ClientNotifications {
  /** Something happened in a session. */
  "session/update": { params: SessionUpdateParams };
  /** The meter moved; at most four a second, newest wins. Over ACP it is usage_update. */
  "context/meterChanged": { params: Meter };
  /** The session's revision rose. */
  "session/changed": { params: SessionChangedParams };
  /** A model request is tried again; parts that it had streamed are withdrawn. */
  "session/retrying": { params: SessionRetryingParams };
  /** Something for the status bar. */
  "daemon/statusChanged": { params: DaemonStatusChangedParams };
  /** A number is bad, or well again; `daemon/status` has the alerts that stand. */
  "daemon/alert": { params: DaemonAlertParams };
}

/** Codes of JSON-RPC errors, with what `data.kind` can be. */
export const ERRORS = {
  /** A message is not JSON. Fix what writes the messages; the answer has id null. */
  "-32700": ["parse_error"],
  /** A message is JSON but no request; a batch is none either. Send one JSON-RPC 2.0 object at a time, with an id that is a string or a number. */
  "-32600": ["invalid_request", "shut_down"],
  /** There is no such method, or not in this version. Look the method up in the features that initialize answers. */
  "-32601": ["unknown_method", "not_available"],
  /** A parameter is missing or wrong. Fix the field that data.path names. */
  "-32602": ["bad_request"],
  /** A fault of the daemon, or of the client in answering it. Report it with the daemon's log. */
  "-32603": ["internal", "client"],
  /** The daemon is not initialized; over ACP: a resource was not found. Send initialize first, and wait for its answer. */
  "-32002": ["not_initialized"],
  /** The request was cancelled before it did anything. Nothing; send it again if it is still wanted. */
  "-32800": ["cancelled"],
  /** The session moved on: expectedRevision is not its newest. Look at the session as it is now, then send it again with the newest revision. */
  "-32801": ["revision_conflict"],
  /** Too many prompts wait for this session. Wait for one of them to end, or cancel. */
  "-32001": ["overloaded"],
  /** No session has this id. Take an id from session/list. */
  "-32010": ["unknown_session"],
  /** Another window writes this session. Go on there or close it there; here the session can only be read. */
  "-32011": ["session_owned"],
  /** The call would change nothing. Nothing; of a restore, data.files says of every path why it stays. */
  "-32012": ["nothing_to_do"],
  /** Files that the restore would touch were changed meanwhile; nothing was touched. Look at data.conflicts, then choose onConflict. */
  "-32013": ["restore_conflict"],
  /** A git remote cannot be reached, or refused. Do what the message says and sync again; nothing was lost. */
  "-32014": ["remote_failed"],
  /** The model's provider refused or broke off. Do what the message says; when data.retryable is true, the same can be sent again. */
  "-32020": ["authentication", "rate_limit", "overloaded", "context_overflow", "bad_request", "network", "interrupted"],
  /** The store cannot do it. Do what the message says: free space, repair or update, or choose another dataDir. */
  "-32030": ["full", "corrupt", "newer_schema", "read_only", "io"],
} as const;
