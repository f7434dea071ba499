"""Renders logged messages as prompt blocks, each with its region.

Rendering has a version: resume, fork and restart give the same bytes.
"""

from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Literal, TypeAlias

from sidecar.core.conversation import sendable
from sidecar.core.dataclass import dataclass
from sidecar.core.parts import (
    FilePart,
    JsonObject,
    Media,
    Message,
    OpaquePart,
    Part,
    PartId,
    ReasoningPart,
    Role,
    TextPart,
    ToolCompleted,
    ToolError,
    ToolPart,
    ToolPending,
    ToolRunning,
    TurnId,
)
from sidecar.core.prompt.frames import within_frame

RENDERER = 2
"""Raised whenever the same log would render to other bytes; stored with each epoch."""

_PROOFS = ("signature", "data", "encrypted_content", "returned_as")
"""What lets a provider take thinking back: a signature, the thinking itself unreadable, or the name
of the message's field that wants the plain text."""
_SIGNED = "signatures"
"""Of a text, which may be blank: what the provider wants back with it."""
_USERS = frozenset({"tool_result", "image", "document"})

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
    """Plain text, with the provider's metadata of an answer."""

    text: str
    metadata: JsonObject = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class MediaBlock:
    """An image or document."""

    media: Media


@dataclass(frozen=True, slots=True)
class ReasoningBlock:
    """Thinking, with the provider's metadata unchanged."""

    text: str
    metadata: JsonObject


@dataclass(frozen=True, slots=True)
class CallBlock:
    """A tool call of the model, with the provider's metadata."""

    call_id: str
    name: str
    input: JsonObject
    metadata: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ResultBlock:
    """A call's result, first in the user message after the calls."""

    call_id: str
    text: str
    media: tuple[Media, ...] = ()
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class OpaqueBlock:
    """A provider's block of unknown type, sent back unchanged."""

    block: JsonObject


Content: TypeAlias = TextBlock | MediaBlock | ReasoningBlock | CallBlock | ResultBlock | OpaqueBlock


@dataclass(frozen=True, slots=True)
class Block:
    """A block and its origin; `tokens` is its raw estimate, once counted."""

    content: Content
    region: Region
    part_id: PartId | None = None
    turn_id: TurnId | None = None
    tokens: int | None = field(default=None, compare=False)


KnownCall: TypeAlias = tuple[Block, Block | None]
"""A call's block, and its result's unless that changed."""
NOTHING_KNOWN: Mapping[PartId, KnownCall] = MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False)
class Rendered:
    """Blocks of one role; `assemble` joins neighbours.

    Equal is only the same object, so that a long prompt is compared with the one before it at once.
    """

    role: Role
    blocks: tuple[Block, ...]


def render(
    message: Message, model: str, known: Mapping[PartId, KnownCall] = NOTHING_KNOWN
) -> tuple[Rendered, ...]:
    """Renders a message for `model`; `known` are blocks of unchanged calls.

    After an assistant's calls comes a user message with all results, in call order, whatever their
    outcome. Omits withdrawn attempts, empty answers, blank text without signatures, unsigned
    thinking, and another model's thinking and metadata.
    """
    if message.status == "discarded":
        return ()
    if message.role == "user":
        blocks = tuple(
            Block(content, region, part.id, message.turn_id)
            for part in message.parts
            for content, region in _user_content(part)
        )
        return (Rendered("user", blocks),) if blocks else ()
    return _render_assistant(message, model, known)


def _render_assistant(
    message: Message, model: str, known: Mapping[PartId, KnownCall]
) -> tuple[Rendered, ...]:
    said: list[Block] = []
    results: list[Block] = []
    own = message.model == model
    for part in message.parts:
        match part:
            case TextPart() if part.text.strip() or (own and part.metadata.get(_SIGNED)):
                text = TextBlock(part.text, part.metadata if own else {})
                said.append(Block(text, "assistant", part.id, message.turn_id))
            case ReasoningPart() if _is_signed(part) and own:
                thought = ReasoningBlock(part.text, part.metadata)
                said.append(Block(thought, "reasoning", part.id, message.turn_id))
            case OpaquePart() if is_own(part) and own:
                said.append(Block(OpaqueBlock(part.block), "assistant", part.id, message.turn_id))
            case ToolPart():
                call, result = known.get(part.id, (None, None))
                if call is None:
                    asked = CallBlock(
                        sendable.call_id(part),
                        sendable.tool_name(part.name),
                        sendable.tool_input(part.input),
                        part.metadata if own else {},
                    )
                    call = Block(asked, "assistant", part.id, message.turn_id)
                said.append(call)
                if result is None:
                    result = Block(result_of(part), "toolResults", part.id, message.turn_id)
                results.append(result)
            case _:
                pass
    # The API refuses an assistant message ending in thinking: an answer cut during thinking
    # loses the last thought, and an answer without output is left out.
    while said and isinstance(said[-1].content, ReasoningBlock):
        said.pop()
    if not said:
        return ()
    answered = (Rendered("user", tuple(results)),) if results else ()
    return (Rendered("assistant", tuple(said)), *answered)


def _is_signed(part: ReasoningPart) -> bool:
    return any(isinstance(part.metadata.get(key), str) and part.metadata[key] for key in _PROOFS)


def is_own(part: OpaquePart) -> bool:
    """Whether the block has a type that users do not send."""
    kind = part.block.get("type")
    return isinstance(kind, str) and bool(kind.strip()) and kind not in _USERS


def _user_content(part: Part) -> list[tuple[Content, Region]]:
    match part:
        case TextPart() if part.text.strip():
            return [(TextBlock(part.text), "context" if part.source == "context" else "user")]
        case FilePart(media=Media() as media):
            return [(MediaBlock(media), "user")]
        case FilePart(text=str() as text):
            uri = _named(part.uri).replace('"', "%22")
            return [(TextBlock(f'<file uri="{uri}">\n{within_frame(text)}\n</file>'), "user")]
        case FilePart():
            uri = _named(part.uri)
            return [(TextBlock(f"[{_named(part.name) or uri}]({uri})"), "user")]
        case _:
            return []


def _named(name: str) -> str:
    """Puts a file's name on one line, lest it pose as other text."""
    return within_frame(" ".join(name.splitlines()))


def result_of(part: ToolPart) -> ResultBlock:
    call_id = sendable.call_id(part)
    match part.state:
        case ToolCompleted(output=output, metadata=metadata):
            is_error = metadata.get("isError") is True
            return ResultBlock(call_id, output.text, output.media, is_error)
        case ToolError(message=message, output=output):
            text = message if output is None else f"{output.text}\n{message}"
            return ResultBlock(call_id, text, is_error=True)
        case ToolPending() | ToolRunning():
            return ResultBlock(call_id, "Interrupted before this call ended.", is_error=True)
