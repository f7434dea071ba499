"""Describes a prompt by chained hashes: all tools, each system block, each message block.

Equal hashes are equal prefixes.
"""

from array import array
from collections.abc import Callable, Mapping
from dataclasses import field
from functools import partial
from typing import TypeAlias

from sidecar.core.conversation.growing import identical, unchanged
from sidecar.core.dataclass import dataclass
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

    `firsts`: segments before each message, and all of them. `settings`: whatever else the messages'
    cache depends on, such as the effort. Numbers stand in arrays, copied in one piece.
    """

    model: str = ""
    hashes: list[str] = field(default_factory=list, repr=False)
    sizes: "array[int]" = field(default_factory=partial(array, "q"), repr=False)
    places: "array[int]" = field(default_factory=partial(array, "q"), repr=False)
    contents: list[PrefixPiece] = field(default_factory=list, repr=False)
    firsts: "array[int]" = field(default_factory=partial(array, "q"), repr=False)
    prompt: Prompt = field(default=NO_PROMPT, repr=False)
    settings: str = ""

    @property
    def static(self) -> int:
        """Number of segments before the messages."""
        return 1 + len(self.prompt.system)

    @property
    def marks(self) -> tuple[CacheMark, ...]:
        """Lists the prompt's breakpoints in order."""
        points = self.prompt.breakpoints
        starts = [1 if p.message is None else self.firsts[p.message] for p in points]
        marked = zip(starts, points, strict=True)
        return tuple(sorted((start + point.block, point.ttl) for start, point in marked))


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
    if before.prompt is prompt and (before.model, before.settings) == (model, settings):
        return before
    pieces: list[PrefixPiece] = [prompt.tools, *prompt.system]
    static = len(pieces)
    alike = before.model == model and before.settings == settings and before.static == static
    known, begun, firsts = 0, 0, array("q", (static,))
    roles = [b"system:"] * static
    if alike and identical(before.contents, pieces) == static:
        # Of messages that are known it is enough to look at each as a whole.
        known = unchanged(before.prompt.messages, prompt.messages)
        begun, firsts = before.firsts[known], before.firsts[: known + 1]
        pieces, roles = [], []
    for message in prompt.messages[known:]:
        pieces.extend(message.blocks)
        roles.extend([message.role.encode() + b":"] * len(message.blocks))
        firsts.append(firsts[-1] + len(message.blocks))
    same = begun
    if before.model == model:
        same += identical(before.contents[begun:], pieces)
    if not alike:
        same = min(same, static, before.static)
    hashes, sizes, places = before.hashes[:same], before.sizes[:same], before.places[:same]
    contents = before.contents[:same]
    running, size, place = digest(model.encode()), 0, -1
    previous: PrefixPiece | None = None
    if same:
        running, size, place, previous = hashes[-1], sizes[-1], places[-1], contents[-1]
    for index in range(same - begun, len(pieces)):
        content = pieces[index]
        if begun + index == static and settings:
            running = digest(settings.encode(), running)
        running = digest(roles[index] + rendered(content), running)
        size += weigh(content)
        place += not joins(previous, content)
        hashes.append(running)
        sizes.append(size)
        places.append(place)
        contents.append(content)
        previous = content
    return Chain(model, hashes, sizes, places, contents, firsts, prompt, settings)


def rendered(content: PrefixPiece) -> bytes:
    if isinstance(content, tuple):
        said = "|".join(f"{t.name}:{t.description}:{to_json(t.input_schema)}" for t in content)
        return said.encode("utf-8", "surrogatepass")
    match content.content:
        case TextBlock(text=text):
            said = text
        case MediaBlock(media=media):
            said = f"{media.media_type}:{media.data}"
        case ReasoningBlock(text=text, metadata=metadata):
            said = f"{text}:{to_json(metadata)}"
        case CallBlock(call_id=call_id, name=name, input=given):
            said = f"{call_id}:{name}:{to_json(given)}"
        case ResultBlock() as result:
            shown = ":".join(digest(media.data.encode()) for media in result.media)
            said = f"{result.call_id}:{result.is_error}:{shown}:{result.text}"
        case OpaqueBlock(block=body):
            said = to_json(body)
    if isinstance(content.content, TextBlock | CallBlock) and content.content.metadata:
        said += f":{to_json(content.content.metadata)}"
    return f"{KINDS[type(content.content)]}:{said}".encode("utf-8", "surrogatepass")


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
