"""Writes a prompt for people, block by block."""

import json
from collections.abc import Iterator

from sidecar.core.parts import Media
from sidecar.core.prompt.prompt import Prompt
from sidecar.core.prompt.render import (
    Block,
    CallBlock,
    MediaBlock,
    OpaqueBlock,
    ReasoningBlock,
    ResultBlock,
    TextBlock,
)


def prompt_text(prompt: Prompt) -> str:
    return "\n".join(_lines(prompt))


def _lines(prompt: Prompt) -> Iterator[str]:
    if prompt.tools:
        yield _heading("tools")
        yield ", ".join(tool.name for tool in prompt.tools)
    for block in prompt.system:
        yield _heading(block.region)
        yield _shown(block)
    names = {
        block.content.call_id: block.content.name
        for message in prompt.messages
        for block in message.blocks
        if isinstance(block.content, CallBlock)
    }
    for message in prompt.messages:
        for block in message.blocks:
            yield _heading(_title(message.role, block, names))
            yield _shown(block)


def _heading(title: str) -> str:
    return f"\n── {title} {'─' * max(3, 76 - len(title))}"


def _title(role: str, block: Block, names: dict[str, str]) -> str:
    match block.content:
        case CallBlock(name=name):
            return f"{role} calls {name}"
        case ResultBlock(call_id=call, is_error=failed):
            return f"{'error' if failed else 'result'} of {names.get(call, call)}"
        case ReasoningBlock():
            return f"{role} thinks"
        case _ if block.region in ("ledger", "summary", "context"):
            return f"{role}, {block.region}"
        case _:
            return role


def _shown(block: Block) -> str:
    match block.content:
        case TextBlock(text=text) | ReasoningBlock(text=text):
            return text
        case CallBlock(input=given):
            return json.dumps(given, ensure_ascii=False)
        case ResultBlock(text=text, media=media):
            return "\n".join((text, *map(_described, media)))
        case MediaBlock(media=media):
            return _described(media)
        case OpaqueBlock(block=given):
            return f"[{given.get('type', 'a block')} of the provider's]"


def _described(media: Media) -> str:
    return f"[{media.media_type}, {len(media.data)} characters of base64]"
