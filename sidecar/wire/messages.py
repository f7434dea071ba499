# GENERATED from protocol/source by protocol/generate.py -- DO NOT EDIT
"""The protocol's messages, methods and errors, version 1."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec


Zone = Annotated[str, msgspec.Meta(examples=["green", "yellow", "orange", "red"])]
Accuracy = Annotated[str, msgspec.Meta(examples=["exact", "estimated"])]


class Regions(msgspec.Struct, rename="camel", kw_only=True):
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
    segment: str
    reason: str


class CacheState(msgspec.Struct, rename="camel", kw_only=True):
    warm: bool
    hit_rate: float
    expires_at: str | msgspec.UnsetType = msgspec.UNSET
    last_break: CacheBreak | msgspec.UnsetType = msgspec.UNSET


class Costs(msgspec.Struct, rename="camel", kw_only=True):
    session: str | None
    last_turn: str | None
    next_request: str | None
    compact_now: str | None


class Meter(msgspec.Struct, rename="camel", kw_only=True):
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
    pass


class ToolDefinition(msgspec.Struct, rename="camel", kw_only=True):
    name: str
    description: str
    input_schema: dict[str, Any]
    kind: ToolKind | msgspec.UnsetType = msgspec.UNSET
    read_only: bool | msgspec.UnsetType = msgspec.UNSET
    output_limit: int | msgspec.UnsetType = msgspec.UNSET
    protected_from_pruning: bool | msgspec.UnsetType = msgspec.UNSET


class ConfigOptionValue(msgspec.Struct, rename="camel", kw_only=True):
    value: str
    name: str
    description: str | msgspec.UnsetType = msgspec.UNSET


class ConfigOption(msgspec.Struct, rename="camel", kw_only=True):
    id: str
    name: str
    type: Annotated[str, msgspec.Meta(examples=["select", "boolean"])]
    current_value: str | bool
    options: list[ConfigOptionValue] | msgspec.UnsetType = msgspec.UNSET
    category: str | msgspec.UnsetType = msgspec.UNSET
    description: str | msgspec.UnsetType = msgspec.UNSET


class SessionNewParams(msgspec.Struct, rename="camel", kw_only=True):
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
    session_id: str
    revision: int
    config_options: list[ConfigOption]


class SessionListParams(msgspec.Struct, rename="camel", kw_only=True):
    cwd: str | msgspec.UnsetType = msgspec.UNSET
    cursor: str | msgspec.UnsetType = msgspec.UNSET
    limit: int | msgspec.UnsetType = msgspec.UNSET


class SessionInfo(msgspec.Struct, rename="camel", kw_only=True):
    session_id: str
    title: str
    cwd: str
    updated_at: str
    turns: int
    cost: str | None
    parent: str | msgspec.UnsetType = msgspec.UNSET


class SessionListResult(msgspec.Struct, rename="camel", kw_only=True):
    sessions: list[SessionInfo]
    next_cursor: str | msgspec.UnsetType = msgspec.UNSET


class SessionLoadParams(msgspec.Struct, rename="camel", kw_only=True):
    session_id: str
    cwd: str | msgspec.UnsetType = msgspec.UNSET
    replay: bool | msgspec.UnsetType = msgspec.UNSET
    after: str | msgspec.UnsetType = msgspec.UNSET
    mcp_servers: list[dict[str, Any]] | msgspec.UnsetType = msgspec.UNSET


class SessionLoadResult(msgspec.Struct, rename="camel", kw_only=True):
    session_id: str
    revision: int
    read_only: bool
    config_options: list[ConfigOption] | msgspec.UnsetType = msgspec.UNSET


class SessionCloseParams(msgspec.Struct, rename="camel", kw_only=True):
    session_id: str


class SessionDeleteParams(msgspec.Struct, rename="camel", kw_only=True):
    session_id: str
    force: bool | msgspec.UnsetType = msgspec.UNSET


class SessionDeleteResult(msgspec.Struct, rename="camel", kw_only=True):
    notes: list[str] | msgspec.UnsetType = msgspec.UNSET


class SessionRenameParams(msgspec.Struct, rename="camel", kw_only=True):
    session_id: str
    title: str


class SessionRenameResult(msgspec.Struct, rename="camel", kw_only=True):
    title: str


class SessionSearchParams(msgspec.Struct, rename="camel", kw_only=True):
    query: str
    cwd: str | msgspec.UnsetType = msgspec.UNSET
    cursor: str | msgspec.UnsetType = msgspec.UNSET
    limit: int | msgspec.UnsetType = msgspec.UNSET


class SearchHit(msgspec.Struct, rename="camel", kw_only=True):
    speaker: Annotated[
        str, msgspec.Meta(examples=["title", "user", "agent", "thinking", "tool", "file"])
    ]
    before: str
    match: str
    after: str
    message_id: str | msgspec.UnsetType = msgspec.UNSET
    part_id: str | msgspec.UnsetType = msgspec.UNSET


class FoundSession(msgspec.Struct, rename="camel", kw_only=True):
    session: SessionInfo
    hits: list[SearchHit]
    more: bool


class SessionSearchResult(msgspec.Struct, rename="camel", kw_only=True):
    sessions: list[FoundSession]
    next_cursor: str | msgspec.UnsetType = msgspec.UNSET


class SessionSetConfigOptionParams(msgspec.Struct, rename="camel", kw_only=True):
    session_id: str
    config_id: str
    value: Any
    expected_revision: int | msgspec.UnsetType = msgspec.UNSET


class SessionSetConfigOptionResult(msgspec.Struct, rename="camel", kw_only=True):
    config_options: list[ConfigOption]


class SessionPromptParams(msgspec.Struct, rename="camel", kw_only=True):
    session_id: str
    prompt: list[dict[str, Any]]
    context: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
    steer: bool | msgspec.UnsetType = msgspec.UNSET
    expected_revision: int | msgspec.UnsetType = msgspec.UNSET


class SessionFindFilesParams(msgspec.Struct, rename="camel", kw_only=True):
    session_id: str
    query: str
    limit: int | msgspec.UnsetType = msgspec.UNSET


class SessionFindFilesResult(msgspec.Struct, rename="camel", kw_only=True):
    files: list[str]
    partial: bool


class Usage(msgspec.Struct, rename="camel", kw_only=True):
    input_tokens: int
    output_tokens: int
    cached_read_tokens: int
    cached_write_tokens: int
    thought_tokens: int
    total_tokens: int
    requests: int


class TurnError(msgspec.Struct, rename="camel", kw_only=True):
    code: int
    kind: str
    message: str
    retryable: bool
    status: int | msgspec.UnsetType | None = msgspec.UNSET


class SessionPromptResult(msgspec.Struct, rename="camel", kw_only=True):
    stop_reason: StopReason
    turn_id: str
    message_id: str
    revision: int
    usage: Usage
    cost: str | None
    meter: Meter
    error: TurnError | msgspec.UnsetType = msgspec.UNSET


class SessionCancelParams(msgspec.Struct, rename="camel", kw_only=True):
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
    content: dict[str, Any]
    meta: dict[str, Any] | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="_meta")


class AgentMessageChunk(
    msgspec.Struct,
    rename="camel",
    kw_only=True,
    tag_field="sessionUpdate",
    tag="agent_message_chunk",
):
    content: dict[str, Any]
    meta: dict[str, Any] | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="_meta")


class AgentThoughtChunk(
    msgspec.Struct,
    rename="camel",
    kw_only=True,
    tag_field="sessionUpdate",
    tag="agent_thought_chunk",
):
    content: dict[str, Any]
    meta: dict[str, Any] | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="_meta")


class ToolCallLocation(msgspec.Struct, rename="camel", kw_only=True):
    path: str
    line: int | msgspec.UnsetType = msgspec.UNSET


class ToolCallStarted(
    msgspec.Struct, rename="camel", kw_only=True, tag_field="sessionUpdate", tag="tool_call"
):
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
    content: str
    priority: PlanPriority
    status: PlanStatus


class PlanChanged(
    msgspec.Struct, rename="camel", kw_only=True, tag_field="sessionUpdate", tag="plan"
):
    entries: list[PlanEntry]
    meta: dict[str, Any] | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="_meta")


class UsageCost(msgspec.Struct, rename="camel", kw_only=True):
    amount: float
    currency: str


class UsageChanged(
    msgspec.Struct, rename="camel", kw_only=True, tag_field="sessionUpdate", tag="usage_update"
):
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
    title: str | msgspec.UnsetType = msgspec.UNSET
    updated_at: str | msgspec.UnsetType = msgspec.UNSET
    meta: dict[str, Any] | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="_meta")


class AvailableCommand(msgspec.Struct, rename="camel", kw_only=True):
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
    available_commands: list[AvailableCommand]
    meta: dict[str, Any] | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="_meta")


class ConfigOptionsChanged(
    msgspec.Struct,
    rename="camel",
    kw_only=True,
    tag_field="sessionUpdate",
    tag="config_option_update",
):
    config_options: list[ConfigOption]
    meta: dict[str, Any] | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="_meta")


class TurnEnded(
    msgspec.Struct,
    rename="camel",
    kw_only=True,
    tag_field="sessionUpdate",
    tag="turn_ended",
):
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
    compaction_id: str
    status: CompactionStatus
    cause: CompactionCause
    tokens_before: int
    tokens_after: int
    price: str | None
    summary_part_id: str | msgspec.UnsetType = msgspec.UNSET
    meta: dict[str, Any] | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="_meta")


class Notice(msgspec.Struct, rename="camel", kw_only=True, tag_field="sessionUpdate", tag="notice"):
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
    session_id: str
    update: SessionUpdate


ChangeCause = Annotated[
    str, msgspec.Meta(examples=["turn_started", "step", "tools", "turn_ended", "option"])
]


class ProviderOptions(msgspec.Struct, rename="camel", kw_only=True):
    name: str | msgspec.UnsetType = msgspec.UNSET
    base_url: str | msgspec.UnsetType = msgspec.UNSET
    api_key: str | msgspec.UnsetType = msgspec.UNSET


class PermissionRules(msgspec.Struct, rename="camel", kw_only=True):
    allow: list[str] | msgspec.UnsetType = msgspec.UNSET
    reject: list[str] | msgspec.UnsetType = msgspec.UNSET


class InitializationOptions(msgspec.Struct, rename="camel", kw_only=True):
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
    read_text_file: bool | msgspec.UnsetType = msgspec.UNSET
    write_text_file: bool | msgspec.UnsetType = msgspec.UNSET


class ClientCapabilities(msgspec.Struct, rename="camel", kw_only=True):
    fs: FileCapabilities | msgspec.UnsetType = msgspec.UNSET
    tool_call: bool | msgspec.UnsetType = msgspec.UNSET
    request_permission: bool | msgspec.UnsetType = msgspec.UNSET


class ServerCapabilities(msgspec.Struct, rename="camel", kw_only=True):
    protocol_version: int
    features: list[str]


class DaemonStatusParams(msgspec.Struct, rename="camel", kw_only=True):
    pass


class OpenSession(msgspec.Struct, rename="camel", kw_only=True):
    session_id: str
    revision: int
    busy: bool


class DaemonStatusResult(msgspec.Struct, rename="camel", kw_only=True):
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
    busy: bool
    kind: Annotated[str, msgspec.Meta(examples=["idle", "working", "error"])]
    message: str


class DaemonAlertParams(msgspec.Struct, rename="camel", kw_only=True):
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
    session_id: str
    revision: int
    cause: ChangeCause


class RetryError(msgspec.Struct, rename="camel", kw_only=True):
    kind: str
    message: str
    status: int | msgspec.UnsetType = msgspec.UNSET


class SessionRetryingParams(msgspec.Struct, rename="camel", kw_only=True):
    session_id: str
    attempt: int
    max_attempts: int
    delay_ms: int
    error: RetryError
    discard: list[str]


PermissionKind = Literal["allow_once", "allow_always", "reject_once", "reject_always"]


class PermissionOption(msgspec.Struct, rename="camel", kw_only=True):
    option_id: str
    name: str
    kind: PermissionKind


class PermissionToolCall(msgspec.Struct, rename="camel", kw_only=True):
    tool_call_id: str
    title: str | msgspec.UnsetType = msgspec.UNSET
    kind: ToolCallKind | msgspec.UnsetType = msgspec.UNSET
    status: ToolCallStatus | msgspec.UnsetType = msgspec.UNSET
    content: list[dict[str, Any]] | msgspec.UnsetType = msgspec.UNSET
    locations: list[ToolCallLocation] | msgspec.UnsetType = msgspec.UNSET
    raw_input: Any = msgspec.UNSET
    meta: dict[str, Any] | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="_meta")


class SessionRequestPermissionParams(msgspec.Struct, rename="camel", kw_only=True):
    session_id: str
    tool_call: PermissionToolCall
    options: list[PermissionOption]


class PermissionSelected(
    msgspec.Struct, rename="camel", kw_only=True, tag_field="outcome", tag="selected"
):
    option_id: str


class PermissionCancelled(
    msgspec.Struct, rename="camel", kw_only=True, tag_field="outcome", tag="cancelled"
):
    pass


PermissionOutcome = PermissionSelected | PermissionCancelled


class SessionRequestPermissionResult(msgspec.Struct, rename="camel", kw_only=True):
    outcome: PermissionOutcome


class ToolCallParams(msgspec.Struct, rename="camel", kw_only=True):
    session_id: str
    call_id: str
    name: str
    input: Any


class ToolCallResult(msgspec.Struct, rename="camel", kw_only=True):
    content: list[dict[str, Any]]
    is_error: bool | msgspec.UnsetType = msgspec.UNSET
    title: str | msgspec.UnsetType = msgspec.UNSET
    metadata: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
    attachments: list[dict[str, Any]] | msgspec.UnsetType = msgspec.UNSET


class FsReadTextFileParams(msgspec.Struct, rename="camel", kw_only=True):
    session_id: str
    path: str


class FsReadTextFileResult(msgspec.Struct, rename="camel", kw_only=True):
    content: str


class FsWriteTextFileParams(msgspec.Struct, rename="camel", kw_only=True):
    session_id: str
    path: str
    content: str


class ContextRecallParams(msgspec.Struct, rename="camel", kw_only=True):
    session_id: str
    part_id: str
    offset: int | msgspec.UnsetType = msgspec.UNSET
    limit: int | msgspec.UnsetType = msgspec.UNSET
    pattern: str | msgspec.UnsetType = msgspec.UNSET


class ContextRecallResult(msgspec.Struct, rename="camel", kw_only=True):
    content: str
    total_bytes: int
    next_offset: int | msgspec.UnsetType = msgspec.UNSET


class ContextBreakdownParams(msgspec.Struct, rename="camel", kw_only=True):
    session_id: str


class ContextSegment(msgspec.Struct, rename="camel", kw_only=True):
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
    meter: Meter
    segments: list[ContextSegment]


class ContextPreviewParams(msgspec.Struct, rename="camel", kw_only=True):
    session_id: str
    prompt: list[dict[str, Any]] | msgspec.UnsetType = msgspec.UNSET


class ContextPreviewResult(msgspec.Struct, rename="camel", kw_only=True):
    request: dict[str, Any]
    tokens: int
    predicted_cache_read: int
    predicted_cache_write: int
    price: str | None
    breakpoints: list[dict[str, Any]]


class ContextCompactParams(msgspec.Struct, rename="camel", kw_only=True):
    session_id: str
    strategy: str | msgspec.UnsetType = msgspec.UNSET
    keep: list[str] | msgspec.UnsetType = msgspec.UNSET
    instructions: str | msgspec.UnsetType = msgspec.UNSET
    dry_run: bool | msgspec.UnsetType = msgspec.UNSET
    expected_revision: int | msgspec.UnsetType = msgspec.UNSET
    summary: bool | msgspec.UnsetType = msgspec.UNSET
    work_done_token: str | int | msgspec.UnsetType = msgspec.UNSET


class CompactionStep(msgspec.Struct, rename="camel", kw_only=True):
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
    path: str
    lines: Annotated[str, msgspec.Meta(examples=["1-40, 88-120"])]
    tokens: int
    price: str | None


class ContextCompactResult(msgspec.Struct, rename="camel", kw_only=True):
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
    session_id: str
    compaction_id: str | msgspec.UnsetType = msgspec.UNSET


class ContextUndoCompactionResult(msgspec.Struct, rename="camel", kw_only=True):
    revision: int
    meter: Meter


class ContextPinParams(msgspec.Struct, rename="camel", kw_only=True):
    session_id: str
    part_id: str
    pinned: bool


class ContextPinResult(msgspec.Struct, rename="camel", kw_only=True):
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
    session_id: str
    at_message_id: str | msgspec.UnsetType = msgspec.UNSET
    mcp_servers: list[dict[str, Any]] | msgspec.UnsetType = msgspec.UNSET


class SessionForkResult(msgspec.Struct, rename="camel", kw_only=True):
    session_id: str
    revision: int


class SessionHandoffParams(msgspec.Struct, rename="camel", kw_only=True):
    session_id: str
    goal: str
    go_on: bool | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="continue")


class SessionHandoffResult(msgspec.Struct, rename="camel", kw_only=True):
    draft: str
    files: list[str]
    session_id: str | msgspec.UnsetType = msgspec.UNSET


class SessionExportParams(msgspec.Struct, rename="camel", kw_only=True):
    session_id: str
    path: str | msgspec.UnsetType = msgspec.UNSET
    overwrite: bool | msgspec.UnsetType = msgspec.UNSET
    snapshots: bool | msgspec.UnsetType = msgspec.UNSET


class SessionExportResult(msgspec.Struct, rename="camel", kw_only=True):
    path: str
    size: int
    redacted: int
    notes: list[str]


class SessionArchiveParams(msgspec.Struct, rename="camel", kw_only=True):
    session_id: str


class ArchivedSession(msgspec.Struct, rename="camel", kw_only=True):
    session_id: str
    path: str
    size: int
    freed: int


class SessionArchiveResult(msgspec.Struct, rename="camel", kw_only=True):
    sessions: list[ArchivedSession]


class SessionImportParams(msgspec.Struct, rename="camel", kw_only=True):
    format: BundleFormat | msgspec.UnsetType = msgspec.UNSET
    content: str | msgspec.UnsetType = msgspec.UNSET
    path: str | msgspec.UnsetType = msgspec.UNSET
    cwd: str | msgspec.UnsetType = msgspec.UNSET
    snapshots: bool | msgspec.UnsetType = msgspec.UNSET


class SessionImportResult(msgspec.Struct, rename="camel", kw_only=True):
    session_id: str
    revision: int
    format: BundleFormat
    notes: list[str]


class FileChange(msgspec.Struct, rename="camel", kw_only=True):
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
    checkpoint_id: str
    turn_id: str
    message_id: str
    at: str
    title: str
    files: list[FileChange]
    left: bool | msgspec.UnsetType = msgspec.UNSET


class CheckpointListParams(msgspec.Struct, rename="camel", kw_only=True):
    session_id: str


class SessionChanges(msgspec.Struct, rename="camel", kw_only=True):
    files: list[FileChange]
    additions: int
    deletions: int


class CheckpointListResult(msgspec.Struct, rename="camel", kw_only=True):
    checkpoints: list[Checkpoint]
    head: str | None
    changes: SessionChanges | msgspec.UnsetType = msgspec.UNSET


class CheckpointDiffParams(msgspec.Struct, rename="camel", kw_only=True):
    session_id: str
    from_checkpoint: str = msgspec.field(name="from")
    to: str | msgspec.UnsetType = msgspec.UNSET
    path: str | msgspec.UnsetType = msgspec.UNSET


class CheckpointDiffResult(msgspec.Struct, rename="camel", kw_only=True):
    files: list[FileDiff]


class CheckpointRestoreParams(msgspec.Struct, rename="camel", kw_only=True):
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
    path: str
    reason: str
    diff: str | msgspec.UnsetType = msgspec.UNSET
    agent_diff: str | msgspec.UnsetType = msgspec.UNSET
    user_diff: str | msgspec.UnsetType = msgspec.UNSET
    unknown_diff: str | msgspec.UnsetType = msgspec.UNSET


class RestoredFiles(msgspec.Struct, rename="camel", kw_only=True):
    restored: list[RestoredFile]
    merged: list[RestoredFile]
    skipped: list[RestoredFile]
    conflicts: list[RestoredFile]


class CheckpointRestoreResult(msgspec.Struct, rename="camel", kw_only=True):
    undo_checkpoint_id: str
    revision: int
    files: RestoredFiles
    reason: str | msgspec.UnsetType = msgspec.UNSET
    notes: list[str] | msgspec.UnsetType = msgspec.UNSET
    restored_prompt: str | msgspec.UnsetType = msgspec.UNSET


class CheckpointRedoParams(msgspec.Struct, rename="camel", kw_only=True):
    session_id: str
    checkpoint_id: str | msgspec.UnsetType = msgspec.UNSET
    on_conflict: OnConflict | msgspec.UnsetType = msgspec.UNSET
    markers: bool | msgspec.UnsetType = msgspec.UNSET
    dry_run: bool | msgspec.UnsetType = msgspec.UNSET
    expected_revision: int | msgspec.UnsetType = msgspec.UNSET


class FactsListParams(msgspec.Struct, rename="camel", kw_only=True):
    session_id: str | msgspec.UnsetType = msgspec.UNSET
    cwd: str | msgspec.UnsetType = msgspec.UNSET
    kind: FactKind | msgspec.UnsetType = msgspec.UNSET
    query: str | msgspec.UnsetType = msgspec.UNSET


class FactSource(msgspec.Struct, rename="camel", kw_only=True):
    session_id: str
    turn_id: str
    said_by: Speaker


class Fact(msgspec.Struct, rename="camel", kw_only=True):
    fact_id: str
    kind: FactKind
    content: str
    source: FactSource
    at: str
    learned: bool


class FactsListResult(msgspec.Struct, rename="camel", kw_only=True):
    facts: list[Fact]


class SessionSyncParams(msgspec.Struct, rename="camel", kw_only=True):
    cwd: str | msgspec.UnsetType = msgspec.UNSET
    remote: str | msgspec.UnsetType = msgspec.UNSET
    agree: str | msgspec.UnsetType = msgspec.UNSET
    dry_run: bool | msgspec.UnsetType = msgspec.UNSET
    session_ids: list[str] | msgspec.UnsetType = msgspec.UNSET
    names: list[str] | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="open")
    snapshots: bool | msgspec.UnsetType = msgspec.UNSET


class SyncedSession(msgspec.Struct, rename="camel", kw_only=True):
    name: str
    session_id: str
    title: str
    messages: int
    size: int
    redacted: int
    files: int
    fork_of: str | msgspec.UnsetType = msgspec.UNSET


class SessionSyncResult(msgspec.Struct, rename="camel", kw_only=True):
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
    cwd: str | msgspec.UnsetType = msgspec.UNSET
    remote: str | msgspec.UnsetType = msgspec.UNSET


class RemoteSession(msgspec.Struct, rename="camel", kw_only=True):
    name: str
    title: str
    folder: str
    updated_at: str
    turns: int
    project: str
    same_project: bool
    session_id: str | msgspec.UnsetType = msgspec.UNSET


class SessionListRemoteResult(msgspec.Struct, rename="camel", kw_only=True):
    remote: str
    sessions: list[RemoteSession]


@dataclass(frozen=True, slots=True)
class ErrorCode:
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
