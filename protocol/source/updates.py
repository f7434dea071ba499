"""`session/update`: events of a session as they happen. Kinds and fields are ACP's."""

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
