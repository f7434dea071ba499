"""Values a conversation is made of: parts, messages, turns, usage. Pure data, equal by content."""

from binascii import a2b_base64
from dataclasses import dataclass, field
from typing import Literal, NewType, TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""Opaque JSON (tool input, metadata): carried, never inspected, and given back unchanged."""
JsonObject: TypeAlias = dict[str, Json]

SessionId = NewType("SessionId", str)
TurnId = NewType("TurnId", str)
MessageId = NewType("MessageId", str)
PartId = NewType("PartId", str)
Millis: TypeAlias = int
"""Milliseconds since 1970 in UTC; `daemon.py` reads the clock, everything else is told."""


@dataclass(frozen=True, slots=True)
class Media:
    """An image or a document: `data` is base64, `media_type` its MIME type."""

    media_type: str
    data: str
    name: str = ""


def base64_of(text: str) -> str | None:
    """Give base64 as providers take it, filled up and without white space.

    `None` where it is none, or empty.
    """
    plain = "".join(text.split())
    plain += "=" * (-len(plain) % 4)
    try:
        return plain if a2b_base64(plain, strict_mode=True) else None
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class Output:
    """What a tool gave back.

    `text` is what the model sees. Where the source was cut, `whole` is the content hash of the
    complete text in the store, and `total_bytes` and `total_lines` describe that complete text.
    """

    text: str
    whole: str | None = None
    total_bytes: int = 0
    total_lines: int = 0
    media: tuple[Media, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolPending:
    """The model is still writing the call's input; `raw` is the JSON text so far."""

    raw: str = ""


@dataclass(frozen=True, slots=True)
class ToolRunning:
    """The call is complete and runs, or waits for permission."""

    started: Millis


@dataclass(frozen=True, slots=True)
class ToolCompleted:
    """The tool answered. A failing command is `completed` with its exit code in `metadata`."""

    output: Output
    started: Millis
    finished: Millis
    title: str = ""
    metadata: JsonObject = field(default_factory=dict)


ToolFailure: TypeAlias = Literal["error", "denied", "interrupted", "cancelled"]


@dataclass(frozen=True, slots=True)
class ToolError:
    """The tool gave no answer: it failed, was refused, or was cut short (then `interrupted`)."""

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
    """Text. `context` is the volatile block that the daemon puts at a user message's end."""

    id: PartId
    text: str
    source: TextSource


@dataclass(frozen=True, slots=True)
class ReasoningPart:
    """The model's thinking. `metadata` is the provider's own (signature, redacted data)."""

    id: PartId
    text: str
    metadata: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolPart:
    """One call and, in time, its result: the pair can never be split.

    `call_id` is the model's own id for the call. `input` is `None` until the call is complete.
    """

    id: PartId
    call_id: str
    name: str
    input: Json
    state: ToolState


@dataclass(frozen=True, slots=True)
class FilePart:
    """What the user attached: an image or document (`media`), or a text resource (`text`)."""

    id: PartId
    uri: str
    name: str = ""
    media: Media | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class OpaquePart:
    """A provider's block that we do not know, kept whole so that it can be sent back unchanged."""

    id: PartId
    block: JsonObject


@dataclass(frozen=True, slots=True)
class StepStartPart:
    """One model call begins."""

    id: PartId
    model: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more model calls, as the provider reported them.

    The prompt is `input + cache_read + cache_write_5m + cache_write_1h`; `thinking` is a share
    of `output`; `requests` counts the calls.
    """

    input: int = 0
    cache_read: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    output: int = 0
    thinking: int = 0
    requests: int = 0

    @property
    def prompt(self) -> int:
        """All tokens that were sent, however they were billed."""
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
    """One model call ended. `cost` is USD as a decimal string, or `None` when unknown.

    `stop` is the provider's word for why it stopped (`end_turn`, `tool_use`, `max_tokens`, …).
    """

    id: PartId
    stop: str
    usage: Usage
    cost: str | None
    started: Millis = 0


@dataclass(frozen=True, slots=True)
class PatchPart:
    """The files that a step changed, as `(path, change)`; on a user's message, before its turn.

    `detail` says it exactly, as `session/changes/tracker` wrote it. A model never sees any of it.
    """

    id: PartId
    files: tuple[tuple[str, str], ...]
    detail: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CompactionPart:
    """Marks where the view of the history was rewritten, and why."""

    id: PartId
    compaction_id: str
    cause: str


@dataclass(frozen=True, slots=True)
class SubtaskPart:
    """A task handed to a child session, and what came of it."""

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
    """A user's message, or what one model call (a step) produced. `model` names who wrote it."""

    id: MessageId
    turn_id: TurnId
    role: Role
    parts: tuple[Part, ...]
    created: Millis
    status: MessageStatus = "complete"
    model: str = ""
