"""`session/update`: what happens in a session, as it happens. Kinds and fields are ACP's."""

from typing import Annotated, Any

import msgspec

from protocol.source.session import ConfigOption, StopReason, TurnError, Usage

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
    """What `_meta.sidecar` of an update holds. `seq` rises strictly per session.

    `inputDelta` and `outputDelta` are more of a call's input or output text while it comes.
    `metadata` is what the tool said beside its output (`exitCode`, `diff`), for people.
    `discards` names parts that are withdrawn because their step is retried.
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
    """More of what the user said: one content block."""

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
    """A file that a call reads or changes; `line` counts from 1."""

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
    """A tool call changed; fields that are absent are as they were, lists are replaced whole."""

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
    """One thing to do."""

    content: str
    priority: PlanPriority
    status: PlanStatus


class PlanChanged(
    msgspec.Struct, rename="camel", kw_only=True, tag_field="sessionUpdate", tag="plan"
):
    """The todo list, whole."""

    entries: list[PlanEntry]
    meta: dict[str, Any] | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="_meta")


class UsageCost(msgspec.Struct, rename="camel", kw_only=True):
    """What the session cost so far, as ACP has it; the meter's decimal strings are exact."""

    amount: float
    currency: str


class UsageChanged(
    msgspec.Struct, rename="camel", kw_only=True, tag_field="sessionUpdate", tag="usage_update"
):
    """Tokens in the context and its size; the rest of the meter stands in `_meta.sidecar`."""

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
    """A slash command; `input` is `{hint}` where it takes text."""

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
    """All slash commands there are now."""

    available_commands: list[AvailableCommand]
    meta: dict[str, Any] | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="_meta")


class ConfigOptionsChanged(
    msgspec.Struct,
    rename="camel",
    kw_only=True,
    tag_field="sessionUpdate",
    tag="config_option_update",
):
    """All config options as they are now."""

    config_options: list[ConfigOption]
    meta: dict[str, Any] | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="_meta")


class TurnEnded(
    msgspec.Struct,
    rename="camel",
    kw_only=True,
    tag_field="sessionUpdate",
    tag="turn_ended",
):
    """A turn is over: what the answer to its prompt says, for all who watch or load the session.

    ACP has no such update; there the answer to the prompt says it, to whoever sent that.
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
    """The cached prefix was rewritten, or it failed; nothing else rewrites one. `price` is USD."""

    compaction_id: str
    status: CompactionStatus
    cause: CompactionCause
    tokens_before: int
    tokens_after: int
    price: str | None
    summary_part_id: str | msgspec.UnsetType = msgspec.UNSET
    meta: dict[str, Any] | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="_meta")


class Notice(msgspec.Struct, rename="camel", kw_only=True, tag_field="sessionUpdate", tag="notice"):
    """Something a person should read."""

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
