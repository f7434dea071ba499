"""Values of a conversation, equal by content."""

import zlib
from binascii import a2b_base64
from dataclasses import field
from typing import Literal, NewType, TypeAlias

from sidecar.core.dataclass import dataclass

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""Opaque JSON (tool input, metadata): carried, never inspected, and given back unchanged."""
JsonObject: TypeAlias = dict[str, Json]

SessionId = NewType("SessionId", str)
TurnId = NewType("TurnId", str)
MessageId = NewType("MessageId", str)
PartId = NewType("PartId", str)
Millis: TypeAlias = int
"""Milliseconds since 1970 in UTC, by `daemon/clock_and_ids`; everything else is told."""
MOST_COUNT = 10**12
"""Tokens or characters; larger numbers are no counts."""

MEDIA_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf")
"""Media accepted by the Messages API besides text; any other fails the whole request."""
MOST_MEDIA = 5 * 1024 * 1024
"""Characters of base64 of one image that the Messages API accepts."""


@dataclass(frozen=True, slots=True)
class Media:
    """An image or document; `data` is base64."""

    media_type: str
    data: str
    name: str = ""


def base64_of(text: str) -> str | None:
    """Pads base64 and removes white space, as providers need; `None` if invalid or empty."""
    plain = "".join(text.split())
    plain += "=" * (-len(plain) % 4)
    try:
        return plain if a2b_base64(plain, strict_mode=True) else None
    except ValueError:
        return None


class KeptText:
    """Equal to its text, with the same hash and length; `pack` makes it small, from any thread."""

    __slots__ = ("_hash", "_held", "_length")

    def __init__(self, text: str) -> None:
        self._held: str | bytes = text
        self._hash, self._length = hash(text), len(text)

    def pack(self) -> None:
        held = self._held
        if isinstance(held, str):
            self._held = zlib.compress(held.encode("utf-8", "surrogatepass"), 1)

    def __str__(self) -> str:
        held = self._held
        if isinstance(held, str):
            return held
        return zlib.decompress(held).decode("utf-8", "surrogatepass")

    def __len__(self) -> int:
        return self._length

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if other is self or not isinstance(other, str | KeptText):
            return other is self
        return hash(other) == self._hash and str(other) == str(self)

    def __repr__(self) -> str:
        return repr(str(self))


HeldText: TypeAlias = str | KeptText


@dataclass(frozen=True, slots=True)
class Output:
    """A tool's output, of which the model sees `text`, which is `held` as it is or packed.

    Of a cut text, `whole` is the full text's hash in the store; totals count the full text.
    """

    held: HeldText
    whole: str | None = None
    total_bytes: int = 0
    total_lines: int = 0
    media: tuple[Media, ...] = ()

    @property
    def text(self) -> str:
        return str(self.held)


@dataclass(frozen=True, slots=True)
class ToolPending:
    """The model is still writing the input; `raw` is the JSON so far."""

    raw: str = ""


@dataclass(frozen=True, slots=True)
class ToolRunning:
    """The call runs or waits for permission."""

    started: Millis


@dataclass(frozen=True, slots=True)
class ToolCompleted:
    """The call returned an output; `metadata` holds a command's exit code."""

    output: Output
    started: Millis
    finished: Millis
    title: str = ""
    metadata: JsonObject = field(default_factory=dict)


ToolFailure: TypeAlias = Literal["error", "denied", "interrupted", "cancelled"]
ToolKind: TypeAlias = Literal["read", "edit", "search", "execute", "other"]
ToolOrigin: TypeAlias = Literal["builtin", "client", "mcp"]


@dataclass(frozen=True, slots=True)
class ToolError:
    """The call failed, was refused, or was cut short."""

    message: str
    failure: ToolFailure
    started: Millis
    finished: Millis
    title: str = ""
    metadata: JsonObject = field(default_factory=dict)
    output: Output | None = None


ToolState: TypeAlias = ToolPending | ToolRunning | ToolCompleted | ToolError

TextSource: TypeAlias = Literal["typed", "steer", "context", "model"]


@dataclass(frozen=True, slots=True)
class TextPart:
    """Text of a message; `context`: the daemon's block at a user message's end.

    `metadata` is the provider's, about exactly this text.
    """

    id: PartId
    text: str
    source: TextSource
    metadata: JsonObject = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class ReasoningPart:
    """Thinking; `metadata` is the provider's, such as a signature."""

    id: PartId
    text: str
    metadata: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolPart:
    """A tool call; `input` is `None` until complete, `metadata` is the provider's."""

    id: PartId
    call_id: str
    name: str
    input: Json
    state: ToolState
    metadata: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FilePart:
    """A file for the model: an image or document (`media`), or a text."""

    id: PartId
    uri: str
    name: str = ""
    media: Media | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class OpaquePart:
    """A provider's block of unknown type, sent back unchanged."""

    id: PartId
    block: JsonObject


@dataclass(frozen=True, slots=True)
class StepStartPart:
    """Marks where a model call begins."""

    id: PartId
    model: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider reported; `thinking` is part of `output`."""

    input: int = 0
    cache_read: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    output: int = 0
    thinking: int = 0
    requests: int = 0

    @property
    def prompt(self) -> int:
        return self.input + self.cache_read + self.cache_write_5m + self.cache_write_1h

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input + other.input,
            self.cache_read + other.cache_read,
            self.cache_write_5m + other.cache_write_5m,
            self.cache_write_1h + other.cache_write_1h,
            self.output + other.output,
            self.thinking + other.thinking,
            self.requests + other.requests,
        )


@dataclass(frozen=True, slots=True)
class StepFinishPart:
    """Marks where a model call ended; `stop` is the provider's reason.

    `cost` is USD as a decimal string, `None` if unknown.
    """

    id: PartId
    stop: str
    usage: Usage
    cost: str | None
    started: Millis = 0


@dataclass(frozen=True, slots=True)
class PatchPart:
    """Files that a step changed, as `(path, change)`; never shown to models.

    On a user's message, the files changed before its turn.
    """

    id: PartId
    files: tuple[tuple[str, str], ...]
    detail: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CompactionPart:
    """Marks a rewrite of the view."""

    id: PartId
    compaction_id: str
    cause: str


@dataclass(frozen=True, slots=True)
class SubtaskPart:
    """A task for a child session, and its result."""

    id: PartId
    child: SessionId
    task: str
    result: str = ""


Part: TypeAlias = (
    TextPart
    | ReasoningPart
    | ToolPart
    | FilePart
    | OpaquePart
    | StepStartPart
    | StepFinishPart
    | PatchPart
    | CompactionPart
    | SubtaskPart
)

Role: TypeAlias = Literal["user", "assistant"]
MessageStatus: TypeAlias = Literal["open", "complete", "cut", "failed", "discarded"]
"""`open`: still streaming; `cut`: cancelled or interrupted; `failed`: the model gave up;
`discarded`: withdrawn by a retry, never in a prompt."""


@dataclass(frozen=True, slots=True)
class Message:
    """A user's message, or one model call's output."""

    id: MessageId
    turn_id: TurnId
    role: Role
    parts: tuple[Part, ...]
    created: Millis
    status: MessageStatus = "complete"
    model: str = ""
