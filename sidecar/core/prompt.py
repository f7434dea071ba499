"""What is sent to a model: the provider-neutral prompt, and `assemble`, its only builder."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from sidecar.core.parts import JsonObject
from sidecar.core.render import Block, Rendered

ToolKind: TypeAlias = Literal["read", "edit", "search", "execute", "other"]
ToolOrigin: TypeAlias = Literal["builtin", "client"]
Ttl: TypeAlias = Literal["5m", "1h"]


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model is told of it, and as pruning and permissions need to know it.

    `output_limit` is in bytes; `None` means the default (50 KiB).
    """

    name: str
    description: str
    input_schema: JsonObject
    kind: ToolKind = "other"
    read_only: bool = False
    output_limit: int | None = None
    protected_from_pruning: bool = False
    restorable: bool = False
    origin: ToolOrigin = "builtin"


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """A cache marker after a block. `message` is `None` for a marker on system block `block`."""

    message: int | None
    block: int
    ttl: Ttl = "5m"


@dataclass(frozen=True, slots=True)
class Prompt:
    """Tools, system text and messages in the order in which a provider hashes them."""

    tools: tuple[ToolSpec, ...]
    system: tuple[Block, ...]
    messages: tuple[Rendered, ...]
    breakpoints: tuple[Breakpoint, ...] = ()


Purpose: TypeAlias = Literal["turn", "summary", "title", "subtask"]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One model call. `max_tokens` bounds the answer; `effort` is the provider's word or empty."""

    model: str
    prompt: Prompt
    max_tokens: int
    effort: str = ""
    purpose: Purpose = "turn"
