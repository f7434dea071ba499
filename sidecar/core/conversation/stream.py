"""What a model sends while it answers, provider-neutral, and the fold that turns it into parts.

Where the stream is cut into events must not matter: `fold` gives the same parts for one delta of
ten characters as for ten of one.
"""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from sidecar.core.parts import Json, JsonObject, Usage

BlockKind: TypeAlias = Literal["text", "reasoning", "tool", "opaque"]


@dataclass(frozen=True, slots=True)
class ResponseStarted:
    """The provider accepted the request; the prompt is now readable from its cache."""

    model: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class BlockStarted:
    """A content block opens. `call_id` and `name` are for tools, `block` for opaque ones."""

    index: int
    kind: BlockKind
    call_id: str = ""
    name: str = ""
    block: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BlockDelta:
    """More of a block: text, thinking, or a piece of the JSON text of a tool's input."""

    index: int
    text: str


@dataclass(frozen=True, slots=True)
class BlockMetadata:
    """The provider's own data about a block (a thinking signature): merged, sent back as it is."""

    index: int
    metadata: JsonObject


@dataclass(frozen=True, slots=True)
class BlockFinished:
    """A block is complete. `input` is a tool's parsed input (any JSON), else `None`.

    `problem` says why a tool's input could not be read as JSON, else it is empty.
    """

    index: int
    input: Json = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ResponseFinished:
    """The answer is complete; `stop` is the provider's stop reason, `usage` the final count."""

    stop: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class AttemptFailed:
    """This attempt broke; another follows after `delay_ms`. Parts streamed so far are void."""

    attempt: int
    max_attempts: int
    delay_ms: int
    message: str
    kind: str
    status: int | None = None


StreamEvent: TypeAlias = (
    ResponseStarted
    | BlockStarted
    | BlockDelta
    | BlockMetadata
    | BlockFinished
    | ResponseFinished
    | AttemptFailed
)
