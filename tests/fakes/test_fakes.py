"""The fakes themselves: they refuse what they should, and the cache keeps its rules."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tests.fakes.cache_simulator import CacheSimulator
from tests.fakes.validation import COMPACTING, first_difference, refusal

MARK = {"cache_control": {"type": "ephemeral"}}


def said(words: str, **extra: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **extra}


def good() -> dict[str, Any]:
    call = {"type": "tool_use", "id": "t1", "name": "look", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "x"}
    return {
        "model": "m",
        "max_tokens": 10,
        "tools": [{"name": "look", "description": "", "input_schema": {}}],
        "system": [said("Be brief.", **MARK)],
        "messages": [
            {"role": "user", "content": [said("hi")]},
            {"role": "assistant", "content": [said("ok"), call]},
            {"role": "user", "content": [result, said("go on", **MARK)]},
        ],
    }


def test_a_good_request_is_taken() -> None:
    assert refusal(good()) is None
    assert refusal({**good(), "max_tokens": 0}) is None


def drop_result(body: Any) -> None:
    del body["messages"][2]["content"][0]


def result_late(body: Any) -> None:
    body["messages"][2]["content"].reverse()


def orphan(body: Any) -> None:
    del body["messages"][1]["content"][1]


def twice(body: Any) -> None:
    body["messages"][1]["content"].append(body["messages"][1]["content"][1])


def same_role(body: Any) -> None:
    body["messages"].insert(0, body["messages"][0])


def starts_wrong(body: Any) -> None:
    del body["messages"][0]


def blank(body: Any) -> None:
    body["messages"][0]["content"][0]["text"] = " \n"


def five_marks(body: Any) -> None:
    body["messages"][0]["content"] = [said(f"w{n}", **MARK) for n in range(5)]


def hour_late(body: Any) -> None:
    body["messages"][2]["content"][1]["cache_control"] = {"type": "ephemeral", "ttl": "1h"}


def ends_in_thinking(body: Any) -> None:
    thought = {"type": "thinking", "thinking": "x", "signature": "s"}
    body["messages"].insert(1, {"role": "assistant", "content": [thought]})
    body["messages"].insert(2, {"role": "user", "content": [said("x")]})


def hot(body: Any) -> None:
    body["temperature"] = 1


def no_limit(body: Any) -> None:
    body.update(max_tokens=0, stream=True)


def bad_name(body: Any) -> None:
    body["tools"][0]["name"] = "look here"


def ends_with_assistant(body: Any) -> None:
    body["messages"] = [*body["messages"][:1], {"role": "assistant", "content": [said("x")]}]


@pytest.mark.parametrize(
    "spoil",
    [
        drop_result, result_late, orphan, twice, same_role, starts_wrong, blank, five_marks,
        hour_late, ends_in_thinking, hot, no_limit, bad_name, ends_with_assistant,
    ],
)  # fmt: skip
def test_the_fake_refuses_what_the_api_refuses(spoil: Callable[[Any], None]) -> None:
    body = good()
    spoil(body)
    assert refusal(body) is not None


def compacting(**given: Any) -> dict[str, Any]:
    return {**good(), "model": "claude-opus-5-5", "compaction": {"type": "summarize", **given}}


def test_a_compaction_is_taken_from_who_asks_for_the_beta() -> None:
    assert refusal(compacting(), COMPACTING) is None
    assert refusal(compacting(instructions="Be brief."), f"other,{COMPACTING}") is None
    answered = compacting()
    answered["messages"].append({"role": "assistant", "content": [said("Done.")]})
    assert refusal(answered, COMPACTING) is None
    assert "requires anthropic-beta" in str(refusal(compacting()))
    assert "at most 16384" in str(refusal(compacting(instructions="x" * 16_385), COMPACTING))
    assert "compaction.trigger" in str(refusal(compacting(trigger=1), COMPACTING))
    assert "'summarize'" in str(refusal({**good(), "compaction": {"type": "x"}}, COMPACTING))
    haiku = {**compacting(), "model": "claude-haiku-5-5"}
    assert "does not support" in str(refusal(haiku, COMPACTING))
    forced = {**compacting(), "tool_choice": {"type": "any"}}
    assert "tool_choice" in str(refusal(forced, COMPACTING))
    open_call = compacting()
    del open_call["messages"][2]
    assert "not finished" in str(refusal(open_call, COMPACTING))


def test_a_compaction_comes_back_first_and_with_the_beta() -> None:
    block = {"type": "compaction", "content": "What was done.", "signature": "s"}
    sent = good()
    sent["messages"][0]["content"].insert(0, block)
    assert refusal(sent, COMPACTING) is None
    assert "Input tag 'compaction'" in str(refusal(sent))
    sent["messages"][0]["content"].reverse()
    assert "must come first" in str(refusal(sent, COMPACTING))


def test_a_prefix_that_moves_is_found() -> None:
    before, after = good(), good()
    after["messages"].append({"role": "assistant", "content": [said("more")]})
    del after["system"][0]["cache_control"]
    assert first_difference(before, after) is None
    assert first_difference(after, before) is not None
    edited = copy.deepcopy(after)
    edited["messages"][0]["content"][0]["text"] = "hello"
    assert "hello" in (first_difference(before, edited) or "")
    edited = copy.deepcopy(after)
    edited["tools"] = []
    assert first_difference(before, edited) == "tools changed"


def sized(*words: str, marks: tuple[int, ...]) -> dict[str, Any]:
    content = [said(w, **(MARK if i in marks else {})) for i, w in enumerate(words)]
    return {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": content}]}


def read_and_written(usage: dict[str, Any]) -> tuple[int, int, int]:
    return (
        usage["cache_read_input_tokens"],
        usage["cache_creation_input_tokens"],
        usage["input_tokens"],
    )


def test_the_cache_reads_what_a_breakpoint_wrote_while_it_is_warm() -> None:
    time = [0.0]
    cache = CacheSimulator(lambda: time[0], minimum=2, count=lambda _: 1)
    first = sized("a", "b", "c", marks=(1,))
    assert read_and_written(cache.request(first)) == (0, 2, 1)
    time[0] = 299
    longer = sized("a", "b", "c", "d", marks=(3,))
    assert read_and_written(cache.request(longer)) == (2, 2, 0)
    time[0] = 299 + 301
    assert read_and_written(cache.request(longer)) == (0, 4, 0)


def test_the_cache_looks_back_twenty_positions_only() -> None:
    """The documentation's own example: written at 15, next breakpoint at 35, so a miss."""
    words = [f"w{n}" for n in range(40)]
    cache = CacheSimulator(lambda: 0.0, minimum=1, count=lambda _: 1)
    cache.request(sized(*words[:16], marks=(15,)))
    assert cache.request(sized(*words[:36], marks=(35,)))["cache_read_input_tokens"] == 0
    other = CacheSimulator(lambda: 0.0, minimum=1, count=lambda _: 1)
    other.request(sized(*words[:17], marks=(16,)))
    assert other.request(sized(*words[:36], marks=(35,)))["cache_read_input_tokens"] == 17


def test_small_prompts_are_not_cached() -> None:
    cache = CacheSimulator(lambda: 0.0, minimum=100, count=lambda _: 1)
    assert read_and_written(cache.request(sized("a", marks=(0,)))) == (0, 0, 1)
