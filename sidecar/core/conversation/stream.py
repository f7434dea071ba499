"""Provider-neutral events of a streamed answer.

Deltas may be split anywhere.
"""

from dataclasses import field
from typing import Literal, TypeAlias

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Json, JsonObject, Usage

BlockKind: TypeAlias = Literal["text", "reasoning", "tool", "opaque"]


@dataclass(frozen=True, slots=True)
class ResponseStarted:
    """The provider accepted the request, and cached the prompt.

    `sdk`: the library's name and version, or empty.
    """

    model: str
    usage: Usage
    sdk: str = ""


@dataclass(frozen=True, slots=True)
class BlockStarted:
    """A block opens; `call_id` and `name` are set for tool calls, `block` for opaque blocks."""

    index: int
    kind: BlockKind
    call_id: str = ""
    name: str = ""
    block: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BlockDelta:
    """More text, thinking, or JSON of a tool's input."""

    index: int
    text: str


@dataclass(frozen=True, slots=True)
class BlockMetadata:
    """The provider's data on a block, sent back unchanged."""

    index: int
    metadata: JsonObject


@dataclass(frozen=True, slots=True)
class BlockFinished:
    """A block is complete; `problem` says why a tool's `input` is missing."""

    index: int
    input: Json = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ResponseFinished:
    """The answer is complete, with the provider's stop reason and final usage."""

    stop: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class AttemptFailed:
    """An attempt failed, and its parts are void; the next follows after `delay_ms`."""

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
