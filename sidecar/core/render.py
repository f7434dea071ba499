"""How logged messages look in a prompt: blocks, in order, each with the region it counts for.

Rendering is deterministic and has a version: resume, fork and restart give the same bytes.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from sidecar.core.parts import Json, JsonObject, Media, PartId, Role, TurnId

RENDERER = 1
"""Raised whenever the same log would render to other bytes; stored with each epoch."""

Region: TypeAlias = Literal[
    "system",
    "tools",
    "instructions",
    "learned",
    "summary",
    "ledger",
    "user",
    "assistant",
    "reasoning",
    "toolResults",
    "context",
]


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Plain text."""

    text: str


@dataclass(frozen=True, slots=True)
class MediaBlock:
    """An image or a document."""

    media: Media


@dataclass(frozen=True, slots=True)
class ReasoningBlock:
    """Thinking, with the provider's metadata exactly as it came."""

    text: str
    metadata: JsonObject


@dataclass(frozen=True, slots=True)
class CallBlock:
    """A tool call that the model made; `input` is exactly what it wrote."""

    call_id: str
    name: str
    input: Json


@dataclass(frozen=True, slots=True)
class ResultBlock:
    """A tool's answer. Stands first in the user message right after its call."""

    call_id: str
    text: str
    media: tuple[Media, ...] = ()
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class OpaqueBlock:
    """A provider's block that we do not know, sent back whole."""

    block: JsonObject


Content: TypeAlias = TextBlock | MediaBlock | ReasoningBlock | CallBlock | ResultBlock | OpaqueBlock


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a prompt and where it comes from."""

    content: Content
    region: Region
    part_id: PartId | None = None
    turn_id: TurnId | None = None


@dataclass(frozen=True, slots=True)
class Rendered:
    """Blocks of one role. Neighbours of the same role are joined when a prompt is assembled."""

    role: Role
    blocks: tuple[Block, ...]
