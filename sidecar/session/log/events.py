"""What a session tells its watchers. `wire` turns these into notifications; nobody else does."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from sidecar.core.parts import Json, JsonObject, MessageId, Millis, PartId, SessionId, TurnId, Usage
from sidecar.core.prompt.meter import Meter


@dataclass(frozen=True, slots=True)
class EventOrigin:
    """Where an update belongs: `_meta.sidecar` on the wire. `seq` rises strictly per session."""

    session_id: SessionId
    turn_id: TurnId
    message_id: MessageId
    part_id: PartId
    seq: int


@dataclass(frozen=True, slots=True)
class TextChunk:
    """More of a user's text, the model's text or its thinking (`user`, `agent`, `thought`)."""

    origin: EventOrigin
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class ContentChunk:
    """A whole content block that is not plain text, as ACP's ContentBlock."""

    origin: EventOrigin
    speaker: str
    content: JsonObject


@dataclass(frozen=True, slots=True)
class ToolChanged:
    """A tool call appeared (`first`) or changed.

    `status` is ACP's: pending, in_progress, completed, failed. Fields that are `None` are
    unchanged. `raw_input` is opaque; `has_input` tells an absent input from JSON null.
    `output` is what a running or finished call shows.
    """

    origin: EventOrigin
    call_id: str
    status: str
    first: bool = False
    title: str | None = None
    kind: str | None = None
    has_input: bool = False
    raw_input: Json = None
    output: str | None = None
    metadata: JsonObject = field(default_factory=dict)
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolInputChunk:
    """More of the JSON text that the model writes as a call's input; `ToolChanged` has it whole."""

    origin: EventOrigin
    call_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolOutputChunk:
    """More output of a running tool: shown now, replaced by the stored output at its end."""

    origin: EventOrigin
    call_id: str
    text: str


@dataclass(frozen=True, slots=True)
class PlanChanged:
    """The todo list, whole: `(content, status)`."""

    origin: EventOrigin
    entries: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Notice:
    """Something a person should read, at level info, warning or error."""

    session_id: SessionId
    seq: int
    level: str
    text: str


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """A turn is over: how, and what all its requests took; `cost` is USD, `None` if unknown.

    `error` is `{kind, message, retryable, status}` when it failed.
    """

    session_id: SessionId
    seq: int
    turn_id: TurnId
    message_id: MessageId
    stop_reason: str
    usage: Usage
    cost: str | None
    error: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class EpochChanged:
    """The prefix was rewritten, once, and why: `compaction_update` on the wire."""

    session_id: SessionId
    seq: int
    compaction_id: str
    status: str
    cause: str
    tokens_before: int
    tokens_after: int
    price: str | None = None


@dataclass(frozen=True, slots=True)
class TitleChanged:
    """The session has a title now."""

    session_id: SessionId
    seq: int
    title: str


@dataclass(frozen=True, slots=True)
class OptionsChanged:
    """Config options, whole, in ACP's shape."""

    session_id: SessionId
    seq: int
    options: tuple[JsonObject, ...]


@dataclass(frozen=True, slots=True)
class MeterChanged:
    """The meter moved. `urgent` ones (after a rewrite or a restore) are not held back."""

    session_id: SessionId
    meter: Meter
    urgent: bool = False


@dataclass(frozen=True, slots=True)
class SessionChanged:
    """The session's revision rose, because of `cause`."""

    session_id: SessionId
    revision: int
    cause: str


@dataclass(frozen=True, slots=True)
class Retrying:
    """A model call broke and is tried again after a delay; `discard` names the void parts."""

    session_id: SessionId
    attempt: int
    max_attempts: int
    delay_ms: int
    message: str
    kind: str
    status: int | None
    discard: tuple[PartId, ...]


@dataclass(frozen=True, slots=True)
class StatusChanged:
    """The daemon began to work, or has nothing left to do; `message` says on what."""

    busy: bool
    message: str


@dataclass(frozen=True, slots=True)
class AlertChanged:
    """A number is bad (`raised`), or well again (`cleared`): said to all, once each.

    `level` is info, warning or critical; `action` says what to do. `value` and `threshold` are in
    the unit of the setting `name`. Without a session it is about all of them.
    """

    state: str
    name: str
    level: str
    session_id: SessionId | None
    message: str
    action: str
    value: float
    threshold: float
    at: Millis


@dataclass(frozen=True, slots=True)
class Progressed:
    """Work that a person may wait for has begun, got on or ended (`begin`, `report`, `end`).

    `percentage` is of 100, where it is known. `ours`: we have minted the token, so that the
    client has to be told of it first.
    """

    session_id: SessionId
    token: str | int
    kind: str
    text: str
    percentage: int | None = None
    ours: bool = True


Event: TypeAlias = (
    TextChunk
    | ContentChunk
    | ToolChanged
    | ToolInputChunk
    | ToolOutputChunk
    | PlanChanged
    | Notice
    | TurnEnded
    | EpochChanged
    | TitleChanged
    | OptionsChanged
    | MeterChanged
    | SessionChanged
    | Retrying
    | StatusChanged
    | AlertChanged
    | Progressed
)

Watcher: TypeAlias = Callable[[Event], None]
"""Called on the event loop, in order; must not block."""
