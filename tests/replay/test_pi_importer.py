"""The importer of pi's sessions pairs calls with results and survives odd content."""

import pytest

from sidecar.core.parts import (
    JsonObject,
    Message,
    ReasoningPart,
    StepFinishPart,
    TextPart,
    ToolCompleted,
    ToolError,
    ToolPart,
    Usage,
)
from sidecar.replay.importers.pi_recording import entries, recognises
from sidecar.replay.transcript import Compacted, DamagedLine, TranscriptEntry

AT = "2025-12-08T22:41:05.306Z"
USAGE: JsonObject = {"input": 1, "output": 2, "cacheRead": 3, "cacheWrite": 4}


def line(role: str, content: object, **more: object) -> JsonObject:
    message = {"role": role, "content": content, **more}
    return {"type": "message", "timestamp": AT, "message": message}  # type: ignore[dict-item]


def user(text: str) -> JsonObject:
    return line("user", [{"type": "text", "text": text}])


def answer(*blocks: JsonObject, usage: JsonObject = USAGE) -> JsonObject:
    return line("assistant", [*blocks], usage=usage, stopReason="toolUse", model="opus")


def call(call_id: str) -> JsonObject:
    return {"type": "toolCall", "id": call_id, "name": "read", "arguments": {"path": "a"}}


def result(call_id: str, text: str, *, failed: bool = False) -> JsonObject:
    content = [{"type": "text", "text": text}]
    return line("toolResult", content, toolCallId=call_id, isError=failed)


def read(*lines: JsonObject) -> list[TranscriptEntry]:
    return list(entries(enumerate(lines, 1)))


def messages(found: list[TranscriptEntry]) -> list[Message]:
    return [entry for entry in found if isinstance(entry, Message)]


def test_recognises_its_own_lines_only() -> None:
    assert recognises([{"type": "session", "cwd": "/"}])
    assert recognises([user("hi")])
    assert not recognises([{"type": "user", "message": {"role": "user"}}])
    assert not recognises([])


def test_results_go_to_their_calls() -> None:
    thought: JsonObject = {"type": "thinking", "thinking": "hm", "thinkingSignature": "sig"}
    found = read(
        user("look"),
        answer(thought, call("c1"), call("c2"), call("c3")),
        result("c2", "bad", failed=True),
        result("c1", "one"),
    )
    _, message = messages(found)
    reasoning, first, second, third, finish = message.parts
    assert isinstance(reasoning, ReasoningPart)
    assert reasoning.metadata == {"thinkingSignature": "sig"}
    assert isinstance(first, ToolPart)
    assert isinstance(first.state, ToolCompleted)
    assert (first.state.output.text, first.state.metadata) == ("one", {})
    assert isinstance(second, ToolPart)
    assert isinstance(second.state, ToolCompleted)
    assert (second.state.output.text, second.state.metadata) == ("bad", {"isError": True})
    assert isinstance(third, ToolPart)
    assert isinstance(third.state, ToolError)
    assert isinstance(finish, StepFinishPart)
    assert (finish.usage, finish.stop) == (Usage(1, 3, 4, 0, 2, 0, 1), "toolUse")


def test_every_part_has_its_own_id() -> None:
    found = read(user("a"), answer(call("c1")), user("b"), answer(call("c2")), answer(call("c3")))
    ids = [part.id for message in messages(found) for part in message.parts]
    assert len(set(ids)) == len(ids)


def test_what_the_user_ran_is_context_and_opens_no_turn() -> None:
    ran = line("bashExecution", None, command="ls", output="a\n")
    found = read(user("look"), ran, {"type": "custom_message", "content": "note"}, user("next"))
    texts = [part for m in messages(found) for part in m.parts if isinstance(part, TextPart)]
    assert [(part.text, part.source) for part in texts] == [
        ("look", "typed"),
        ("$ ls\na\n", "context"),
        ("note", "context"),
        ("next", "typed"),
    ]
    assert [message.turn_id for message in messages(found)] == ["t0", "t0", "t0", "t1"]


def test_an_answer_that_was_aborted_before_it_began_is_left_out() -> None:
    assert len(read(user("a"), answer(usage={"input": 0}))) == 1
    assert len(read(user("a"), answer())) == 2


def test_a_compaction_is_marked_and_its_summary_left_out() -> None:
    compaction: JsonObject = {"type": "compaction", "summary": "so far"}
    found = read(user("a"), answer(call("c1")), compaction, user("b"))
    assert [type(entry) for entry in found] == [Message, Message, Compacted, Message]


@pytest.mark.parametrize(
    "odd",
    [
        {"type": "message"},
        line("nobody", "x"),
        line("user", []),
        result("nobody asked", "x"),
        answer({"type": "toolCall", "id": 3}),
        {**user("x"), "timestamp": float("inf")},
        answer(usage={"input": float("nan")}),
    ],
)
def test_odd_content_is_reported_and_the_rest_is_read(odd: JsonObject) -> None:
    found = read(user("a"), odd, user("b"))
    assert [entry.line for entry in found if isinstance(entry, DamagedLine)] == [2]
    assert len(messages(found)) >= 2
