"""Describes a prompt by chained hashes: all tools, each system block, each message block.

Equal hashes are equal prefixes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from operator import is_
from typing import TypeAlias

from sidecar.core.parts import JsonObject
from sidecar.core.prompt.breakpoints import joins
from sidecar.core.prompt.prompt import Prompt, ToolSpec, Ttl
from sidecar.core.prompt.render import (
    Block,
    CallBlock,
    Content,
    MediaBlock,
    OpaqueBlock,
    ReasoningBlock,
    ResultBlock,
    TextBlock,
)
from sidecar.core.text.digest import digest
from sidecar.core.text.json_text import to_json

PrefixPiece: TypeAlias = tuple[ToolSpec, ...] | Block
"""What a segment is made of: all the tools together, or one block."""
CacheMark: TypeAlias = tuple[int, Ttl]
"""A breakpoint: the index of the segment that it follows, and how long it is to live."""
NO_PROMPT = Prompt((), (), ())
KINDS: Mapping[type[Content], str] = {
    TextBlock: "text",
    MediaBlock: "media",
    ReasoningBlock: "thinking",
    CallBlock: "call",
    ResultBlock: "result",
    OpaqueBlock: "opaque",
}


@dataclass(frozen=True, slots=True)
class Chain:
    """A prompt's segments, each with chained hash, cumulative tokens, position and content.

    `settings`: whatever else the messages' cache depends on, such as the effort.
    """

    model: str = ""
    hashes: Sequence[str] = field(default=(), repr=False)
    sizes: Sequence[int] = field(default=(), repr=False)
    places: Sequence[int] = field(default=(), repr=False)
    contents: tuple[PrefixPiece, ...] = field(default=(), repr=False)
    prompt: Prompt = field(default=NO_PROMPT, repr=False)
    settings: str = ""

    @property
    def static(self) -> int:
        """Number of segments before the messages."""
        return 1 + len(self.prompt.system)


def link(
    model: str,
    prompt: Prompt,
    weigh: Callable[[PrefixPiece], int],
    before: Chain,
    settings: str = "",
) -> Chain:
    """Extends an earlier prompt's chain (at first `Chain()`); only new segments are hashed.

    `weigh` counts a segment's tokens. Another model shares nothing with `before`, other `settings`
    no messages. A block object may not change its role.
    """
    contents: list[PrefixPiece] = [prompt.tools, *prompt.system]
    static = len(contents)
    roles = [b"system:"] * static
    for message in prompt.messages:
        contents.extend(message.blocks)
        roles.extend([message.role.encode() + b":"] * len(message.blocks))
    same = _same(before.contents, contents) if before.model == model else 0
    if before.settings != settings or before.static != static:
        same = min(same, static, before.static)
    hashes, sizes = list(before.hashes[:same]), list(before.sizes[:same])
    places = list(before.places[:same])
    running, size, place = digest(model.encode()), 0, -1
    previous: PrefixPiece | None = None
    if same:
        running, size, place, previous = hashes[-1], sizes[-1], places[-1], contents[same - 1]
    for index in range(same, len(contents)):
        content = contents[index]
        if index == static and settings:
            running = digest(settings.encode(), running)
        running = digest(roles[index] + rendered(content), running)
        size += weigh(content)
        place += not joins(previous, content)
        hashes.append(running)
        sizes.append(size)
        places.append(place)
        previous = content
    return Chain(model, hashes, sizes, places, tuple(contents), prompt, settings)


def _same(old: Sequence[PrefixPiece], new: Sequence[PrefixPiece]) -> int:
    alike = list(map(is_, old, new))
    return alike.index(False) if False in alike else len(alike)


def marks_of(prompt: Prompt) -> tuple[CacheMark, ...]:
    lengths = [len(message.blocks) for message in prompt.messages]
    firsts = list(accumulate(lengths, initial=1 + len(prompt.system)))
    starts = (1 if b.message is None else firsts[b.message] for b in prompt.breakpoints)
    points = zip(starts, prompt.breakpoints, strict=True)
    return tuple(sorted((start + point.block, point.ttl) for start, point in points))


def rendered(content: PrefixPiece) -> bytes:
    if isinstance(content, tuple):
        said = "|".join(f"{t.name}:{t.description}:{to_json(t.input_schema)}" for t in content)
        return said.encode("utf-8", "surrogatepass")
    match content.content:
        case TextBlock(text=text, metadata=metadata):
            said = text + _known(metadata)
        case MediaBlock(media=media):
            said = f"{media.media_type}:{media.data}"
        case ReasoningBlock(text=text, metadata=metadata):
            said = f"{text}:{to_json(metadata)}"
        case CallBlock(call_id=call_id, name=name, input=given, metadata=metadata):
            said = f"{call_id}:{name}:{to_json(given)}{_known(metadata)}"
        case ResultBlock() as result:
            shown = ":".join(digest(media.data.encode()) for media in result.media)
            said = f"{result.call_id}:{result.is_error}:{shown}:{result.text}"
        case OpaqueBlock(block=body):
            said = to_json(body)
    return f"{KINDS[type(content.content)]}:{said}".encode("utf-8", "surrogatepass")


def _known(metadata: JsonObject) -> str:
    return f":{to_json(metadata)}" if metadata else ""


def label(chain: Chain, index: int) -> str:
    """Names a segment: `tools`, `system block 0`, `message 12, block 3 (result of bash)`."""
    if index == 0 or index >= len(chain.contents):
        return "tools" if index == 0 else "the end of the prompt"
    left = index - chain.static
    if left < 0:
        return f"system block {index - 1}"
    number = 0
    while left >= len(chain.prompt.messages[number].blocks):
        left -= len(chain.prompt.messages[number].blocks)
        number += 1
    return f"message {number}, block {left} ({_what(chain, index)})"


def _what(chain: Chain, index: int) -> str:
    content = chain.contents[index]
    if isinstance(content, tuple):
        return "tools"
    match content.content:
        case CallBlock(name=name):
            return f"call of {name}"
        case ResultBlock(call_id=call_id):
            calls = (c.content for c in chain.contents[:index] if isinstance(c, Block))
            names = [c.name for c in calls if isinstance(c, CallBlock) and c.call_id == call_id]
            return f"result of {names[-1]}" if names else "result"
        case TextBlock() | MediaBlock():
            return f"{content.region} {kind(content)}"
        case ReasoningBlock() | OpaqueBlock():
            return kind(content)


def kind(content: PrefixPiece) -> str:
    if isinstance(content, tuple):
        return "tools"
    return KINDS[type(content.content)]
