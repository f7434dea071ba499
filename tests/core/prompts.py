"""What a model is sent, in short: built for tests that send it, read by those that look at it."""

from collections.abc import Iterable
from typing import get_args

from sidecar.core.parts import JsonObject, Media, Message
from sidecar.core.prompt.budget import budget
from sidecar.core.prompt.prompt import Prompt, Static, assemble, flat
from sidecar.core.prompt.render import (
    RENDERER,
    Block,
    CallBlock,
    Content,
    MediaBlock,
    OpaqueBlock,
    ReasoningBlock,
    Region,
    Rendered,
    ResultBlock,
    TextBlock,
    render,
)

room = budget
"""The window's division, by its tokens and those of an answer."""
REGIONS: tuple[Region, ...] = get_args(Region)


def system(*texts: str) -> tuple[Block, ...]:
    """The beginning of a prompt, a block for each text."""
    return tuple(Block(TextBlock(text), "system") for text in texts)


def static(*texts: str, model: str = "m") -> Static:
    """A beginning without tools."""
    return Static(model, (), system(*texts), RENDERER)


def user(*said: str | Media | Content, region: Region = "user") -> Rendered:
    """What stands on the user's side: texts, pictures, results."""
    return Rendered("user", tuple(_block(one, region) for one in said))


def model(*said: str | Content) -> Rendered:
    """What the model said, thought and called."""
    return Rendered("assistant", tuple(_block(one, "assistant") for one in said))


def calling(call_id: str, name: str = "tool", given: JsonObject | None = None) -> CallBlock:
    return CallBlock(call_id, name, given or {})


def thinking(text: str, metadata: JsonObject) -> ReasoningBlock:
    return ReasoningBlock(text, metadata)


def opaque(block: JsonObject) -> OpaqueBlock:
    return OpaqueBlock(block)


def answering(call_id: str, text: str = "x", *, failed: bool = False) -> ResultBlock:
    return ResultBlock(call_id, text, is_error=failed)


def _block(said: str | Media | Content, region: Region) -> Block:
    match said:
        case str():
            return Block(TextBlock(said), region)
        case Media():
            return Block(MediaBlock(said), region)
        case ResultBlock():
            return Block(said, "toolResults")
        case ReasoningBlock():
            return Block(said, "reasoning")
        case _:
            return Block(said, region)


def rendered(messages: Iterable[Message], model: str = "m") -> list[Rendered]:
    """What these messages are to a model."""
    return [one for message in messages for one in render(message, model)]


def spoken(messages: Iterable[Rendered]) -> list[tuple[str, tuple[Block, ...]]]:
    """Give what messages say, which compare by identity."""
    return [(one.role, one.blocks) for one in messages]


def alone(messages: Iterable[Message], model: str = "m") -> Prompt:
    """The prompt of nothing but these messages."""
    return assemble(static(model=model), rendered(messages, model))


def texts(prompt: Prompt) -> list[str]:
    """The texts after the beginning, thinking and results left out."""
    return [b.content.text for b in flat(prompt) if isinstance(b.content, TextBlock)]


def thoughts(prompt: Prompt) -> list[str]:
    return [b.content.text for b in flat(prompt) if isinstance(b.content, ReasoningBlock)]


def calls(prompt: Prompt) -> list[CallBlock]:
    return [b.content for b in flat(prompt) if isinstance(b.content, CallBlock)]


def results(prompt: Prompt) -> list[ResultBlock]:
    return [b.content for b in flat(prompt) if isinstance(b.content, ResultBlock)]


def beginning(prompt: Prompt | Static, region: Region | None = None) -> list[str]:
    """The texts of the beginning, or of one region of it."""
    return [
        block.content.text
        for block in prompt.system
        if isinstance(block.content, TextBlock) and region in (None, block.region)
    ]


def last_text(prompt: Prompt) -> str:
    """The text that a prompt ends with; nothing else may stand there."""
    content = flat(prompt)[-1].content
    assert isinstance(content, TextBlock)
    return content.text
