# GENERATED from protocol/source by protocol/generate.py -- DO NOT EDIT
"""The protocol's messages, methods and errors, version 1."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec


Zone = Annotated[str, msgspec.Meta(examples=["green", "yellow", "orange", "red"])]
Accuracy = Annotated[str, msgspec.Meta(examples=["exact", "estimated"])]


class Regions(msgspec.Struct, rename="camel", kw_only=True):
    """Tokens by origin; the sum is the meter's `used`."""

    system: int
    tools: int
    instructions: int
    learned: int
    summary: int
    ledger: int
    user: int
    assistant: int
    reasoning: int
    tool_results: int
    context: int


class CacheBreak(msgspec.Struct, rename="camel", kw_only=True):
    """The newest request not served by the provider's cache: first segment missed, and reason."""

    segment: str
    reason: str


class CacheState(msgspec.Struct, rename="camel", kw_only=True):
    """Whether the provider still holds the prefix; `hitRate` is of the last response, 0 to 1.

    `expiresAt` is left out where nobody knows how long the provider keeps it.
    """

    warm: bool
    hit_rate: float
    expires_at: str | msgspec.UnsetType = msgspec.UNSET
    last_break: CacheBreak | msgspec.UnsetType = msgspec.UNSET


class Costs(msgspec.Struct, rename="camel", kw_only=True):
    """USD as decimal strings; null where the model's price is unknown."""

    session: str | None
    last_turn: str | None
    next_request: str | None
    compact_now: str | None


class Meter(msgspec.Struct, rename="camel", kw_only=True):
    """Tokens of the window. `percent` is `used / (window - reservedOutput)` in per cent.

    `reason` explains the numbers' source. `compactAt`: size at which the policy must rewrite.
    `velocity`: tokens a turn; `spike`: the last turn added three times the usual; `burnRate`: USD
    an hour over five turns; `overSoftLimit`: regions above 80 per cent of their room.
    `turnsUntilCompaction` is null without growth. `toolsByServer`: tool tokens by MCP server.
    """

    session_id: str
    revision: int
    window: int
    used: int
    reserved_output: int
    free: int
    compact_at: int
    percent: float
    zone: Zone
    accuracy: Accuracy
    reason: str
    velocity: int
    spike: bool
    burn_rate: str | None
    over_soft_limit: list[str]
    turns_until_compaction: int | None
    regions: Regions
    tools_by_server: dict[str, int]
    cache: CacheState
    cost: Costs


class ContextMeterParams(msgspec.Struct, rename="camel", kw_only=True):
    """Read a session's meter."""

    session_id: str


ToolKind = Literal["read", "edit", "search", "execute", "other"]

StopReason = Annotated[
    str,
    msgspec.Meta(
        examples=[
            "end_turn",
            "max_tokens",
            "max_turn_requests",
            "refusal",
            "cancelled",
            "blocked",
            "error",
        ]
    ),
]


class Empty(msgspec.Struct, rename="camel", kw_only=True):
    """An object without fields, to confirm success."""


class ToolDefinition(msgspec.Struct, rename="camel", kw_only=True):
    """A tool run by the client. `inputSchema` is JSON Schema; `outputLimit` is in bytes.

    Calls are asked about where `kind` is `edit` or `execute`, the default unless `readOnly`.
    """

    name: str
    description: str
    input_schema: dict[str, Any]
    kind: ToolKind | msgspec.UnsetType = msgspec.UNSET
    read_only: bool | msgspec.UnsetType = msgspec.UNSET
    output_limit: int | msgspec.UnsetType = msgspec.UNSET
    protected_from_pruning: bool | msgspec.UnsetType = msgspec.UNSET


class ConfigOptionValue(msgspec.Struct, rename="camel", kw_only=True):
    """A possible value of an option."""

    value: str
    name: str
    description: str | msgspec.UnsetType = msgspec.UNSET


class ConfigOption(msgspec.Struct, rename="camel", kw_only=True):
    """A setting of a session, in ACP's shape: current and possible values."""

    id: str
    name: str
    type: Annotated[str, msgspec.Meta(examples=["select", "boolean"])]
    current_value: str | bool
    options: list[ConfigOptionValue] | msgspec.UnsetType = msgspec.UNSET
    category: str | msgspec.UnsetType = msgspec.UNSET
    description: str | msgspec.UnsetType = msgspec.UNSET


class SessionNewParams(msgspec.Struct, rename="camel", kw_only=True):
    """Open a session in a folder; absent fields come from the configuration.

    `window` and `maxTokens` are tokens; the window must exceed the room for an answer, 32,000
    unless `maxTokens` is given. `builtinTools: false` leaves only the client's tools. `from`:
    session to continue.
    """

    cwd: str
    title: str | msgspec.UnsetType = msgspec.UNSET
    agent: str | msgspec.UnsetType = msgspec.UNSET
    model: str | msgspec.UnsetType = msgspec.UNSET
    policy: str | msgspec.UnsetType = msgspec.UNSET
    window: int | msgspec.UnsetType = msgspec.UNSET
    max_tokens: int | msgspec.UnsetType = msgspec.UNSET
    tools: list[ToolDefinition] | msgspec.UnsetType = msgspec.UNSET
    builtin_tools: bool | msgspec.UnsetType = msgspec.UNSET
    system: str | msgspec.UnsetType = msgspec.UNSET
    mcp_servers: list[dict[str, Any]] | msgspec.UnsetType = msgspec.UNSET
    from_session: str | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="from")


class SessionNewResult(msgspec.Struct, rename="camel", kw_only=True):
    """The new session, already stored."""

    session_id: str
    revision: int
    config_options: list[ConfigOption]


class SessionListParams(msgspec.Struct, rename="camel", kw_only=True):
    """List sessions of a folder, or all. `cursor` is `nextCursor` of the last page."""

    cwd: str | msgspec.UnsetType = msgspec.UNSET
    cursor: str | msgspec.UnsetType = msgspec.UNSET
    limit: int | msgspec.UnsetType = msgspec.UNSET


class SessionInfo(msgspec.Struct, rename="camel", kw_only=True):
    """A line of the session list. `updatedAt` is ISO 8601 UTC; `cost` is null when unknown.

    `parent` is the session forked from, continued, or served as a subtask, and may be deleted. A
    subtask's cost counts in its parent's too.
    """

    session_id: str
    title: str
    cwd: str
    updated_at: str
    turns: int
    cost: str | None
    parent: str | msgspec.UnsetType = msgspec.UNSET


class SessionListResult(msgspec.Struct, rename="camel", kw_only=True):
    """One page of sessions, newest first; the last without `nextCursor`."""

    sessions: list[SessionInfo]
    next_cursor: str | msgspec.UnsetType = msgspec.UNSET


class SessionLoadParams(msgspec.Struct, rename="camel", kw_only=True):
    """Load a stored session. With `replay` its history comes first, after part `after`.

    The replay repeats updates: each part whole, ends of turns, compactions, notices. `mcpServers`
    are started for the session's original tools.
    """

    session_id: str
    cwd: str | msgspec.UnsetType = msgspec.UNSET
    replay: bool | msgspec.UnsetType = msgspec.UNSET
    after: str | msgspec.UnsetType = msgspec.UNSET
    mcp_servers: list[dict[str, Any]] | msgspec.UnsetType = msgspec.UNSET


class SessionLoadResult(msgspec.Struct, rename="camel", kw_only=True):
    """The session's current state. `readOnly`: another daemon writes the session."""

    session_id: str
    revision: int
    read_only: bool
    config_options: list[ConfigOption] | msgspec.UnsetType = msgspec.UNSET


class SessionCloseParams(msgspec.Struct, rename="camel", kw_only=True):
    """Close a session, which stays stored."""

    session_id: str


class SessionDeleteParams(msgspec.Struct, rename="camel", kw_only=True):
    """Delete a session for good.

    While a turn runs or waits, refused with -32602 unless `force` cancels it first. Written by
    another window, refused with -32011 in any case.
    """

    session_id: str
    force: bool | msgspec.UnsetType = msgspec.UNSET


class SessionDeleteResult(msgspec.Struct, rename="camel", kw_only=True):
    """The session is deleted; `notes` name places, in sentences, where copies may remain."""

    notes: list[str] | msgspec.UnsetType = msgspec.UNSET


class SessionRenameParams(msgspec.Struct, rename="camel", kw_only=True):
    """A session's new title, of 1 to 200 characters; it counts as used when before."""

    session_id: str
    title: str


class SessionRenameResult(msgspec.Struct, rename="camel", kw_only=True):
    """The title as it is kept, on one line; who has the session open gets it as an update."""

    title: str


class SessionSearchParams(msgspec.Struct, rename="camel", kw_only=True):
    """Search titles, messages, thinking, calls and their shown results of all sessions.

    All words of `query` must stand in one text, in letters of either size and in any order; words
    in double quotes stand together. `cwd`: sessions of this folder alone. `limit`: sessions found,
    20 when absent, at most 100. `cursor` is `nextCursor` of the last page.
    """

    query: str
    cwd: str | msgspec.UnsetType = msgspec.UNSET
    cursor: str | msgspec.UnsetType = msgspec.UNSET
    limit: int | msgspec.UnsetType = msgspec.UNSET


class SearchHit(msgspec.Struct, rename="camel", kw_only=True):
    """A match and what stands around it, in one line; a title's has no ids.

    `context/recall` with `partId` gives the whole text.
    """

    speaker: Annotated[
        str, msgspec.Meta(examples=["title", "user", "agent", "thinking", "tool", "file"])
    ]
    before: str
    match: str
    after: str
    message_id: str | msgspec.UnsetType = msgspec.UNSET
    part_id: str | msgspec.UnsetType = msgspec.UNSET


class FoundSession(msgspec.Struct, rename="camel", kw_only=True):
    """A session and its newest matches, at most five; `more`: there are, or may be, others."""

    session: SessionInfo
    hits: list[SearchHit]
    more: bool


class SessionSearchResult(msgspec.Struct, rename="camel", kw_only=True):
    """What was found in two seconds, in the newest sessions first.

    With `nextCursor` not all sessions were read, whether or not any was found.
    """

    sessions: list[FoundSession]
    next_cursor: str | msgspec.UnsetType = msgspec.UNSET


class SessionSetConfigOptionParams(msgspec.Struct, rename="camel", kw_only=True):
    """An option's new value: model, policy, effort, autoCompact, autoContinue."""

    session_id: str
    config_id: str
    value: Any
    expected_revision: int | msgspec.UnsetType = msgspec.UNSET


class SessionSetConfigOptionResult(msgspec.Struct, rename="camel", kw_only=True):
    """All options with their current values."""

    config_options: list[ConfigOption]


class SessionPromptParams(msgspec.Struct, rename="camel", kw_only=True):
    """Run a turn. `prompt` has ACP's content blocks: text, image, resource, resource_link.

    A link to `sidecar:session/ID` becomes a digest of that session.

    `context` is the editor's state: `{selection?, openFiles?, diagnostics?}`. `steer` adds the text
    to the running turn at its next step instead of starting a turn.
    """

    session_id: str
    prompt: list[dict[str, Any]]
    context: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
    steer: bool | msgspec.UnsetType = msgspec.UNSET
    expected_revision: int | msgspec.UnsetType = msgspec.UNSET


class SessionFindFilesParams(msgspec.Struct, rename="camel", kw_only=True):
    """Find files of the session's folder by letters of their paths, in order, not all together.

    An empty query gives the topmost files. `limit` is 50 when absent, at most 500.
    """

    session_id: str
    query: str
    limit: int | msgspec.UnsetType = msgspec.UNSET


class SessionFindFilesResult(msgspec.Struct, rename="camel", kw_only=True):
    """Paths relative to `cwd`, the best matches first, without ignored files.

    `partial`: the folder is too large for a look at all of its files.
    """

    files: list[str]
    partial: bool


class Usage(msgspec.Struct, rename="camel", kw_only=True):
    """Tokens of all model requests of a turn; `thoughtTokens` is a share of `outputTokens`."""

    input_tokens: int
    output_tokens: int
    cached_read_tokens: int
    cached_write_tokens: int
    thought_tokens: int
    total_tokens: int
    requests: int


class TurnError(msgspec.Struct, rename="camel", kw_only=True):
    """A turn's failure; `code` and `kind` as in the table of errors, `status` is HTTP's."""

    code: int
    kind: str
    message: str
    retryable: bool
    status: int | msgspec.UnsetType | None = msgspec.UNSET


class SessionPromptResult(msgspec.Struct, rename="camel", kw_only=True):
    """A turn's end, also of a failed turn. `messageId` is the typed message, `cost` in USD."""

    stop_reason: StopReason
    turn_id: str
    message_id: str
    revision: int
    usage: Usage
    cost: str | None
    meter: Meter
    error: TurnError | msgspec.UnsetType = msgspec.UNSET


class SessionCancelParams(msgspec.Struct, rename="camel", kw_only=True):
    """End the running turn and waiting prompts as `cancelled`."""

    session_id: str


ToolCallKind = Annotated[
    str,
    msgspec.Meta(
        examples=[
            "read",
            "edit",
            "delete",
            "move",
            "search",
            "execute",
            "think",
            "fetch",
            "other",
        ]
    ),
]
ToolCallStatus = Annotated[
    str, msgspec.Meta(examples=["pending", "in_progress", "completed", "failed"])
]
PlanStatus = Annotated[str, msgspec.Meta(examples=["pending", "in_progress", "completed"])]
PlanPriority = Annotated[str, msgspec.Meta(examples=["high", "medium", "low"])]
NoticeLevel = Annotated[str, msgspec.Meta(examples=["info", "warning", "error"])]
CompactionStatus = Annotated[str, msgspec.Meta(examples=["completed", "failed", "undone"])]
CompactionCause = Annotated[
    str,
    msgspec.Meta(
        examples=[
            "user",
            "budget",
            "cold",
            "pays",
            "overflow",
            "idle",
            "instructions",
            "model",
            "tools",
            "restore",
            "undo",
        ]
    ),
]


class UpdateOrigin(msgspec.Struct, rename="camel", kw_only=True):
    """`_meta.sidecar` of an update. `seq` rises strictly per session.

    `inputDelta` and `outputDelta` extend a call's input or output while streaming. `metadata` is
    the tool's extra information (`exitCode`, `diff`), for people. `discards` names parts withdrawn
    because their step is retried.
    """

    seq: int
    part_id: str | msgspec.UnsetType = msgspec.UNSET
    message_id: str | msgspec.UnsetType = msgspec.UNSET
    turn_id: str | msgspec.UnsetType = msgspec.UNSET
    input_delta: str | msgspec.UnsetType = msgspec.UNSET
    output_delta: str | msgspec.UnsetType = msgspec.UNSET
    metadata: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
    discards: list[str] | msgspec.UnsetType = msgspec.UNSET


class UserMessageChunk(
    msgspec.Struct,
    rename="camel",
    kw_only=True,
    tag_field="sessionUpdate",
    tag="user_message_chunk",
):
    """More of the user's message: one content block."""

    content: dict[str, Any]
    meta: dict[str, Any] | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="_meta")


class AgentMessageChunk(
    msgspec.Struct,
    rename="camel",
    kw_only=True,
    tag_field="sessionUpdate",
    tag="agent_message_chunk",
):
    """More of the model's answer: one content block."""

    content: dict[str, Any]
    meta: dict[str, Any] | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="_meta")


class AgentThoughtChunk(
    msgspec.Struct,
    rename="camel",
    kw_only=True,
    tag_field="sessionUpdate",
    tag="agent_thought_chunk",
):
    """More of the model's thinking: one content block."""

    content: dict[str, Any]
    meta: dict[str, Any] | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="_meta")


class ToolCallLocation(msgspec.Struct, rename="camel", kw_only=True):
    """A file read or changed by a call; `line` counts from 1."""

    path: str
    line: int | msgspec.UnsetType = msgspec.UNSET


class ToolCallStarted(
    msgspec.Struct, rename="camel", kw_only=True, tag_field="sessionUpdate", tag="tool_call"
):
    """A tool call appeared. `content` is ACP's tool call content; `rawInput` is the model's."""

    tool_call_id: str
    title: str
    kind: ToolCallKind | msgspec.UnsetType = msgspec.UNSET
    status: ToolCallStatus | msgspec.UnsetType = msgspec.UNSET
    content: list[dict[str, Any]] | msgspec.UnsetType = msgspec.UNSET
    locations: list[ToolCallLocation] | msgspec.UnsetType = msgspec.UNSET
    raw_input: Any = msgspec.UNSET
    raw_output: Any = msgspec.UNSET
    meta: dict[str, Any] | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="_meta")


class ToolCallChanged(
    msgspec.Struct, rename="camel", kw_only=True, tag_field="sessionUpdate", tag="tool_call_update"
):
    """A tool call changed; absent fields are unchanged, lists are replaced whole."""

    tool_call_id: str
    title: str | msgspec.UnsetType = msgspec.UNSET
    kind: ToolCallKind | msgspec.UnsetType = msgspec.UNSET
    status: ToolCallStatus | msgspec.UnsetType = msgspec.UNSET
    content: list[dict[str, Any]] | msgspec.UnsetType = msgspec.UNSET
    locations: list[ToolCallLocation] | msgspec.UnsetType = msgspec.UNSET
    raw_input: Any = msgspec.UNSET
    raw_output: Any = msgspec.UNSET
    meta: dict[str, Any] | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="_meta")


class PlanEntry(msgspec.Struct, rename="camel", kw_only=True):
    """An item of the todo list."""

    content: str
    priority: PlanPriority
    status: PlanStatus


class PlanChanged(
    msgspec.Struct, rename="camel", kw_only=True, tag_field="sessionUpdate", tag="plan"
):
    """The whole todo list."""

    entries: list[PlanEntry]
    meta: dict[str, Any] | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="_meta")


class UsageCost(msgspec.Struct, rename="camel", kw_only=True):
    """The session's cost so far, in ACP's shape; the meter's decimal strings are exact."""

    amount: float
    currency: str


class UsageChanged(
    msgspec.Struct, rename="camel", kw_only=True, tag_field="sessionUpdate", tag="usage_update"
):
    """Tokens in the context and its size; the rest of the meter is in `_meta.sidecar`."""

    used: int
    size: int
    cost: UsageCost | msgspec.UnsetType = msgspec.UNSET
    meta: dict[str, Any] | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="_meta")


class SessionInfoChanged(
    msgspec.Struct,
    rename="camel",
    kw_only=True,
    tag_field="sessionUpdate",
    tag="session_info_update",
):
    """The session's title or time changed."""

    title: str | msgspec.UnsetType = msgspec.UNSET
    updated_at: str | msgspec.UnsetType = msgspec.UNSET
    meta: dict[str, Any] | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="_meta")


class AvailableCommand(msgspec.Struct, rename="camel", kw_only=True):
    """A slash command; `input` is `{hint}` if text may follow."""

    name: str
    description: str
    input: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET


class AvailableCommandsChanged(
    msgspec.Struct,
    rename="camel",
    kw_only=True,
    tag_field="sessionUpdate",
    tag="available_commands_update",
):
    """All current slash commands."""

    available_commands: list[AvailableCommand]
    meta: dict[str, Any] | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="_meta")


class ConfigOptionsChanged(
    msgspec.Struct,
    rename="camel",
    kw_only=True,
    tag_field="sessionUpdate",
    tag="config_option_update",
):
    """All current config options."""

    config_options: list[ConfigOption]
    meta: dict[str, Any] | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="_meta")


class TurnEnded(
    msgspec.Struct,
    rename="camel",
    kw_only=True,
    tag_field="sessionUpdate",
    tag="turn_ended",
):
    """A turn ended: its outcome, for all clients watching or loading the session.

    ACP has no such update; there only the sender of the prompt gets the outcome, as the answer.
    """

    turn_id: str
    message_id: str
    stop_reason: StopReason
    usage: Usage
    cost: str | None
    error: TurnError | msgspec.UnsetType = msgspec.UNSET
    meta: dict[str, Any] | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="_meta")


class CompactionChanged(
    msgspec.Struct,
    rename="camel",
    kw_only=True,
    tag_field="sessionUpdate",
    tag="compaction_update",
):
    """The cached prefix was rewritten, or a rewrite failed; nothing else rewrites. `price`: USD."""

    compaction_id: str
    status: CompactionStatus
    cause: CompactionCause
    tokens_before: int
    tokens_after: int
    price: str | None
    summary_part_id: str | msgspec.UnsetType = msgspec.UNSET
    meta: dict[str, Any] | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="_meta")


class Notice(msgspec.Struct, rename="camel", kw_only=True, tag_field="sessionUpdate", tag="notice"):
    """A message for a person."""

    level: NoticeLevel
    message: str
    meta: dict[str, Any] | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="_meta")


SessionUpdate = (
    UserMessageChunk
    | AgentMessageChunk
    | AgentThoughtChunk
    | ToolCallStarted
    | ToolCallChanged
    | PlanChanged
    | UsageChanged
    | SessionInfoChanged
    | AvailableCommandsChanged
    | ConfigOptionsChanged
    | TurnEnded
    | CompactionChanged
    | Notice
)


class SessionUpdateParams(msgspec.Struct, rename="camel", kw_only=True):
    """One update of one session."""

    session_id: str
    update: SessionUpdate


ChangeCause = Annotated[
    str, msgspec.Meta(examples=["turn_started", "step", "tools", "turn_ended", "option"])
]


class ProviderOptions(msgspec.Struct, rename="camel", kw_only=True):
    """The provider's name, address and key."""

    name: str | msgspec.UnsetType = msgspec.UNSET
    base_url: str | msgspec.UnsetType = msgspec.UNSET
    api_key: str | msgspec.UnsetType = msgspec.UNSET


class PermissionRules(msgspec.Struct, rename="camel", kw_only=True):
    """Rules to allow or reject calls unasked: `TOOL`, `TOOL:PATTERN` or `shell@FOLDER:COMMAND`.

    See `docs/reference/permissions.md`.
    """

    allow: list[str] | msgspec.UnsetType = msgspec.UNSET
    reject: list[str] | msgspec.UnsetType = msgspec.UNSET


class InitializationOptions(msgspec.Struct, rename="camel", kw_only=True):
    """`initializationOptions` of `initialize`; over ACP `_meta.sidecar`. All are optional.

    `config` has any other of `docs/reference/settings.md`, as in a file:
    `{retry: {totalMs: 60000}}`.
    """

    model: str | msgspec.UnsetType = msgspec.UNSET
    policy: str | msgspec.UnsetType = msgspec.UNSET
    window: int | msgspec.UnsetType = msgspec.UNSET
    max_tokens: int | msgspec.UnsetType = msgspec.UNSET
    provider: ProviderOptions | msgspec.UnsetType = msgspec.UNSET
    data_dir: str | msgspec.UnsetType = msgspec.UNSET
    workspace_trusted: bool | msgspec.UnsetType = msgspec.UNSET
    agent: str | msgspec.UnsetType = msgspec.UNSET
    config: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
    permissions: PermissionRules | msgspec.UnsetType = msgspec.UNSET
    mcp_servers: dict[str, dict[str, Any]] | msgspec.UnsetType = msgspec.UNSET
    providers: dict[str, dict[str, Any]] | msgspec.UnsetType = msgspec.UNSET


class FileCapabilities(msgspec.Struct, rename="camel", kw_only=True):
    """Whether the client reads and writes files for the daemon."""

    read_text_file: bool | msgspec.UnsetType = msgspec.UNSET
    write_text_file: bool | msgspec.UnsetType = msgspec.UNSET


class ClientCapabilities(msgspec.Struct, rename="camel", kw_only=True):
    """`capabilities.experimental.sidecar` of an editor's `initialize`; ACP has the same `fs`.

    Nothing else is requested: without `requestPermission`, calls in need of permission are refused;
    without `toolCall`, tools of the client fail, each with the reason. ACP clients always answer
    questions, and announce `toolCall` in their `_meta.sidecar`. `workspace/applyEdit` is announced
    as in LSP.
    """

    fs: FileCapabilities | msgspec.UnsetType = msgspec.UNSET
    tool_call: bool | msgspec.UnsetType = msgspec.UNSET
    request_permission: bool | msgspec.UnsetType = msgspec.UNSET


class ServerCapabilities(msgspec.Struct, rename="camel", kw_only=True):
    """`capabilities.experimental.sidecar` of the daemon's answer to `initialize`."""

    protocol_version: int
    features: list[str]


class DaemonStatusParams(msgspec.Struct, rename="camel", kw_only=True):
    """Ask for the daemon's state, without params."""


class OpenSession(msgspec.Struct, rename="camel", kw_only=True):
    """A session open in this daemon."""

    session_id: str
    revision: int
    busy: bool


class DaemonStatusResult(msgspec.Struct, rename="camel", kw_only=True):
    """The daemon's state. Inner objects are for people; null means absent (so far).

    `settings` lists all settings changed from their default, by name: value (keys hidden), layer
    (user, workspace, environment, client) and place, and whether `pending` until a restart.
    """

    version: str
    pid: int
    uptime_ms: int
    sessions: list[OpenSession]
    store: dict[str, Any] | None
    watcher: dict[str, Any] | None
    model: dict[str, Any] | None
    mcp: list[dict[str, Any]]
    metrics: dict[str, Any]
    alerts: list[dict[str, Any]]
    settings: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET


class DaemonStatusChangedParams(msgspec.Struct, rename="camel", kw_only=True):
    """The daemon became busy or idle, or failed; `message` is for a status bar."""

    busy: bool
    kind: Annotated[str, msgspec.Meta(examples=["idle", "working", "error"])]
    message: str


class DaemonAlertParams(msgspec.Struct, rename="camel", kw_only=True):
    """A value crossed a threshold (`raised`) or came back (`cleared`); each is sent once.

    `name` is the threshold's setting under `alerts`, which also sets the unit of `value`. `action`
    is advice. Without `sessionId` the alert is about all sessions of the daemon.
    """

    state: Annotated[str, msgspec.Meta(examples=["raised", "cleared"])]
    name: Annotated[str, msgspec.Meta(examples=["hit_rate", "utilisation"])]
    level: Annotated[str, msgspec.Meta(examples=["info", "warning", "critical"])]
    message: str
    action: str
    value: float
    threshold: float
    at: str
    session_id: str | msgspec.UnsetType = msgspec.UNSET


class SessionChangedParams(msgspec.Struct, rename="camel", kw_only=True):
    """The session's log grew; `revision` is its newest."""

    session_id: str
    revision: int
    cause: ChangeCause


class RetryError(msgspec.Struct, rename="camel", kw_only=True):
    """Failure of a model request; `kind` is one of -32020's, `status` is HTTP's."""

    kind: str
    message: str
    status: int | msgspec.UnsetType = msgspec.UNSET


class SessionRetryingParams(msgspec.Struct, rename="camel", kw_only=True):
    """A failed model request is retried after `delayMs`; `discard` names void parts."""

    session_id: str
    attempt: int
    max_attempts: int
    delay_ms: int
    error: RetryError
    discard: list[str]


PermissionKind = Literal["allow_once", "allow_always", "reject_once", "reject_always"]


class PermissionOption(msgspec.Struct, rename="camel", kw_only=True):
    """One possible answer of the user."""

    option_id: str
    name: str
    kind: PermissionKind


class PermissionToolCall(msgspec.Struct, rename="camel", kw_only=True):
    """The call waiting for the answer; fields of a `tool_call_update`.

    `content` of an edit shows the expected change as ACP's
    `{type: "diff", path, oldText, newText}`, one per hunk with three lines of context. Beyond
    400,000 characters in total, texts are cut, and say so at the end. `path` is absolute; `oldText`
    is null for a new file. A command stands whole in `rawInput.command`.
    """

    tool_call_id: str
    title: str | msgspec.UnsetType = msgspec.UNSET
    kind: ToolCallKind | msgspec.UnsetType = msgspec.UNSET
    status: ToolCallStatus | msgspec.UnsetType = msgspec.UNSET
    content: list[dict[str, Any]] | msgspec.UnsetType = msgspec.UNSET
    locations: list[ToolCallLocation] | msgspec.UnsetType = msgspec.UNSET
    raw_input: Any = msgspec.UNSET
    meta: dict[str, Any] | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="_meta")


class SessionRequestPermissionParams(msgspec.Struct, rename="camel", kw_only=True):
    """Ask the user before a call continues, in ACP's shape.

    `_meta.sidecar.question` is `permission` (may the call run), `trust` (is the folder
    `_meta.sidecar.folder` trusted) or `loop` (may a model repeating itself continue). A client
    answering by its own rules answers `permission` alone. Parallel calls are asked about at the
    same time, each answered by its request's id. The end of the turn withdraws a question by
    `$/cancelRequest` (ACP: `$/cancel_request`). `options` may be many, several of one kind: show
    all, by name.
    """

    session_id: str
    tool_call: PermissionToolCall
    options: list[PermissionOption]


class PermissionSelected(
    msgspec.Struct, rename="camel", kw_only=True, tag_field="outcome", tag="selected"
):
    """The user chose an option."""

    option_id: str


class PermissionCancelled(
    msgspec.Struct, rename="camel", kw_only=True, tag_field="outcome", tag="cancelled"
):
    """The user dismissed the question, which cancels the turn, or the turn was cancelled."""


PermissionOutcome = PermissionSelected | PermissionCancelled


class SessionRequestPermissionResult(msgspec.Struct, rename="camel", kw_only=True):
    """The user's answer. An unknown option refuses the call, and the turn continues.

    A call rejected by the user ends the turn as `blocked`.
    """

    outcome: PermissionOutcome


class ToolCallParams(msgspec.Struct, rename="camel", kw_only=True):
    """Run one of the client's tools; `input` is the model's, unchanged."""

    session_id: str
    call_id: str
    name: str
    input: Any


class ToolCallResult(msgspec.Struct, rename="camel", kw_only=True):
    """The tool's result: ACP content blocks. `metadata.exitCode` marks a failed command."""

    content: list[dict[str, Any]]
    is_error: bool | msgspec.UnsetType = msgspec.UNSET
    title: str | msgspec.UnsetType = msgspec.UNSET
    metadata: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
    attachments: list[dict[str, Any]] | msgspec.UnsetType = msgspec.UNSET


class FsReadTextFileParams(msgspec.Struct, rename="camel", kw_only=True):
    """Read a file as the editor has it, with unsaved changes; `path` is absolute."""

    session_id: str
    path: str


class FsReadTextFileResult(msgspec.Struct, rename="camel", kw_only=True):
    """The file's whole text."""

    content: str


class FsWriteTextFileParams(msgspec.Struct, rename="camel", kw_only=True):
    """Replace a file's whole text through the editor; `path` is absolute."""

    session_id: str
    path: str
    content: str


class ContextRecallParams(msgspec.Struct, rename="camel", kw_only=True):
    """Recall a logged part by id; `offset` and `limit` are bytes of UTF-8.

    With `pattern`, a regular expression: matching lines with numbers.
    """

    session_id: str
    part_id: str
    offset: int | msgspec.UnsetType = msgspec.UNSET
    limit: int | msgspec.UnsetType = msgspec.UNSET
    pattern: str | msgspec.UnsetType = msgspec.UNSET


class ContextRecallResult(msgspec.Struct, rename="camel", kw_only=True):
    """A piece of the text, the last if without `nextOffset`."""

    content: str
    total_bytes: int
    next_offset: int | msgspec.UnsetType = msgspec.UNSET


class ContextBreakdownParams(msgspec.Struct, rename="camel", kw_only=True):
    """Break down a session's context into segments."""

    session_id: str


class ContextSegment(msgspec.Struct, rename="camel", kw_only=True):
    """A piece of the prompt; `presentation` tells whether whole, cut or a stub.

    `pinned`: kept through compactions. `reason`: of the rewrite by which the part is not whole.
    `server`: the MCP server of a tool.
    """

    id: str
    region: str
    label: str
    tokens: int
    accuracy: Accuracy
    presentation: str
    cached: bool
    pinned: bool
    reason: str | msgspec.UnsetType = msgspec.UNSET
    turn_id: str | msgspec.UnsetType = msgspec.UNSET
    part_id: str | msgspec.UnsetType = msgspec.UNSET
    server: str | msgspec.UnsetType = msgspec.UNSET


class ContextBreakdownResult(msgspec.Struct, rename="camel", kw_only=True):
    """The meter and its segments, in the order of the prompt."""

    meter: Meter
    segments: list[ContextSegment]


class ContextPreviewParams(msgspec.Struct, rename="camel", kw_only=True):
    """Preview the next request with this prompt, or the current history without one."""

    session_id: str
    prompt: list[dict[str, Any]] | msgspec.UnsetType = msgspec.UNSET


class ContextPreviewResult(msgspec.Struct, rename="camel", kw_only=True):
    """`request` is the provider's exact request body; `price` is USD or null."""

    request: dict[str, Any]
    tokens: int
    predicted_cache_read: int
    predicted_cache_write: int
    price: str | None
    breakpoints: list[dict[str, Any]]


class ContextCompactParams(msgspec.Struct, rename="camel", kw_only=True):
    """Compact the context now; `dryRun` only plans.

    With `summary` a dry run requests the summary too, which costs money. `workDoneToken` is LSP's:
    progress comes by `$/progress`, and `window/workDoneProgress/cancel` stops the work. Parts of
    `keep` stay this once, as pinned ones do; the plan's `reason` says why where one cannot.
    """

    session_id: str
    strategy: str | msgspec.UnsetType = msgspec.UNSET
    keep: list[str] | msgspec.UnsetType = msgspec.UNSET
    instructions: str | msgspec.UnsetType = msgspec.UNSET
    dry_run: bool | msgspec.UnsetType = msgspec.UNSET
    expected_revision: int | msgspec.UnsetType = msgspec.UNSET
    summary: bool | msgspec.UnsetType = msgspec.UNSET
    work_done_token: str | int | msgspec.UnsetType = msgspec.UNSET


class CompactionStep(msgspec.Struct, rename="camel", kw_only=True):
    """A change to one part or turn, with its reason."""

    action: Annotated[
        str,
        msgspec.Meta(examples=["drop", "evict", "truncate", "excerpt", "restore", "summarize"]),
    ]
    reason: str
    tokens_before: int
    tokens_after: int
    part_id: str | msgspec.UnsetType = msgspec.UNSET
    turn_id: str | msgspec.UnsetType = msgspec.UNSET


class FileShownAsItStands(msgspec.Struct, rename="camel", kw_only=True):
    """A file that is worked on: ranges of lines from 1, their tokens, and USD for writing them.

    `price` is null where prices are not known.
    """

    path: str
    lines: Annotated[str, msgspec.Meta(examples=["1-40, 88-120"])]
    tokens: int
    price: str | None


class ContextCompactResult(msgspec.Struct, rename="camel", kw_only=True):
    """The plan and its gain; `breakEvenRequests` is the number of requests until the plan pays.

    `files` are shown as they stand, in place of earlier reads of them. A dry run with nothing to
    leave out returns an empty plan and the `reason`. `asked`: the ways to a summary and the models
    asked, in order (`server`: the provider's own compaction; `extension`: behind the conversation;
    `fresh`: apart); of a dry run, the first to be asked. `problem`: why one gave none.
    """

    plan: list[CompactionStep]
    tokens_before: int
    tokens_after: int
    price: str | None
    break_even_requests: int | None
    files: list[FileShownAsItStands] | msgspec.UnsetType = msgspec.UNSET
    compaction_id: str | msgspec.UnsetType = msgspec.UNSET
    summary: str | msgspec.UnsetType = msgspec.UNSET
    asked: list[str] | msgspec.UnsetType = msgspec.UNSET
    problem: str | msgspec.UnsetType = msgspec.UNSET
    reason: str | msgspec.UnsetType = msgspec.UNSET


class ContextUndoCompactionParams(msgspec.Struct, rename="camel", kw_only=True):
    """Undo a compaction, by default the newest not undone."""

    session_id: str
    compaction_id: str | msgspec.UnsetType = msgspec.UNSET


class ContextUndoCompactionResult(msgspec.Struct, rename="camel", kw_only=True):
    """The session afterwards."""

    revision: int
    meter: Meter


class ContextPinParams(msgspec.Struct, rename="camel", kw_only=True):
    """Keep a part in the context through compactions, or no longer."""

    session_id: str
    part_id: str
    pinned: bool


class ContextPinResult(msgspec.Struct, rename="camel", kw_only=True):
    """The session's newest revision."""

    revision: int


RestoreScope = Literal["conversation", "files", "both"]
OnConflict = Literal["refuse", "keep", "overwrite", "merge"]
BundleFormat = Literal["sidecar", "claude-code", "codex", "opencode", "pi", "neutral"]
FileChangeKind = Annotated[
    str, msgspec.Meta(examples=["created", "modified", "deleted", "renamed", "mode"])
]
FactKind = Annotated[
    str,
    msgspec.Meta(
        examples=["decision", "error", "file_state", "dependency", "constraint", "learning"]
    ),
]
Speaker = Annotated[str, msgspec.Meta(examples=["user", "model", "tool"])]
Author = Annotated[
    str, msgspec.Meta(examples=["tool", "shell", "user", "unknown", "restore", "several"])
]


class SessionForkParams(msgspec.Struct, rename="camel", kw_only=True):
    """Fork a session at the end of a message, or at its current end.

    Unfinished work is left out.
    """

    session_id: str
    at_message_id: str | msgspec.UnsetType = msgspec.UNSET
    mcp_servers: list[dict[str, Any]] | msgspec.UnsetType = msgspec.UNSET


class SessionForkResult(msgspec.Struct, rename="camel", kw_only=True):
    """The new session."""

    session_id: str
    revision: int


class SessionHandoffParams(msgspec.Struct, rename="camel", kw_only=True):
    """Draft the next session's first prompt, for a goal.

    `continue` opens it at once, in the same folder with the same settings; its first prompt
    includes the state of the work. Then an empty `goal` keeps the old one.
    """

    session_id: str
    goal: str
    go_on: bool | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="continue")


class SessionHandoffResult(msgspec.Struct, rename="camel", kw_only=True):
    """A first prompt to edit, in Markdown, and relevant files, likeliest first.

    Open the next session with `session/new` and `from`; with `continue`, `sessionId` is already
    there.
    """

    draft: str
    files: list[str]
    session_id: str | msgspec.UnsetType = msgspec.UNSET


class SessionExportParams(msgspec.Struct, rename="camel", kw_only=True):
    """Export a session to an absolute path of a file or folder.

    A folder gets a new file; so does the data folder's `exports` without a path. An existing file
    is kept unless `overwrite` is true. With `snapshots`, what checkpoints need of files goes along:
    at most 64 MiB, but no file with a likely key.
    """

    session_id: str
    path: str | msgspec.UnsetType = msgspec.UNSET
    overwrite: bool | msgspec.UnsetType = msgspec.UNSET
    snapshots: bool | msgspec.UnsetType = msgspec.UNSET


class SessionExportResult(msgspec.Struct, rename="camel", kw_only=True):
    """The bundle: a packed file, readable by its user only, `size` bytes long.

    Holds durable, settled content only. `redacted` counts likely keys removed; `notes` name other
    omissions, in sentences.
    """

    path: str
    size: int
    redacted: int
    notes: list[str]


class SessionArchiveParams(msgspec.Struct, rename="camel", kw_only=True):
    """Archive a session without running turns and not open in another window."""

    session_id: str


class ArchivedSession(msgspec.Struct, rename="camel", kw_only=True):
    """A session in a bundle at `path`, of `size` bytes; `freed` bytes in the store."""

    session_id: str
    path: str
    size: int
    freed: int


class SessionArchiveResult(msgspec.Struct, rename="camel", kw_only=True):
    """The archived sessions: first those of subtasks, last the session itself.

    `session/import` with a path restores each under its own id.
    """

    sessions: list[ArchivedSession]


class SessionImportParams(msgspec.Struct, rename="camel", kw_only=True):
    """Import a session from a file's absolute path, or its text as `content`.

    An absent format is detected. The session works in the folder `cwd`, by default the workspace
    named by `initialize`; never in one named by the file. With `snapshots`, what a bundle says of
    files is believed, so that the session can go back in these, too.
    """

    format: BundleFormat | msgspec.UnsetType = msgspec.UNSET
    content: str | msgspec.UnsetType = msgspec.UNSET
    path: str | msgspec.UnsetType = msgspec.UNSET
    cwd: str | msgspec.UnsetType = msgspec.UNSET
    snapshots: bool | msgspec.UnsetType = msgspec.UNSET


class SessionImportResult(msgspec.Struct, rename="camel", kw_only=True):
    """The new session, ready to load, and the detected format.

    `notes` are remarks for people, in sentences.
    """

    session_id: str
    revision: int
    format: BundleFormat
    notes: list[str]


class FileChange(msgspec.Struct, rename="camel", kw_only=True):
    """A changed file; `path` is relative to `cwd` with `/`, `from` is a renamed file's old path.

    `author`: the agent by a `tool` or `shell` command, the `user` (or anybody else), a `restore`,
    or `unknown`: by the user or a command that does not declare its writes, while it ran. `size`
    and `sizeBefore` are bytes, 0 without a file. `restorable` is false where content before or
    after is not stored (too large, for example).
    """

    path: str
    change: FileChangeKind
    author: Author
    additions: int
    deletions: int
    size: int
    size_before: int
    renamed_from: str | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="from")
    restorable: bool | msgspec.UnsetType = msgspec.UNSET


class FileDiff(msgspec.Struct, rename="camel", kw_only=True):
    """A changed file with its unified diff; `restorable` as in `FileChange`.

    `authors` are all between the two states, the last at the end; `author` is the only one, or
    `several`, so that no author's lines are shown as another's.
    """

    path: str
    change: FileChangeKind
    author: Author
    authors: list[Author]
    diff: str
    additions: int
    deletions: int
    renamed_from: str | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="from")
    restorable: bool | msgspec.UnsetType = msgspec.UNSET


class Checkpoint(msgspec.Struct, rename="camel", kw_only=True):
    """A state to go back to; `files` are the changes up to it.

    Made at each turn's start, after each step that changed files, and before each restore. A turn's
    marks the place of its prompt, and the user's changes before. `left` is true on an abandoned
    branch, its message no longer in the conversation.
    """

    checkpoint_id: str
    turn_id: str
    message_id: str
    at: str
    title: str
    files: list[FileChange]
    left: bool | msgspec.UnsetType = msgspec.UNSET


class CheckpointListParams(msgspec.Struct, rename="camel", kw_only=True):
    """List a session's checkpoints."""

    session_id: str


class SessionChanges(msgspec.Struct, rename="camel", kw_only=True):
    """The agent's changes in a session, except undone ones; `additions`, `deletions` are sums."""

    files: list[FileChange]
    additions: int
    deletions: int


class CheckpointListResult(msgspec.Struct, rename="camel", kw_only=True):
    """All checkpoints, oldest first; `head` is the session's current one.

    Checkpoints of abandoned branches are included.
    """

    checkpoints: list[Checkpoint]
    head: str | None
    changes: SessionChanges | msgspec.UnsetType = msgspec.UNSET


class CheckpointDiffParams(msgspec.Struct, rename="camel", kw_only=True):
    """Compare two checkpoints, or one with now; for one file or folder, or all files."""

    session_id: str
    from_checkpoint: str = msgspec.field(name="from")
    to: str | msgspec.UnsetType = msgspec.UNSET
    path: str | msgspec.UnsetType = msgspec.UNSET


class CheckpointDiffResult(msgspec.Struct, rename="camel", kw_only=True):
    """The changed files."""

    files: list[FileDiff]


class CheckpointRestoreParams(msgspec.Struct, rename="camel", kw_only=True):
    """Go back to a checkpoint, or to before a message.

    Absent, `scope` is `both`, and `onConflict` is `refuse`. `paths` are files or folders, relative
    to `cwd`. `hunks`, for one file, are the only ones to restore of the `diff` of a dry run, each
    whole from its `@@` line on; refused if the file changed since. With `markers`, `merge` writes
    both sides of a clash between conflict markers. Refused while a turn runs.
    """

    session_id: str
    scope: RestoreScope | msgspec.UnsetType = msgspec.UNSET
    checkpoint_id: str | msgspec.UnsetType = msgspec.UNSET
    before_message_id: str | msgspec.UnsetType = msgspec.UNSET
    on_conflict: OnConflict | msgspec.UnsetType = msgspec.UNSET
    markers: bool | msgspec.UnsetType = msgspec.UNSET
    paths: list[str] | msgspec.UnsetType = msgspec.UNSET
    hunks: list[str] | msgspec.UnsetType = msgspec.UNSET
    dry_run: bool | msgspec.UnsetType = msgspec.UNSET
    expected_revision: int | msgspec.UnsetType = msgspec.UNSET


class RestoredFile(msgspec.Struct, rename="camel", kw_only=True):
    """A file of a restore, with the reason for its outcome.

    In a dry run `diff` is the expected change. A conflict has two diffs, where known: the agent's
    changes, and later ones. `unknownDiff`: changes while a command of the agent ran, by it or by
    others; `keep` leaves them, `overwrite` treats them as the agent's.
    """

    path: str
    reason: str
    diff: str | msgspec.UnsetType = msgspec.UNSET
    agent_diff: str | msgspec.UnsetType = msgspec.UNSET
    user_diff: str | msgspec.UnsetType = msgspec.UNSET
    unknown_diff: str | msgspec.UnsetType = msgspec.UNSET


class RestoredFiles(msgspec.Struct, rename="camel", kw_only=True):
    """Every file examined by a restore, by outcome."""

    restored: list[RestoredFile]
    merged: list[RestoredFile]
    skipped: list[RestoredFile]
    conflicts: list[RestoredFile]


class CheckpointRestoreResult(msgspec.Struct, rename="camel", kw_only=True):
    """The session after the restore, or as expected by a dry run.

    `undoCheckpointId` names the state before (empty in a dry run); `restoredPrompt` is the text of
    the first message that left the conversation. `notes` list everything outside of snapshots
    (`.git`, `node_modules`), and losses there, in sentences. A dry run with nothing to do returns
    an empty plan, `reason` and notes; `files.skipped` has each path's reason.
    """

    undo_checkpoint_id: str
    revision: int
    files: RestoredFiles
    reason: str | msgspec.UnsetType = msgspec.UNSET
    notes: list[str] | msgspec.UnsetType = msgspec.UNSET
    restored_prompt: str | msgspec.UnsetType = msgspec.UNSET


class CheckpointRedoParams(msgspec.Struct, rename="camel", kw_only=True):
    """Undo a restore by its `undoCheckpointId`, by default the newest not undone.

    The scope is the restore's. `onConflict` is `refuse` when absent; `markers` is as for a restore.
    """

    session_id: str
    checkpoint_id: str | msgspec.UnsetType = msgspec.UNSET
    on_conflict: OnConflict | msgspec.UnsetType = msgspec.UNSET
    markers: bool | msgspec.UnsetType = msgspec.UNSET
    dry_run: bool | msgspec.UnsetType = msgspec.UNSET
    expected_revision: int | msgspec.UnsetType = msgspec.UNSET


class FactsListParams(msgspec.Struct, rename="camel", kw_only=True):
    """List facts by session, folder, kind and words (the last may be a word's beginning).

    All given conditions must hold.
    """

    session_id: str | msgspec.UnsetType = msgspec.UNSET
    cwd: str | msgspec.UnsetType = msgspec.UNSET
    kind: FactKind | msgspec.UnsetType = msgspec.UNSET
    query: str | msgspec.UnsetType = msgspec.UNSET


class FactSource(msgspec.Struct, rename="camel", kw_only=True):
    """The turn that supports a fact, and the speaker."""

    session_id: str
    turn_id: str
    said_by: Speaker


class Fact(msgspec.Struct, rename="camel", kw_only=True):
    """A fact found out in a session; `learned` once passed on to later sessions."""

    fact_id: str
    kind: FactKind
    content: str
    source: FactSource
    at: str
    learned: bool


class FactsListResult(msgspec.Struct, rename="camel", kw_only=True):
    """The facts, newest first; at most 200."""

    facts: list[Fact]


class SessionSyncParams(msgspec.Struct, rename="camel", kw_only=True):
    """Sync the sessions of a folder, by default the workspace, with a git remote.

    `remote` is a name of the project's remotes, an address or a path; by default the setting
    `sync.remote`, else `origin`. Nothing is sent before somebody has seen what: a first call
    answers `agreed: false`, and the next one repeats the answer's `remote` as `agree`. With
    `sessionIds`, only these are synced; `open` names sessions of the remote to take in, by their
    names there or beginnings of these. With `snapshots`, what checkpoints need of files comes and
    goes along, from now on; that is shown and agreed to by itself, and `false` ends it.
    """

    cwd: str | msgspec.UnsetType = msgspec.UNSET
    remote: str | msgspec.UnsetType = msgspec.UNSET
    agree: str | msgspec.UnsetType = msgspec.UNSET
    dry_run: bool | msgspec.UnsetType = msgspec.UNSET
    session_ids: list[str] | msgspec.UnsetType = msgspec.UNSET
    names: list[str] | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="open")
    snapshots: bool | msgspec.UnsetType = msgspec.UNSET


class SyncedSession(msgspec.Struct, rename="camel", kw_only=True):
    """A session that was sent, or taken in; `name` is that of its ref, `refs/sidecar/NAME`.

    `messages` are those that were new, `size` the packed bytes sent, `redacted` likely keys that
    were taken out, `files` contents of files. `forkOf`, of a fork: the session here that another
    machine went on with first.
    """

    name: str
    session_id: str
    title: str
    messages: int
    size: int
    redacted: int
    files: int
    fork_of: str | msgspec.UnsetType = msgspec.UNSET


class SessionSyncResult(msgspec.Struct, rename="camel", kw_only=True):
    """What was done; without `agreed`, or in a dry run, what would be, and nothing was.

    `recipients`: for how many keys (`sync.recipients`) what is sent is encrypted; 0: for all who
    can read there. `removed` names refs of sessions deleted or archived here. `notes` are
    sentences for people; `elsewhere` counts sessions of the remote that are not here
    (`session/listRemote`).
    """

    remote: str
    agreed: bool
    recipients: int
    sent: list[SyncedSession]
    received: list[SyncedSession]
    forked: list[SyncedSession]
    removed: list[str]
    notes: list[str]
    elsewhere: int


class SessionListRemoteParams(msgspec.Struct, rename="camel", kw_only=True):
    """List the sessions of a git remote, named as for `session/sync`."""

    cwd: str | msgspec.UnsetType = msgspec.UNSET
    remote: str | msgspec.UnsetType = msgspec.UNSET


class RemoteSession(msgspec.Struct, rename="camel", kw_only=True):
    """A session on a remote, as its last sender described it: nobody vouches for it.

    `folder` is where it works there, `project` the repository that its `origin` names
    (`example.org/ada/engine`), "" without one; `sameProject` whether that is this folder's, by
    whichever address. `sessionId` is its id here, where it is here.
    """

    name: str
    title: str
    folder: str
    updated_at: str
    turns: int
    project: str
    same_project: bool
    session_id: str | msgspec.UnsetType = msgspec.UNSET


class SessionListRemoteResult(msgspec.Struct, rename="camel", kw_only=True):
    """The remote's sessions, newest first, but those of the folder's project before others.

    `session/sync` with `open` takes one in.
    """

    remote: str
    sessions: list[RemoteSession]


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """One JSON-RPC error code. `kinds` are the values of `data.kind`, `data` its other fields."""

    code: int
    kinds: tuple[str, ...]
    meaning: str
    remedy: str
    data: tuple[str, ...] = ()


ERRORS: dict[int, ErrorCode] = {
    error.code: error
    for error in (
        ErrorCode(
            -32700,
            ("parse_error",),
            "A message is not JSON.",
            "Fix what writes the messages; the answer has id null.",
        ),
        ErrorCode(
            -32600,
            ("invalid_request", "shut_down"),
            "A message is JSON but no request; a batch is none either.",
            "Send one JSON-RPC 2.0 object at a time, with an id that is a string or a number.",
        ),
        ErrorCode(
            -32601,
            ("unknown_method", "not_available"),
            "There is no such method, or not in this version.",
            "Look the method up in the features that initialize answers.",
        ),
        ErrorCode(
            -32602,
            ("bad_request",),
            "A parameter is missing or wrong.",
            "Fix the field that data.path names.",
            ("path",),
        ),
        ErrorCode(
            -32603,
            ("internal", "client"),
            "A fault of the daemon, or of the client in answering it.",
            "Report it with the daemon's log.",
        ),
        ErrorCode(
            -32002,
            ("not_initialized",),
            "The daemon is not initialized; over ACP: a resource was not found.",
            "Send initialize first, and wait for its answer.",
        ),
        ErrorCode(
            -32800,
            ("cancelled",),
            "The request was cancelled before it did anything.",
            "Nothing; send it again if it is still wanted.",
        ),
        ErrorCode(
            -32801,
            ("revision_conflict",),
            "The session moved on: expectedRevision is not its newest.",
            "Look at the session as it is now, then send it again with the newest revision.",
            ("revision",),
        ),
        ErrorCode(
            -32001,
            ("overloaded",),
            "Too many prompts wait for this session.",
            "Wait for one of them to end, or cancel.",
        ),
        ErrorCode(
            -32010,
            ("unknown_session",),
            "No session has this id.",
            "Take an id from session/list.",
        ),
        ErrorCode(
            -32011,
            ("session_owned",),
            "Another window writes this session.",
            "Go on there or close it there; here the session can only be read.",
            ("owner",),
        ),
        ErrorCode(
            -32012,
            ("nothing_to_do",),
            "The call would change nothing.",
            "Nothing; of a restore, data.files says of every path why it stays.",
            ("files",),
        ),
        ErrorCode(
            -32013,
            ("restore_conflict",),
            "Files that the restore would touch were changed meanwhile; nothing was touched.",
            "Look at data.conflicts, then choose onConflict.",
            ("conflicts",),
        ),
        ErrorCode(
            -32014,
            ("remote_failed",),
            "A git remote cannot be reached, or refused.",
            "Do what the message says and sync again; nothing was lost.",
        ),
        ErrorCode(
            -32020,
            (
                "authentication",
                "rate_limit",
                "overloaded",
                "context_overflow",
                "bad_request",
                "network",
                "interrupted",
            ),
            "The model's provider refused or broke off.",
            "Do what the message says; when data.retryable is true, the same can be sent again.",
            ("status", "retryable"),
        ),
        ErrorCode(
            -32030,
            ("full", "corrupt", "newer_schema", "read_only", "io"),
            "The store cannot do it.",
            "Do what the message says: free space, repair or update, or choose another dataDir.",
        ),
    )
}


PROTOCOL_VERSION = 1

Kind = Literal["request", "notification"]
Direction = Literal["clientToDaemon", "daemonToClient"]


@dataclass(frozen=True, slots=True)
class Method:
    """One method. `errors` excludes those possible for any request.

    A method not `available` is settled but not built, and answered with -32601.
    """

    name: str
    kind: Kind
    direction: Direction
    params: type[msgspec.Struct]
    result: type[msgspec.Struct] | None
    errors: tuple[int, ...]
    available: bool
    doc: str
    since: int = 1


COMMON_ERRORS = (-32600, -32601, -32602, -32603, -32002, -32800)
"""What any request can be answered with."""

_READ = (-32010, -32030)
_WRITE = (-32010, -32011, -32801, -32030)


def _ask(
    name: str,
    params: type[msgspec.Struct],
    result: type[msgspec.Struct],
    errors: tuple[int, ...],
    doc: str,
) -> Method:
    return Method(name, "request", "clientToDaemon", params, result, errors, True, doc)


def _tell(name: str, params: type[msgspec.Struct], doc: str) -> Method:
    return Method(name, "notification", "daemonToClient", params, None, (), True, doc)


def _call(
    name: str, params: type[msgspec.Struct], result: type[msgspec.Struct], doc: str
) -> Method:
    return Method(name, "request", "daemonToClient", params, result, (), True, doc)


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        _ask(
            "session/new",
            SessionNewParams,
            SessionNewResult,
            (-32010, -32030),
            "Open a new session in a folder.",
        ),
        _ask(
            "session/list",
            SessionListParams,
            SessionListResult,
            (-32030,),
            "List sessions, newest first.",
        ),
        _ask(
            "session/load",
            SessionLoadParams,
            SessionLoadResult,
            _READ,
            "Open a stored session; its history comes as session/update before the result.",
        ),
        _ask(
            "session/close",
            SessionCloseParams,
            Empty,
            _READ,
            "Let go of a session. It ends, with its turn, unless others have it open or at work.",
        ),
        _ask(
            "session/delete",
            SessionDeleteParams,
            SessionDeleteResult,
            (-32010, -32011, -32030),
            "Delete a session for good.",
        ),
        _ask(
            "session/rename",
            SessionRenameParams,
            SessionRenameResult,
            (-32010, -32011, -32030),
            "Give a session another title.",
        ),
        _ask(
            "session/search",
            SessionSearchParams,
            SessionSearchResult,
            (-32030,),
            "Search the texts of all sessions.",
        ),
        _ask(
            "session/set_config_option",
            SessionSetConfigOptionParams,
            SessionSetConfigOptionResult,
            _WRITE,
            "Change the model, the policy, the effort or a switch of a session.",
        ),
        _ask(
            "session/prompt",
            SessionPromptParams,
            SessionPromptResult,
            (-32010, -32011, -32801, -32001, -32030),
            "Run a turn; answered when it ends, a failed one too. An error means none began.",
        ),
        Method(
            "session/cancel",
            "notification",
            "clientToDaemon",
            SessionCancelParams,
            None,
            (),
            True,
            "Stop the running turn; its session/prompt answers with stopReason cancelled.",
        ),
        _ask(
            "session/findFiles",
            SessionFindFilesParams,
            SessionFindFilesResult,
            _READ,
            "Find files by a few letters of their paths, as a mention is completed.",
        ),
        _ask("context/meter", ContextMeterParams, Meter, _READ, "Read a session's meter."),
        _ask(
            "context/recall",
            ContextRecallParams,
            ContextRecallResult,
            _READ,
            "Read anything that was ever logged in a session, whole or by pieces.",
        ),
        _ask("daemon/status", DaemonStatusParams, DaemonStatusResult, (), "Ask how the daemon is."),
        _tell("session/update", SessionUpdateParams, "Something happened in a session."),
        _tell(
            "context/meterChanged",
            Meter,
            "The meter moved; at most four a second, newest wins. Over ACP it is usage_update.",
        ),
        _tell("session/changed", SessionChangedParams, "The session's revision rose."),
        _tell(
            "session/retrying",
            SessionRetryingParams,
            "A model request is tried again; parts that it had streamed are withdrawn.",
        ),
        _tell("daemon/statusChanged", DaemonStatusChangedParams, "Something for the status bar."),
        _tell(
            "daemon/alert",
            DaemonAlertParams,
            "A number is bad, or well again; `daemon/status` has the alerts that stand.",
        ),
        _call(
            "session/request_permission",
            SessionRequestPermissionParams,
            SessionRequestPermissionResult,
            "Ask the user whether a call may run, or whether a folder is trusted.",
        ),
        _call("tool/call", ToolCallParams, ToolCallResult, "Run one of the client's tools."),
        _call(
            "fs/read_text_file",
            FsReadTextFileParams,
            FsReadTextFileResult,
            "Read a file as the editor has it; only where the client says that it can.",
        ),
        _call(
            "fs/write_text_file",
            FsWriteTextFileParams,
            Empty,
            "Write a file through the editor; only where the client says that it can.",
        ),
        _ask(
            "session/fork",
            SessionForkParams,
            SessionForkResult,
            _READ,
            "Branch off a session; the new one is open and shares what the other's cache holds.",
        ),
        _ask(
            "session/handoff",
            SessionHandoffParams,
            SessionHandoffResult,
            _READ,
            "Draft the first prompt of a session that goes on with a goal, or open one.",
        ),
        _ask(
            "session/export",
            SessionExportParams,
            SessionExportResult,
            _READ,
            "Write a session to a file that session/import takes in, here or elsewhere.",
        ),
        _ask(
            "session/archive",
            SessionArchiveParams,
            SessionArchiveResult,
            (-32010, -32011, -32030),
            "Put a session away into a packed file, from which session/import brings it back.",
        ),
        _ask(
            "session/import",
            SessionImportParams,
            SessionImportResult,
            (-32030,),
            "Make a session of a file: one of session/export, or another agent's recording.",
        ),
        _ask(
            "session/sync",
            SessionSyncParams,
            SessionSyncResult,
            (-32001, -32014, -32030),
            "Bring a folder's sessions and those of a git remote together.",
        ),
        _ask(
            "session/listRemote",
            SessionListRemoteParams,
            SessionListRemoteResult,
            (-32001, -32014, -32030),
            "List the sessions that lie on a git remote.",
        ),
        _ask(
            "context/breakdown",
            ContextBreakdownParams,
            ContextBreakdownResult,
            _READ,
            "Take the context apart, piece by piece.",
        ),
        _ask(
            "context/preview",
            ContextPreviewParams,
            ContextPreviewResult,
            _READ,
            "See exactly what would be sent, and what it would cost.",
        ),
        _ask(
            "context/compact",
            ContextCompactParams,
            ContextCompactResult,
            (*_WRITE, -32012, -32020),
            "Make room in the context, or plan it.",
        ),
        _ask(
            "context/undoCompaction",
            ContextUndoCompactionParams,
            ContextUndoCompactionResult,
            (*_WRITE, -32012),
            "Take a compaction back.",
        ),
        _ask(
            "context/pin",
            ContextPinParams,
            ContextPinResult,
            _WRITE,
            "Keep a part through compactions.",
        ),
        _ask(
            "checkpoint/list",
            CheckpointListParams,
            CheckpointListResult,
            _READ,
            "List the states to which a session can go back.",
        ),
        _ask(
            "checkpoint/diff",
            CheckpointDiffParams,
            CheckpointDiffResult,
            _READ,
            "See what changed between two checkpoints.",
        ),
        _ask(
            "checkpoint/restore",
            CheckpointRestoreParams,
            CheckpointRestoreResult,
            (*_WRITE, -32012, -32013),
            "Go back: conversation, files or both.",
        ),
        _ask(
            "checkpoint/redo",
            CheckpointRedoParams,
            CheckpointRestoreResult,
            (*_WRITE, -32012, -32013),
            "Undo a restore.",
        ),
        _ask(
            "facts/list",
            FactsListParams,
            FactsListResult,
            _READ,
            "List what sessions have found out.",
        ),
    )
}
