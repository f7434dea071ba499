"""Whatever stands in a log, the request's body can be written as UTF-8."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from anthropic._utils._json import openapi_dumps

from sidecar.core.parts import JsonObject, Media
from sidecar.core.prompt.prompt import Breakpoint, ModelRequest, Prompt, ToolSpec
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
from sidecar.model.messages.encode import Encoder, encode
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


def test_bodies_are_written_as_the_sdk_would_whatever_was_written_before() -> None:
    given: JsonObject = {"n": 2**70, "small": 1e-7, "large": 1e16, "text": '\x7f\x00\u2028"\\é'}
    tool = ToolSpec("look", "Look.", {"type": "object", "multipleOf": 1e-9})
    asked = Rendered("user", (Block(TextBlock("Go."), "user"), Block(TextBlock("on"), "user")))
    called = Rendered("assistant", (Block(CallBlock("c", "look", given), "assistant"),))
    odd = Rendered("user", tuple(Block(content, "user") for content in BLOCKS))
    said = Rendered("assistant", (Block(TextBlock("So far \n"), "assistant"),))
    talk, first, last = (asked, called, odd, said), Breakpoint(None, 0, "1h"), Breakpoint(2, 1)
    encoder = Encoder()
    for until, marks in ((1, ()), (4, (first, last)), (2, (first,)), (4, ()), (3, (last,))):
        request = ModelRequest("m", Prompt((tool,), system("You"), talk[:until], marks), 9, "low")
        body = encode(request)
        assert encoder.write(request, stream=False) == openapi_dumps(body)
        assert encoder.write(request, stream=True) == openapi_dumps({**body, "stream": True})


def test_only_blocks_of_new_messages_are_unwritten() -> None:
    asked = Rendered("user", (Block(TextBlock("Go."), "user"),))
    called = tuple(Block(CallBlock(f"c{n}", "look", {}), "assistant") for n in range(3))
    before = ModelRequest("m", Prompt((), (), (asked,)), 9)
    after = ModelRequest("m", Prompt((), (), (asked, Rendered("assistant", called))), 9)
    encoder = Encoder()
    assert encoder.unwritten(before) == 1
    encoder.write(before, stream=True)
    assert (encoder.unwritten(before), encoder.unwritten(after)) == (0, 3)


def test_sessions_that_write_at_once_get_none_of_one_anothers_messages() -> None:
    """Long answers are written in threads, and all sessions of a window have one encoder."""
    encoder, before = Encoder(), sys.getswitchinterval()
    talks = [
        [Rendered("user", (Block(TextBlock(f"{a} {n}"), "user"),)) for n in range(60)] for a in "ab"
    ]

    def write(talk: list[Rendered]) -> bool:
        requests = (ModelRequest("m", Prompt((), (), (*talk[:n],)), 9) for n in range(1, 60))
        return all(
            encoder.write(one, stream=False) == openapi_dumps(encode(one)) for one in requests
        )

    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(2) as threads:
            assert all(threads.map(write, talks * 4))
    finally:
        sys.setswitchinterval(before)


def test_a_text_that_is_sent_keeps_nothing_of_that() -> None:
    text = "".join(("Grüße… aus Köln " * 99, "…"))
    before = sys.getsizeof(text)
    rendered = (Rendered("user", (Block(TextBlock(text), "files"),)),)
    encode(ModelRequest("claude-test", Prompt((), system("x"), rendered, ()), 9))
    assert sys.getsizeof(text) == before
