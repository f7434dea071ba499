"""Chunks of another shape than the API documents: read as far as they make sense, never raised."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.conversation.stream import (
    BlockDelta,
    BlockFinished,
    BlockMetadata,
    BlockStarted,
    ResponseFinished,
    ResponseStarted,
    StreamEvent,
)
from sidecar.core.errors import ModelFailed
from sidecar.core.parts import MOST_COUNT, TextPart, ToolPart, Usage
from sidecar.model.failures import EndedEarly
from sidecar.model.gemini.gemini_chunks import ChunkCutter
from sidecar.model.gemini.gemini_decode import MOST_SIGNED, GeminiDecoder, usage_of
from sidecar.model.stalls import Endless, limits
from tests.model.hosted_answers import folded


def said(*parts: Any, finish: str | None = None) -> dict[str, Any]:
    end = {"finishReason": finish} if finish else {}
    return {"candidates": [{"content": {"parts": [*parts], "role": "model"}, **end}]}


def taken(*chunks: Any, names: tuple[str, ...] = ()) -> list[StreamEvent]:
    decoder = GeminiDecoder(names)
    events = [event for chunk in chunks for event in decoder.take(chunk)]
    return [*events, *decoder.end()] if decoder.stopped else events


def test_pieces_of_a_text_are_one_block_and_signatures_say_where_they_stood() -> None:
    events = taken(
        said({"text": "Hel"}),
        said({"text": "lo ", "thoughtSignature": "a"}, {"text": ""}),
        said({"text": "you"}),
        said({"text": "", "thoughtSignature": "b"}, finish="STOP"),
    )
    assert [type(event) for event in events if not isinstance(event, BlockDelta)] == [
        ResponseStarted, BlockStarted, BlockMetadata, BlockMetadata, BlockFinished,
        ResponseFinished,
    ]  # fmt: skip
    (part,) = folded(events).parts
    assert isinstance(part, TextPart)
    assert part.text == "Hello you"
    assert part.metadata == {"signatures": [[3, 6, "a"], [9, 9, "b"]]}


def test_blocks_follow_one_another_as_their_parts_do() -> None:
    call = {"functionCall": {"name": "look", "args": {}}}
    events = taken(
        said({"text": "hm", "thought": True}, {"text": "m", "thought": True}),
        said({"text": "", "thought": True, "thoughtSignature": "s"}),
        said({"text": "So"}, call, call, {"text": "."}),
        said({"executableCode": {"code": "1"}}, {"text": "!"}, finish="STOP"),
    )
    started = [event for event in events if isinstance(event, BlockStarted)]
    assert [event.index for event in started] == [*range(8)]
    kinds = ["reasoning", "reasoning", "text", "tool", "tool", "text", "opaque", "text"]
    assert [event.kind for event in started] == kinds
    ended = [event.index for event in events if isinstance(event, BlockFinished)]
    assert ended == [*range(8)]
    assert events[-1].stop == "tool_use"  # type: ignore[union-attr]


def test_a_signature_may_come_alone() -> None:
    (part,) = folded(taken(said({"text": "so"}, {"thoughtSignature": "x"}, finish="STOP"))).parts
    assert part.metadata == {"signatures": [[2, 2, "x"]]}  # type: ignore[union-attr]


def test_a_text_with_many_signatures_becomes_several() -> None:
    many = [{"text": "a", "thoughtSignature": "x"}] * (MOST_SIGNED + 1)
    assert len(folded(taken(said(*many, finish="STOP"))).parts) == 2


def test_a_tool_is_called_by_the_name_that_it_has_here() -> None:
    chunk = said({"functionCall": {"name": "_7zip"}}, {"functionCall": {"name": "_else"}})
    found = folded(taken(chunk, names=("7zip", "look"))).parts
    assert [part.name for part in found if isinstance(part, ToolPart)] == ["7zip", "_else"]


def test_calls_without_an_id_get_one_that_no_other_has() -> None:
    chunk = said(*[{"functionCall": {"name": "look"}}] * 2, {"functionCall": {"id": "x"}})
    found = folded(taken({**chunk, "responseId": "r/1"})).parts
    assert [part.call_id for part in found] == ["call_r_1_0", "call_r_1_1", "x"]  # type: ignore[union-attr]
    assert folded(taken(chunk)).parts[0].call_id == ""  # type: ignore[union-attr]


@pytest.mark.parametrize("usage", [3, "many", [1], True, None, {"promptTokenCount": "9"}])
def test_usage_of_another_shape_counts_nothing(usage: Any) -> None:
    (started,) = taken({"usageMetadata": usage})
    assert started.usage == Usage()  # type: ignore[union-attr]


@pytest.mark.parametrize("count", [-1, MOST_COUNT + 1, 10**400, True, 1.5, "1", None])
def test_what_is_no_count_leaves_usage_as_it_was(count: Any) -> None:
    before = Usage(input=1, cache_read=2, output=9, thinking=6)
    keys = ("promptTokenCount", "cachedContentTokenCount", "candidatesTokenCount")
    told = dict.fromkeys((*keys, "thoughtsTokenCount", "toolUsePromptTokenCount"), count)
    assert usage_of(told, before) == before


@pytest.mark.parametrize("reason", ["MALFORMED_RESPONSE", "MALFORMED_FUNCTION_CALL"])
def test_what_the_api_calls_broken_is_no_end(reason: str) -> None:
    with pytest.raises(EndedEarly, match=reason):
        taken(said({"text": "so"}, finish=reason))


def test_without_an_end_there_is_none() -> None:
    decoder = GeminiDecoder()
    assert len([*decoder.take(said({"text": "so"}, finish="FINISH_REASON_UNSPECIFIED"))]) == 3
    with pytest.raises(EndedEarly):
        next(decoder.end())


NAMES = ("candidates", "content", "parts", "text", "thought", "thoughtSignature", "functionCall",
         "name", "args", "id", "finishReason", "promptFeedback", "blockReason", "usageMetadata",
         "promptTokenCount", "responseId", "modelVersion", "inlineData")  # fmt: skip
VALUES: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["", "STOP", "a"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5)
    ),
    max_leaves=20,
)


@given(st.lists(st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=5), max_size=4))
def test_nothing_else_is_raised_whatever_comes(chunks: list[Any]) -> None:
    decoder = GeminiDecoder(limits=limits(9))
    try:
        events = [event for chunk in chunks for event in decoder.take(chunk)]
        events += decoder.end()
    except (EndedEarly, ModelFailed, Endless):
        return
    open_now: set[int] = set()
    for event in events:
        match event:
            case BlockStarted(index=index):
                open_now.add(index)
            case BlockFinished(index=index):
                open_now.remove(index)
            case BlockDelta(index=index) | BlockMetadata(index=index):
                assert index in open_now
    assert not open_now


STREAM = (
    b': PING\r\n\r\ndata: {"a": "\xc3\xa9\xe2\x80\xa8"}\r\n\r\nevent: x\nid: 1\n'
    b'data:{"b":\ndata: 2}\n\n\n[{\n  "error": {\n    "code": 503\n  }\n}\n]\n'
    b'data: {"c": NaN}'
)
CHUNKS = [None, {"a": "é\u2028"}, {"b": 2}, {"error": {"code": 503}}, {"c": None}]


@given(st.lists(st.integers(1, 60), max_size=60))
def test_where_bytes_are_cut_does_not_matter(sizes: list[int]) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        rest, widths = STREAM, iter(sizes)
        while rest:
            width = next(widths, len(rest))
            yield rest[:width]
            rest = rest[width:]

    async def cut() -> list[Any]:
        return [one.content async for one in ChunkCutter().aiter_bytes(pieces())]

    assert asyncio.run(cut()) == CHUNKS


def test_what_is_no_json_is_no_chunk() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield json.dumps({"a": 1}).encode()[:-1]

    async def cut() -> list[Any]:
        return [one async for one in ChunkCutter().aiter_bytes(pieces())]

    with pytest.raises(ValueError, match="delimiter"):
        asyncio.run(cut())
