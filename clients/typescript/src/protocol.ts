// GENERATED from protocol/source by protocol/generate.py -- DO NOT EDIT

export const PROTOCOL_VERSION = 1;

// --- The meter: what the context window holds, what it costs, how long it lasts.

export type Zone = "green" | "yellow" | "orange" | "red" | (string & {});

export type Accuracy = "exact" | "estimated" | (string & {});

/** Tokens by where they come from; their sum is the meter's `used`. */
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

/** The newest request that the provider's cache did not serve: from where on, and why. */
export interface CacheBreak {
  segment: string;
  reason: string;
}

/** Whether the provider still holds the prefix; `hitRate` is of the last response, 0 to 1. */
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
 * `reason` says in words where the numbers come from. `compactAt` is where the policy must
 * rewrite. `velocity` is tokens a turn, `spike` that the last turn added three times what is
 * usual, `burnRate` USD an hour over five turns, `overSoftLimit` the regions that take more than
 * 80 per cent of their room. `turnsUntilCompaction` is null while the context does not grow.
 * `toolsByServer` says what of the tools' tokens is each MCP server's, by its name.
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

/** The session whose meter is asked for. */
export interface ContextMeterParams {
  sessionId: string;
}

// --- Sessions: opening, listing, options, prompts.

export type ToolKind = "read" | "edit" | "search" | "execute" | "other";

export type StopReason = "end_turn" | "max_tokens" | "max_turn_requests" | "refusal" | "cancelled" | "blocked" | "error" | (string & {});

/** An object without fields of its own: nothing to say but that it happened. */
export type Empty = Record<string, never>;

/** A tool that the client runs. `inputSchema` is JSON Schema; `outputLimit` is in bytes. */
export interface ToolDefinition {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
  kind?: ToolKind;
  readOnly?: boolean;
  outputLimit?: number;
  protectedFromPruning?: boolean;
}

/** One value that an option can have. */
export interface ConfigOptionValue {
  value: string;
  name: string;
  description?: string;
}

/** A setting of a session, in ACP's shape: what it is now and what it can be. */
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
 * A session to open in a folder; what is absent comes from the configuration.
 *
 * `window` and `maxTokens` are tokens; the window must be larger than what an answer may take,
 * which is 32,000 unless `maxTokens` says otherwise. `builtinTools: false` leaves only the
 * client's tools.
 * `from` is the session whose work it goes on with.
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

/** The new session; it is stored when this arrives. */
export interface SessionNewResult {
  sessionId: string;
  revision: number;
  configOptions: ConfigOption[];
}

/** Which sessions: those of a folder, or all. `cursor` is `nextCursor` of the last page. */
export interface SessionListParams {
  cwd?: string;
  cursor?: string;
  limit?: number;
}

/**
 * A line of the session list. `updatedAt` is ISO 8601 UTC; `cost` is null when unknown.
 *
 * `parent` is the session that it was forked from, goes on with or does a subtask of; it may be
 * deleted by now. What a subtask costs is in its parent's cost too.
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

/** One page of sessions, newest first; without `nextCursor` it is the last. */
export interface SessionListResult {
  sessions: SessionInfo[];
  nextCursor?: string;
}

/**
 * A stored session. With `replay` its history comes first, from after part `after`.
 *
 * That is what was told as it happened: each part whole, ends of turns, compactions, notices.
 * `mcpServers` are started for the tools that it began with.
 */
export interface SessionLoadParams {
  sessionId: string;
  cwd?: string;
  replay?: boolean;
  after?: string;
  mcpServers?: Array<Record<string, unknown>>;
}

/** The session as it is now. `readOnly`: another daemon writes it. */
export interface SessionLoadResult {
  sessionId: string;
  revision: number;
  readOnly: boolean;
  configOptions?: ConfigOption[];
}

/** The session to let go of; it stays stored. */
export interface SessionCloseParams {
  sessionId: string;
}

/**
 * The session to forget for good.
 *
 * While a turn of it runs or waits that is refused with -32602, unless `force` is true: then the
 * turn is cancelled first. What another window writes is refused with -32011 in any case.
 */
export interface SessionDeleteParams {
  sessionId: string;
  force?: boolean;
}

/** The session is gone; `notes` say in sentences where it may be found nevertheless. */
export interface SessionDeleteResult {
  notes?: string[];
}

/** An option's new value: model, policy, effort, autoCompact, autoContinue. */
export interface SessionSetConfigOptionParams {
  sessionId: string;
  configId: string;
  value: unknown;
  expectedRevision?: number;
}

/** All options as they are now. */
export interface SessionSetConfigOptionResult {
  configOptions: ConfigOption[];
}

/**
 * A turn to run. `prompt` is ACP's content blocks: text, image, resource, resource_link.
 *
 * `context` is what the editor shows: `{selection?, openFiles?, diagnostics?}`. `steer` adds the
 * text to the running turn at its next step instead of starting one.
 */
export interface SessionPromptParams {
  sessionId: string;
  prompt: Array<Record<string, unknown>>;
  context?: Record<string, unknown>;
  steer?: boolean;
  expectedRevision?: number;
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

/** Why a turn failed; `code` and `kind` as in the table of errors, `status` is HTTP's. */
export interface TurnError {
  code: number;
  kind: string;
  message: string;
  retryable: boolean;
  status?: number | null;
}

/** How a turn ended; a failed one too. `messageId` is the typed message, `cost` its USD. */
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

/** The session whose running turn and waiting prompts end as `cancelled`. */
export interface SessionCancelParams {
  sessionId: string;
}

// --- `session/update`: what happens in a session, as it happens. Kinds and fields are ACP's.

export type ToolCallKind = "read" | "edit" | "delete" | "move" | "search" | "execute" | "think" | "fetch" | "other" | (string & {});

export type ToolCallStatus = "pending" | "in_progress" | "completed" | "failed" | (string & {});

export type PlanStatus = "pending" | "in_progress" | "completed" | (string & {});

export type PlanPriority = "high" | "medium" | "low" | (string & {});

export type NoticeLevel = "info" | "warning" | "error" | (string & {});

export type CompactionStatus = "completed" | "failed" | "undone" | (string & {});

export type CompactionCause = "user" | "budget" | "cold" | "pays" | "overflow" | "idle" | "instructions" | "model" | "tools" | "restore" | "undo" | (string & {});

/**
 * What `_meta.sidecar` of an update holds. `seq` rises strictly per session.
 *
 * `inputDelta` and `outputDelta` are more of a call's input or output text while it comes.
 * `metadata` is what the tool said beside its output (`exitCode`, `diff`), for people.
 * `discards` names parts that are withdrawn because their step is retried.
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

/** More of what the user said: one content block. */
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

/** A file that a call reads or changes; `line` counts from 1. */
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

/** A tool call changed; fields that are absent are as they were, lists are replaced whole. */
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

/** One thing to do. */
export interface PlanEntry {
  content: string;
  priority: PlanPriority;
  status: PlanStatus;
}

/** The todo list, whole. */
export interface PlanChanged {
  sessionUpdate: "plan";
  entries: PlanEntry[];
  _meta?: Record<string, unknown>;
}

/** What the session cost so far, as ACP has it; the meter's decimal strings are exact. */
export interface UsageCost {
  amount: number;
  currency: string;
}

/** Tokens in the context and its size; the rest of the meter stands in `_meta.sidecar`. */
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

/** A slash command; `input` is `{hint}` where it takes text. */
export interface AvailableCommand {
  name: string;
  description: string;
  input?: Record<string, unknown>;
}

/** All slash commands there are now. */
export interface AvailableCommandsChanged {
  sessionUpdate: "available_commands_update";
  availableCommands: AvailableCommand[];
  _meta?: Record<string, unknown>;
}

/** All config options as they are now. */
export interface ConfigOptionsChanged {
  sessionUpdate: "config_option_update";
  configOptions: ConfigOption[];
  _meta?: Record<string, unknown>;
}

/**
 * A turn is over: what the answer to its prompt says, for all who watch or load the session.
 *
 * ACP has no such update; there the answer to the prompt says it, to whoever sent that.
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

/** The cached prefix was rewritten, or it failed; nothing else rewrites one. `price` is USD. */
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

/** Something a person should read. */
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

/** Which provider to call, where, and with which key. */
export interface ProviderOptions {
  name?: string;
  baseUrl?: string;
  apiKey?: string;
}

/**
 * What tools may do without asking, or never: `TOOL`, `TOOL:PATTERN` or `shell@FOLDER:COMMAND`.
 *
 * `docs/reference/permissions.md` says what each covers.
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
}

/** Whether the client reads and writes files for the daemon. */
export interface FileCapabilities {
  readTextFile?: boolean;
  writeTextFile?: boolean;
}

/**
 * `capabilities.experimental.sidecar` of an editor's `initialize`; ACP has the same `fs`.
 *
 * What is absent is not asked of the client: without `requestPermission` a call that would be
 * asked about is refused, without `toolCall` tools of the client's fail, each with the reason.
 * ACP clients always answer questions, and say `toolCall` in `_meta.sidecar` of theirs.
 * `workspace/applyEdit` is announced as in LSP.
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

/** Nothing is needed to ask how the daemon is. */
export type DaemonStatusParams = Record<string, never>;

/** A session that is open in this daemon. */
export interface OpenSession {
  sessionId: string;
  revision: number;
  busy: boolean;
}

/**
 * How the daemon is. The inner objects are for people; null is what is not there (yet).
 *
 * `settings` has those that are no defaults, by name: the value, no key shown; where it was given,
 * by layer (user, workspace, environment, client) and place; what is `pending` until a restart.
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

/** The daemon became busy or idle, or something is wrong; `message` is for a status bar. */
export interface DaemonStatusChangedParams {
  busy: boolean;
  kind: "idle" | "working" | "error" | (string & {});
  message: string;
}

/**
 * A number is bad (`raised`) or well again (`cleared`); each is told once.
 *
 * `name` is the setting under `alerts` that holds the threshold, in whose unit `value` is too.
 * `action` says what to do. Without `sessionId` it is about all sessions of the daemon.
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

/** Why a model request failed; `kind` is one of -32020's, `status` is HTTP's. */
export interface RetryError {
  kind: string;
  message: string;
  status?: number;
}

/** A model request failed and is tried again after `delayMs`; `discard` names void parts. */
export interface SessionRetryingParams {
  sessionId: string;
  attempt: number;
  maxAttempts: number;
  delayMs: number;
  error: RetryError;
  discard: string[];
}

// --- What the daemon asks of its client: permission, tools, files.

export type PermissionKind = "allow_once" | "allow_always" | "reject_once" | "reject_always";

/** One answer that the user can give. */
export interface PermissionOption {
  optionId: string;
  name: string;
  kind: PermissionKind;
}

/**
 * The call that waits for the answer; the fields of a `tool_call_update`.
 *
 * `content` of an edit is ACP's `{type: "diff", path, oldText, newText}`, one for each hunk with
 * three lines around it: what would change. Of more than 400,000 characters in all, the
 * texts are cut, and each says so at its end. `path` is absolute; `oldText` is null where there is
 * no file. A command stands whole in `rawInput.command`.
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
 * Ask the user something before a call goes on, in ACP's shape.
 *
 * `_meta.sidecar.question` says what: `permission`, whether the call may run; `trust`, whether
 * the folder `_meta.sidecar.folder` is trusted; `loop`, whether a model that repeats itself may
 * go on. Whoever answers by rules of their own answers `permission` alone.
 * Parallel calls are asked about at the same time, and each is answered by its request's id. A
 * question whose turn ends is withdrawn by `$/cancelRequest` (ACP: `$/cancel_request`).
 * `options` may be of any number, several of one kind: show them all, by their names.
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
 * The user's answer. One that is none of the options refuses the call, and the turn goes on.
 *
 * A call that the user rejects ends the turn as `blocked`.
 */
export interface SessionRequestPermissionResult {
  outcome: PermissionOutcome;
}

/** Run one of the client's tools; `input` is what the model wrote, as it wrote it. */
export interface ToolCallParams {
  sessionId: string;
  callId: string;
  name: string;
  input: unknown;
}

/** What the tool gave: ACP content blocks. `metadata.exitCode` tells a failed command. */
export interface ToolCallResult {
  content: Array<Record<string, unknown>>;
  isError?: boolean;
  title?: string;
  metadata?: Record<string, unknown>;
  attachments?: Array<Record<string, unknown>>;
}

/** Read a file as the editor has it, unsaved changes and all; `path` is absolute. */
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
 * Anything ever logged, by id; `offset` and `limit` are bytes of UTF-8.
 *
 * With `pattern`, a regular expression, the matching lines come with their numbers.
 */
export interface ContextRecallParams {
  sessionId: string;
  partId: string;
  offset?: number;
  limit?: number;
  pattern?: string;
}

/** A piece of the text; without `nextOffset` it is the last. */
export interface ContextRecallResult {
  content: string;
  totalBytes: number;
  nextOffset?: number;
}

/** The session whose context is taken apart. */
export interface ContextBreakdownParams {
  sessionId: string;
}

/**
 * A piece of the prompt; `presentation` says whether it stands whole, cut or as a stub.
 *
 * `server` is the MCP server that a tool is from.
 */
export interface ContextSegment {
  id: string;
  region: string;
  label: string;
  tokens: number;
  accuracy: Accuracy;
  presentation: string;
  cached: boolean;
  turnId?: string;
  partId?: string;
  server?: string;
}

/** The meter and the segments that make it up, in the order of the prompt. */
export interface ContextBreakdownResult {
  meter: Meter;
  segments: ContextSegment[];
}

/** What to preview: the next request with this prompt, or the history as it stands. */
export interface ContextPreviewParams {
  sessionId: string;
  prompt?: Array<Record<string, unknown>>;
}

/** `request` is the provider's body exactly as it would be sent; `price` is USD or null. */
export interface ContextPreviewResult {
  request: Record<string, unknown>;
  tokens: number;
  predictedCacheRead: number;
  predictedCacheWrite: number;
  price: string | null;
  breakpoints: Array<Record<string, unknown>>;
}

/**
 * Make room now; `dryRun` only answers the plan.
 *
 * With `summary` a dry run asks for the summary too, which costs money. `workDoneToken` is
 * LSP's: progress is told by `$/progress`, and `window/workDoneProgress/cancel` stops it.
 */
export interface ContextCompactParams {
  sessionId: string;
  strategy?: string;
  instructions?: string;
  dryRun?: boolean;
  expectedRevision?: number;
  summary?: boolean;
  workDoneToken?: string | number;
}

/** What happens to one part or turn, and why. */
export interface CompactionStep {
  action: "drop" | "evict" | "truncate" | "excerpt" | "restore" | "summarize" | (string & {});
  reason: string;
  tokensBefore: number;
  tokensAfter: number;
  partId?: string;
  turnId?: string;
}

/**
 * The plan, and what it gains; after `breakEvenRequests` it has paid for itself.
 *
 * A dry run that finds nothing to leave out answers an empty plan, with the `reason`.
 */
export interface ContextCompactResult {
  plan: CompactionStep[];
  tokensBefore: number;
  tokensAfter: number;
  price: string | null;
  breakEvenRequests: number | null;
  compactionId?: string;
  summary?: string;
  reason?: string;
}

/** The compaction to take back; without one, the newest that stands. */
export interface ContextUndoCompactionParams {
  sessionId: string;
  compactionId?: string;
}

/** The session after it. */
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
 * The session to branch off, as it was when a message had ended, or as it is.
 *
 * What is still under way is left out.
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
 * What the next session is for.
 *
 * `continue` opens it at once, in the same folder with the same settings; it reads at its first
 * prompt where the work stands. Then `goal` may be empty: it stays what it was.
 */
export interface SessionHandoffParams {
  sessionId: string;
  goal: string;
  continue?: boolean;
}

/**
 * A first prompt to edit, in Markdown, and the files that bear on it, the likeliest first.
 *
 * Open the next session with `session/new` and `from`; `sessionId` is there with `continue`.
 */
export interface SessionHandoffResult {
  draft: string;
  files: string[];
  sessionId?: string;
}

/**
 * The session to write out, and where to: an absolute path of a file, or of a folder.
 *
 * A folder gets a file of its own; so does the data folder's `exports` without a path. A file
 * that is there stays unless `overwrite` is true.
 */
export interface SessionExportParams {
  sessionId: string;
  path?: string;
  overwrite?: boolean;
}

/**
 * The bundle: a packed file that only its user can read, `size` bytes long.
 *
 * It holds what is durable and settled. `redacted` counts what looked like a key and was taken
 * out; `notes` say in sentences what else is not in it.
 */
export interface SessionExportResult {
  path: string;
  size: number;
  redacted: number;
  notes: string[];
}

/** The session to put away. None of its turns may run, and no other window have it open. */
export interface SessionArchiveParams {
  sessionId: string;
}

/** A session that is in a bundle at `path` now: `size` bytes there, `freed` in the store. */
export interface ArchivedSession {
  sessionId: string;
  path: string;
  size: number;
  freed: number;
}

/**
 * What was put away: the session last, and before it those of its subtasks.
 *
 * `session/import` with the path brings each back as it was, under its own id.
 */
export interface SessionArchiveResult {
  sessions: ArchivedSession[];
}

/**
 * A session to read in: the absolute path of a file, or its text as `content`.
 *
 * The format is found out when absent. The session works in the folder `cwd`, or else in the
 * workspace that `initialize` named; never in one that the file names.
 */
export interface SessionImportParams {
  format?: BundleFormat;
  content?: string;
  path?: string;
  cwd?: string;
}

/**
 * The session that was made of it, to be loaded, and the format that it was read as.
 *
 * `notes` say in sentences what people should know of it.
 */
export interface SessionImportResult {
  sessionId: string;
  revision: number;
  format: BundleFormat;
  notes: string[];
}

/**
 * A changed file; `path` is relative to `cwd` with `/`, `from` is a renamed one's old path.
 *
 * `author`: the agent by a `tool` or by a `shell` command, the `user` (and whoever else), a
 * `restore`, or `unknown`: it came while a command ran that does not say that it writes there,
 * so that it may be the command's or the user's. `size` and `sizeBefore` are bytes, 0 where
 * there is no file. `restorable` is false where a content before or after it is not stored (too
 * large, for one) and cannot come back.
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
 * `authors` are all who changed it between the two states, who did so last at the end; `author`
 * is the one, or `several` where there are more, so that lines of the one are not shown as the
 * other's.
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
 * A state to which files and conversation can go back; `files` are what changed up to it.
 *
 * There is one at the start of each turn, one after each step that changed files, and one
 * before each restore. A turn's says where its prompt stood, and what the user had changed.
 * `left` is true on a branch that was left: its message is not in the conversation now.
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

/** The session whose checkpoints are listed. */
export interface CheckpointListParams {
  sessionId: string;
}

/** What the agent changed in a session and nobody took back; `additions` and so on are sums. */
export interface SessionChanges {
  files: FileChange[];
  additions: number;
  deletions: number;
}

/**
 * All checkpoints, oldest first; `head` is where the session stands.
 *
 * Those of branches that were left are among them.
 */
export interface CheckpointListResult {
  checkpoints: Checkpoint[];
  head: string | null;
  changes?: SessionChanges;
}

/** What changed between two checkpoints, or since one; of one file, or of those in a folder. */
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
 * Go back to a checkpoint, or to before a message. `onConflict` is `refuse` when absent.
 *
 * `paths` are files or folders, relative to `cwd`. With `markers`, `merge` writes what clashes
 * with both sides between conflict markers. While a turn runs it is refused.
 */
export interface CheckpointRestoreParams {
  sessionId: string;
  scope: RestoreScope;
  checkpointId?: string;
  beforeMessageId?: string;
  onConflict?: OnConflict;
  markers?: boolean;
  paths?: string[];
  dryRun?: boolean;
  expectedRevision?: number;
}

/**
 * A file of a restore, and why it fared so.
 *
 * In a dry run `diff` is what would be done to it. A conflict has two diffs: what the agent did,
 * and what was done since, where they are known. `unknownDiff` came while a command of the agent
 * ran, by that or by others: `keep` leaves it, `overwrite` takes it for the agent's.
 */
export interface RestoredFile {
  path: string;
  reason: string;
  diff?: string;
  agentDiff?: string;
  userDiff?: string;
  unknownDiff?: string;
}

/** Every file that a restore looked at, by how it fared. */
export interface RestoredFiles {
  restored: RestoredFile[];
  merged: RestoredFile[];
  skipped: RestoredFile[];
  conflicts: RestoredFile[];
}

/**
 * The session after it, or for a dry run what would be.
 *
 * `undoCheckpointId` names the state before it, and is empty in a dry run; `restoredPrompt` is
 * what was typed in the message that left the conversation first. `notes` say in sentences what
 * snapshots do not cover (`.git`, `node_modules`), and what of that is gone since.
 * A dry run that finds nothing to do answers an empty plan with the `reason`, notes included, and
 * `files.skipped` says of every path why it stays.
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
 * Undo a restore by its `undoCheckpointId`; without one, the newest that stands.
 *
 * Its scope is the restore's own. `onConflict` is `refuse` when absent; `markers` is as for a
 * restore.
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
 * Which facts: of a session, of a folder, of a kind, with these words; the last may be begun.
 *
 * All that is given must hold.
 */
export interface FactsListParams {
  sessionId?: string;
  cwd?: string;
  kind?: FactKind;
  query?: string;
}

/** The turn that bears a fact out, and who said it there. */
export interface FactSource {
  sessionId: string;
  turnId: string;
  saidBy: Speaker;
}

/** Something that a session found out; `learned` once later sessions are told of it too. */
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

/** Requests that the client sends. */
export interface DaemonRequests {
  /** Open a new session in a folder. */
  "session/new": { params: SessionNewParams; result: SessionNewResult };
  /** List sessions, newest first. */
  "session/list": { params: SessionListParams; result: SessionListResult };
  /** Open a stored session; its history comes as session/update before the result. */
  "session/load": { params: SessionLoadParams; result: SessionLoadResult };
  /** Let go of a session. */
  "session/close": { params: SessionCloseParams; result: Empty };
  /** Delete a session for good. */
  "session/delete": { params: SessionDeleteParams; result: SessionDeleteResult };
  /** Change the model, the policy, the effort or a switch of a session. */
  "session/set_config_option": { params: SessionSetConfigOptionParams; result: SessionSetConfigOptionResult };
  /** Run a turn; answered when it ends, a failed one too. An error means none began. */
  "session/prompt": { params: SessionPromptParams; result: SessionPromptResult };
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
  /** Take the context apart, piece by piece. */
  "context/breakdown": { params: ContextBreakdownParams; result: ContextBreakdownResult };
  /** See exactly what would be sent, and what it would cost. */
  "context/preview": { params: ContextPreviewParams; result: ContextPreviewResult };
  /** Make room in the context, or plan it. */
  "context/compact": { params: ContextCompactParams; result: ContextCompactResult };
  /** Take a compaction back. */
  "context/undo_compaction": { params: ContextUndoCompactionParams; result: ContextUndoCompactionResult };
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
  /** The model's provider refused or broke off. Do what the message says; when data.retryable is true, the same can be sent again. */
  "-32020": ["authentication", "rate_limit", "overloaded", "context_overflow", "bad_request", "network", "interrupted"],
  /** The store cannot do it. Do what the message says: free space, repair or update, or choose another dataDir. */
  "-32030": ["full", "corrupt", "newer_schema", "read_only", "io"],
} as const;
