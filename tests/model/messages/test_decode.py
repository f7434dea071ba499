"""Events of another shape than the API documents: read as far as they make sense, never raised."""

from collections import deque
from typing import Any

import pytest

from sidecar.core.conversation.fold import Draft, fold
from sidecar.core.conversation.stream import BlockFinished, BlockMetadata, BlockStarted, StreamEvent
from sidecar.core.parts import MOST_COUNT, PartId, TextPart, Usage
from sidecar.model.messages.decode import ResponseDecoder, usage_of
from sidecar.model.stalls import Endless, limits


def taken(*events: dict[str, Any]) -> list[StreamEvent]:
    decoder = ResponseDecoder()
    return [known for event in events for known in decoder.take(event)]


def tool(raw: str, **given: Any) -> BlockFinished:
    block = {"type": "tool_use", "id": "t", "name": "look", **given}
    delta = {"type": "input_json_delta", "partial_json": raw}
    events = taken(
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
    )
    end = events[-1]
    assert isinstance(end, BlockFinished)
    return end


@pytest.mark.parametrize("usage", [3, "many", [1], True, None, {"input_tokens": "9"}])
def test_usage_of_another_shape_counts_nothing(usage: Any) -> None:
    (started,) = taken({"type": "message_start", "message": {"usage": usage}})
    assert started.usage == Usage()  # type: ignore[union-attr]
    ended = taken(
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage},
        {"type": "message_stop"},
    )
    assert [event.usage for event in ended] == [Usage()]  # type: ignore[union-attr]


@pytest.mark.parametrize("entries", [3, "many", [1], [{"type": "compaction"}], {}, None])
def test_iterations_of_another_shape_count_nothing(entries: Any) -> None:
    usage = {"input_tokens": 7, "iterations": entries}
    (ended,) = taken(
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage},
        {"type": "message_stop"},
    )
    assert ended.usage == Usage(7)  # type: ignore[union-attr]


def test_what_compactions_took_is_added_to_the_totals_once() -> None:
    entry = {"type": "compaction", "input_tokens": 5, "cache_read_input_tokens": 90}
    entries = [{**entry, "output_tokens": 3}, {"type": "message", "input_tokens": 4}, entry]
    usage = {"input_tokens": 4, "output_tokens": 2, "iterations": entries}
    *_, ended = taken(
        {"type": "message_start", "message": {"usage": usage}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage},
        {"type": "message_stop"},
    )
    assert ended.usage == Usage(14, 180, output=5)  # type: ignore[union-attr]


@pytest.mark.parametrize("content", ["What was done.", None])
def test_a_compaction_comes_with_its_start_or_behind_it(content: str | None) -> None:
    decoder = ResponseDecoder(compacting=True)
    block = {"type": "compaction", "content": content, "signature": "s"}
    delta = {"type": "compaction_delta", "content": "What was done."}
    events = [{"type": "content_block_start", "index": 0, "content_block": block}]
    if content is None:
        events.append({"type": "content_block_delta", "index": 0, "delta": delta})
    draft = Draft()
    for event in events:
        for known in decoder.take(event):
            draft = fold(draft, known, PartId("p"))
    assert draft.parts == (TextPart(PartId("p"), "What was done.", "model"),)


def test_a_compaction_that_nobody_asked_for_is_kept_as_it_came() -> None:
    block = {"type": "compaction", "content": "What was done.", "signature": "s"}
    (opened,) = taken({"type": "content_block_start", "index": 0, "content_block": block})
    assert opened == BlockStarted(0, "opaque", block=block)


@pytest.mark.parametrize("count", [-1, MOST_COUNT + 1, 10**400, True, 1.5, "1", None])
def test_what_is_no_count_leaves_usage_as_it_was(count: Any) -> None:
    before = Usage(1, 2, 3, 4, 5, 6, 7)
    told = {
        "input_tokens": count,
        "cache_read_input_tokens": count,
        "cache_creation_input_tokens": count,
        "cache_creation": {"ephemeral_1h_input_tokens": count},
        "output_tokens": count,
        "output_tokens_details": {"thinking_tokens": count},
    }
    assert usage_of(told, before) == before


@pytest.mark.parametrize(
    "raw", ['{"a": NaN}', '{"a": 1e999}', "[" * 101 + "]" * 101, "[" * 99_999, "9" * 5_000, "{"]
)
def test_an_input_that_could_not_be_sent_back_is_a_problem(raw: str) -> None:
    end = tool(raw)
    assert end.input is None
    assert end.problem


def test_an_input_that_came_whole_is_made_plain() -> None:
    assert tool("", input={"a": float("inf"), "b": 1}).input == {"a": None, "b": 1}
    deep: Any = 1
    for _ in range(101):
        deep = [deep]
    assert tool("", input={"a": deep}).input == {}


def test_blocks_that_could_not_be_sent_back_are_made_plain() -> None:
    def started(block: Any) -> list[StreamEvent]:
        return taken({"type": "content_block_start", "index": 0, "content_block": block})

    assert started({"type": "new", "x": float("nan")}) == [
        BlockStarted(0, "opaque", block={"type": "new", "x": None})
    ]
    assert started({"type": "thinking", "data": 5, "signature": [1]}) == [
        BlockStarted(0, "reasoning")
    ]
    assert started({"type": "redacted_thinking", "data": "x"}) == [
        BlockStarted(0, "reasoning", block={"data": "x"})
    ]
    assert started({"type": "redacted_thinking", "data": ""}) == [BlockStarted(0, "reasoning")]
    assert started({"type": "thinking", "signature": "s"})[1] == BlockMetadata(
        0, {"signature": "s"}
    )


@pytest.mark.parametrize("word", ["word", "éé", "x"])
def test_an_answer_of_as_many_tokens_as_it_may_have_comes_through(word: str) -> None:
    """Prose and code have three to five bytes a token; some servers send single letters."""
    tokens = 2_000
    pieces = tokens if len(word) > 1 else 4 * tokens
    decoder = ResponseDecoder(limits(tokens))
    delta = {"type": "text_delta", "text": word}
    event = {"type": "content_block_delta", "index": 0, "delta": delta}
    hidden = {"type": "signature_delta", "signature": "s" * 6 * tokens}
    for given in (*[event] * pieces, {**event, "delta": hidden}):
        assert list(decoder.take(given))
    endless = (event for _ in range(10 * tokens))
    with pytest.raises(Endless, match=f"none of {tokens} tokens"):
        deque(map(list, map(decoder.take, endless)), maxlen=0)
