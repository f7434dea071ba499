"""The importer of Codex rollouts finds where responses end and survives odd content."""

import pytest

from sidecar.core.parts import (
    JsonObject,
    Message,
    ReasoningPart,
    StepFinishPart,
    TextPart,
    ToolCompleted,
    ToolPart,
    Usage,
)
from sidecar.replay.importers.codex_recording import entries, recognises
from sidecar.replay.transcript import Compacted, DamagedLine, TranscriptEntry

AT = "2026-06-26T22:08:49.102Z"


def item(kind: str, **payload: object) -> JsonObject:
    line: JsonObject = {"timestamp": AT, "type": "response_item"}
    line["payload"] = {"type": kind, **payload}  # type: ignore[dict-item]
    return line


def said(role: str, *texts: str) -> JsonObject:
    return item("message", role=role, content=[{"type": "input_text", "text": t} for t in texts])


def call(call_id: str, arguments: str = '{"cmd": "ls"}') -> JsonObject:
    return item("function_call", name="exec", arguments=arguments, call_id=call_id)


def output(call_id: str, given: object) -> JsonObject:
    return item("function_call_output", call_id=call_id, output=given)


def tokens(prompt: int, total: int) -> JsonObject:
    last: JsonObject = {"input_tokens": prompt, "cached_input_tokens": 30, "output_tokens": 7}
    info: JsonObject = {"last_token_usage": last, "total_token_usage": {"total_tokens": total}}
    return {"type": "event_msg", "payload": {"type": "token_count", "info": info}}


def read(*lines: JsonObject) -> list[TranscriptEntry]:
    return list(entries(enumerate(lines, 1)))


def messages(found: list[TranscriptEntry]) -> list[Message]:
    return [entry for entry in found if isinstance(entry, Message)]


def usages(found: list[TranscriptEntry]) -> list[Usage]:
    parts = [part for message in messages(found) for part in message.parts]
    return [part.usage for part in parts if isinstance(part, StepFinishPart)]


def tools(message: Message) -> list[ToolPart]:
    return [part for part in message.parts if isinstance(part, ToolPart)]


def test_recognises_its_own_lines_only() -> None:
    assert recognises([{"type": "session_meta", "payload": {}}])
    assert not recognises([{"type": "message", "message": {"role": "user"}}])
    assert not recognises([])


def test_items_up_to_the_count_of_tokens_are_one_response() -> None:
    found = read(
        {"type": "turn_context", "payload": {"model": "gpt"}},
        said("user", "look"),
        item("reasoning", summary=[], encrypted_content="x"),
        said("assistant", "I look."),
        call("c1"),
        call("c2", "not JSON"),
        output("c2", {"content": "bad", "success": False}),
        output("c1", [{"type": "input_text", "text": "one"}]),
        tokens(100, 107),
        tokens(100, 107),
        said("assistant", "Done."),
        tokens(20, 134),
    )
    _, first, second = messages(found)
    assert first.model == "gpt"
    assert isinstance(first.parts[0], ReasoningPart)
    assert first.parts[0].metadata == {"encrypted_content": "x"}
    states = [part.state for part in tools(first) if isinstance(part.state, ToolCompleted)]
    assert [part.input for part in tools(first)] == [{"cmd": "ls"}, "not JSON"]
    assert [state.output.text for state in states] == ["one", "bad"]
    assert [state.metadata for state in states] == [{}, {"isError": True}]
    assert isinstance(second.parts[0], TextPart)
    assert usages(found) == [
        Usage(input=70, cache_read=30, output=7, requests=1),
        Usage(input=0, cache_read=20, output=7, requests=1),
    ]


def test_without_counts_a_result_ends_the_response() -> None:
    found = read(call("c1"), output("c1", "one"), call("c2"), output("c2", "two"))
    assert [[part.call_id for part in tools(message)] for message in messages(found)] == [
        ["c1"],
        ["c2"],
    ]


def test_a_count_may_come_before_the_results() -> None:
    found = read(call("c1"), tokens(100, 107), output("c1", "one"), tokens(100, 107))
    (message,) = messages(found)
    assert isinstance(tools(message)[0].state, ToolCompleted)


def test_a_tool_that_the_provider_ran_has_an_empty_result() -> None:
    (message,) = messages(read(item("web_search_call", action={"query": "q"})))
    (search,) = tools(message)
    assert (search.name, search.input) == ("web_search", {"query": "q"})
    assert isinstance(search.state, ToolCompleted)


def test_what_the_agent_wrote_is_context_and_opens_no_turn() -> None:
    meta: JsonObject = {"type": "session_meta", "payload": {"base_instructions": {"text": "You"}}}
    rules = said("user", "# AGENTS.md instructions for x", "<environment_context>")
    found = read(meta, meta, said("developer", "may"), rules, said("user", "a"), said("user", "b"))
    parts = [[p for p in m.parts if isinstance(p, TextPart)] for m in messages(found)]
    assert [[p.source for p in texts] for texts in parts] == [
        ["context"],
        ["context"],
        ["context", "context"],
        ["typed"],
        ["typed"],
    ]
    assert [m.turn_id for m in messages(found)] == ["t0", "t0", "t0", "t1", "t2"]


def test_what_replaced_the_rest_in_a_compaction_was_never_said() -> None:
    history: JsonObject = {"message": "so far", "replacement_history": [{"content": "a"}]}
    compacted: JsonObject = {"type": "compacted", "payload": history}
    found = read(said("user", "look"), call("c1"), compacted, said("user", "on"))
    assert [type(entry) for entry in found] == [Message, Message, Compacted, Message]


@pytest.mark.parametrize(
    "odd",
    [
        {"type": "response_item"},
        item("unheard-of"),
        item("function_call", call_id="c1"),
        output("nobody asked", "x"),
        {**said("user", "x"), "timestamp": float("inf")},
        item("message", role="assistant", content=7),
    ],
)
def test_odd_content_is_reported_and_the_rest_is_read(odd: JsonObject) -> None:
    found = read(said("user", "a"), odd, said("user", "b"))
    assert [entry.line for entry in found if isinstance(entry, DamagedLine)] == [2]
    assert len(messages(found)) == 2


def test_an_impossible_count_loses_nothing_but_itself() -> None:
    odd = tokens(1, 2)
    odd["payload"] = {"type": "token_count", "info": {"last_token_usage": {"input_tokens": 1e999}}}
    found = read(said("assistant", "a"), odd)
    assert [type(entry) for entry in found] == [DamagedLine, Message]
