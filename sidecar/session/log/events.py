"""Events for watchers; only `wire` makes notifications of them."""

from collections.abc import Callable
from dataclasses import field
from typing import TypeAlias

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Json, JsonObject, MessageId, Millis, PartId, SessionId, TurnId, Usage
from sidecar.core.prompt.meter import Meter


@dataclass(frozen=True, slots=True)
class EventOrigin:
    """An update's place, `_meta.sidecar` on the wire. `seq` rises strictly per session."""

    session_id: SessionId
    turn_id: TurnId
    message_id: MessageId
    part_id: PartId
    seq: int


@dataclass(frozen=True, slots=True)
class TextChunk:
    """More text of `user` or `agent`, or more thinking (`thought`).

    `author` is the user's window's environment, if known.
    """

    origin: EventOrigin
    speaker: str
    text: str
    author: object = None


@dataclass(frozen=True, slots=True)
class ContentChunk:
    """A whole ACP ContentBlock other than plain text; `author` as in `TextChunk`."""

    origin: EventOrigin
    speaker: str
    content: JsonObject
    author: object = None


@dataclass(frozen=True, slots=True)
class ToolChanged:
    """A tool call appeared (`first`) or changed.

    `status` is ACP's pending, in_progress, completed or failed. Fields of `None` are unchanged.
    `has_input` tells JSON null from no `raw_input`.
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
    """More JSON of a call's input, which `ToolChanged` has whole."""

    origin: EventOrigin
    call_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolOutputChunk:
    """More output; the stored output replaces all chunks."""

    origin: EventOrigin
    call_id: str
    text: str


@dataclass(frozen=True, slots=True)
class PlanChanged:
    """The whole todo list as `(content, status)`."""

    origin: EventOrigin
    entries: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Notice:
    """A text for people; `level` is info, warning or error."""

    session_id: SessionId
    seq: int
    level: str
    text: str


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """A turn's end, with usage and `cost` in USD.

    `error` is `{kind, message, retryable, status}`.
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
    """A rewrite of the prefix, `compaction_update` on the wire."""

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
    """The session's new title."""

    session_id: SessionId
    seq: int
    title: str


@dataclass(frozen=True, slots=True)
class OptionsChanged:
    """All config options, in ACP's shape."""

    session_id: SessionId
    seq: int
    options: tuple[JsonObject, ...]


@dataclass(frozen=True, slots=True)
class MeterChanged:
    """A new meter, sent at once if `urgent` (after a rewrite or restore)."""

    session_id: SessionId
    meter: Meter
    urgent: bool = False


@dataclass(frozen=True, slots=True)
class SessionChanged:
    """The revision rose because of `cause`."""

    session_id: SessionId
    revision: int
    cause: str


@dataclass(frozen=True, slots=True)
class Retrying:
    """A broken model call is repeated; `discard` names void parts."""

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
    """The daemon is busy with `message`, or idle."""

    busy: bool
    message: str


@dataclass(frozen=True, slots=True)
class AlertChanged:
    """A number crossed a threshold (`raised`) or came back (`cleared`).

    `level` is info, warning or critical, `action` advice. `value` and `threshold` are in setting
    `name`'s unit. No session means all.
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
    """Longer work (`begin`, `report`, `end`), at a `percentage` of 0 to 100.

    `ours`: the client does not know the token yet.
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
