"""Whatever stands in a log, the request's body can be written as UTF-8."""

import json

import pytest

from sidecar.core.parts import Media
from sidecar.core.prompt.prompt import ModelRequest, Prompt, ToolSpec
from sidecar.core.prompt.render import (
    Block,
    CallBlock,
    Content,
    MediaBlock,
    OpaqueBlock,
    ReasoningBlock,
    Rendered,
    ResultBlock,
    TextBlock,
)
from sidecar.model.encode import encode
from tests.core.prompts import system

ODD = "a\ud800b"

BLOCKS: tuple[Content, ...] = (
    TextBlock(ODD),
    ReasoningBlock(ODD, {"signature": ODD}),
    ReasoningBlock("", {"data": ODD}),
    CallBlock(ODD, ODD, {ODD: [ODD, {"x": ODD}], "n": 2**70}),
    ResultBlock(ODD, ODD, (Media("image/png", "AAAA"),)),
    MediaBlock(Media("image/png", ODD)),
    OpaqueBlock({"type": "new", "deep": [ODD]}),
)


@pytest.mark.parametrize("content", BLOCKS, ids=lambda block: type(block).__name__)
def test_lone_surrogates_are_replaced_everywhere(content: Content) -> None:
    messages = (Rendered("assistant", (Block(content, "assistant"),)),)
    body = encode(ModelRequest("m", Prompt((), (), messages, ()), 9))
    assert b"a?b" in json.dumps(body, ensure_ascii=False).encode()


def test_in_tools_and_system_too() -> None:
    tool = ToolSpec("look", ODD, {"type": "object", "title": ODD})
    body = encode(ModelRequest("m", Prompt((tool,), system(ODD), (), ()), 9))
    assert json.dumps(body, ensure_ascii=False).encode().count(b"a?b") == 3
