"""The importer of Claude Code's sessions joins lines, keeps order and survives odd content."""

import pytest

from sidecar.core.parts import (
    Json,
    JsonObject,
    Message,
    ReasoningPart,
    StepFinishPart,
    TextPart,
    ToolCompleted,
    ToolPart,
    Usage,
)
from sidecar.replay.importers.claude_code_recording import entries, recognises
from sidecar.replay.transcript import Compacted, DamagedLine, TranscriptEntry


def line(kind: str, content: object, **more: object) -> JsonObject:
    role = {"role": kind, "content": content, **more.pop("message", {})}  # type: ignore[dict-item]
    common = {"type": kind, "uuid": "u", "sessionId": "s", "timestamp": "2026-01-08T14:41:01Z"}
    return {**common, "message": role, **more}  # type: ignore[dict-item]


def response(name: str, block: JsonObject, output: int = 1) -> JsonObject:
    split = {"ephemeral_5m_input_tokens": 3, "ephemeral_1h_input_tokens": 4}
    usage = {
        "input_tokens": 10,
        "cache_read_input_tokens": 20,
        "cache_creation_input_tokens": 7,
        "cache_creation": split,
        "output_tokens": output,
    }
    return line("assistant", [block], message={"id": name, "model": "opus", "usage": usage})


def call(call_id: str) -> JsonObject:
    return {"type": "tool_use", "id": call_id, "name": "Bash", "input": {"command": "ls"}}


def result(call_id: str, text: str, *, failed: bool = False) -> JsonObject:
    block = {"type": "tool_result", "tool_use_id": call_id, "content": text, "is_error": failed}
    return line("user", [block])


def read(*lines: JsonObject) -> list[TranscriptEntry]:
    return list(entries(enumerate(lines, 1)))


def message(entry: TranscriptEntry) -> Message:
    assert isinstance(entry, Message)
    return entry


def test_recognises_its_own_lines_only() -> None:
    assert recognises([{"type": "summary", "summary": "x"}, line("user", "hi")])
    assert not recognises([{"type": "message", "message": {"role": "user"}}])
    assert not recognises([])


def test_joins_the_lines_of_one_response_though_a_result_comes_between() -> None:
    _, answer = read(
        line("user", "look"),
        response("m1", {"type": "thinking", "thinking": "hm", "signature": "sig"}),
        response("m1", call("c1")),
        result("c1", "one"),
        response("m1", call("c2"), output=9),
        result("c2", "bad", failed=True),
    )
    thought, first, second, finish = message(answer).parts
    assert isinstance(thought, ReasoningPart)
    assert thought.metadata == {"signature": "sig"}
    assert isinstance(first, ToolPart)
    assert isinstance(first.state, ToolCompleted)
    assert (first.state.output.text, first.state.metadata) == ("one", {})
    assert isinstance(second, ToolPart)
    assert isinstance(second.state, ToolCompleted)
    assert (second.state.output.text, second.state.metadata) == ("bad", {"isError": True})
    assert isinstance(finish, StepFinishPart)
    assert finish.usage == Usage(10, 20, 3, 4, 9, 0, 1)


def test_what_the_agent_attached_is_context_and_opens_no_turn() -> None:
    attached = {"type": "nested_memory", "content": {"path": "a", "content": "rules"}}
    found = read(
        line("user", "look"),
        response("m1", call("c1")),
        {"type": "attachment", "attachment": attached},  # type: ignore[dict-item]
        line("user", "caveat", isMeta=True),
        result("c1", "one"),
        line("user", "<command-name>/exit</command-name>"),
        line("user", [{"type": "text", "text": "next"}, {"type": "image"}]),
    )
    texts = [[p for p in message(e).parts if isinstance(p, TextPart)] for e in found]
    assert [[(p.text, p.source) for p in parts] for parts in texts] == [
        [("look", "typed")],
        [],
        [("[nested_memory] rules", "context")],
        [("caveat", "context")],
        [("<command-name>/exit</command-name>", "context")],
        [("next", "typed"), ("[image]", "typed")],
    ]
    assert [message(e).turn_id for e in found] == ["t0", "t0", "t0", "t0", "t0", "t1"]


def test_a_slash_command_that_a_skill_answers_was_typed() -> None:
    named = "<command-message>x:plan</command-message>\n<command-name>/x:plan</command-name>"
    found = read(
        line("user", f"{named}\n<command-args>- first the tests</command-args>"),
        line("user", "Base directory for this skill: /x", isMeta=True),
        response("m1", {"type": "text", "text": "done"}),
        line("user", named),
        response("m2", {"type": "text", "text": "done"}),
        line("user", "<command-name>/model</command-name>\n<command-args>opus</command-args>"),
    )
    said = [p for e in found for p in message(e).parts if isinstance(p, TextPart)]
    typed = [part.text for part in said if part.source == "typed"]
    assert typed == ["/x:plan - first the tests", "/x:plan"]
    assert [message(e).turn_id for e in found] == ["t0", "t0", "t0", "t1", "t1", "t1"]


def test_news_of_a_task_that_waited_in_the_queue_stand_as_they_were() -> None:
    news = "<task-notification>\n<task-id>a1</task-id>\n<status>completed</status>"
    news += "</task-notification>"
    queued = {"type": "queued_command", "prompt": news, "commandMode": "task-notification"}
    found = read(
        line("user", "look"),
        {"type": "attachment", "attachment": queued},  # type: ignore[dict-item]
    )
    assert message(found[1]).parts[0].text == news  # type: ignore[union-attr]


def test_a_boundary_and_its_summary_are_one_compaction() -> None:
    boundary: JsonObject = {"type": "system", "subtype": "compact_boundary"}
    summary = line("user", "so far", isCompactSummary=True)
    found = read(line("user", "a"), boundary, summary, line("user", "b"), summary)
    kinds = [isinstance(entry, Compacted) for entry in found]
    assert kinds == [False, True, False, True]
    assert [entry.summary for entry in found if isinstance(entry, Compacted)] == ["so far"] * 2
    found = read(line("user", "a"), boundary, line("user", "b"), boundary)
    assert [isinstance(entry, Compacted) for entry in found] == [False, True, False, True]


@pytest.mark.parametrize(
    "text",
    [
        "[Request interrupted by user]",
        "[Request interrupted by user for tool use]",
        "<task-notification>\n<id>7</id>\n</task-notification>",
        "<ci-monitor-event>failed</ci-monitor-event>\n<system-reminder>x</system-reminder>",
    ],
)
def test_what_a_program_wrote_in_the_user_s_name_is_nobody_s_request(text: str) -> None:
    first, second, third = (
        message(one)
        for one in read(line("user", "a"), line("user", text), line("user", f"{text} b"))
    )
    sources = [
        part.source
        for one in (first, second, third)
        for part in one.parts
        if isinstance(part, TextPart)
    ]
    assert sources == ["typed", "context", "typed"]
    assert second.turn_id == first.turn_id != third.turn_id


def test_leaves_out_subagents_and_takes_no_answer_of_no_model_for_one() -> None:
    none = line("assistant", "No response", message={"model": "<synthetic>", "usage": {}})
    found = read(line("user", "a"), line("user", "b", isSidechain=True), none)
    assert [message(one).role for one in found] == ["user", "user"]
    [said] = message(found[1]).parts
    assert isinstance(said, TextPart)
    assert (said.text, said.source) == ("No response", "context")


@pytest.mark.parametrize("prompt", ["stop", [{"type": "text", "text": "stop"}]])
def test_what_was_typed_while_the_agent_worked_comes_after_the_results_as_typed(
    prompt: Json,
) -> None:
    def queued(prompt: Json, mode: str) -> JsonObject:
        given: JsonObject = {"type": "queued_command", "prompt": prompt, "commandMode": mode}
        return {"type": "attachment", "attachment": given}

    found = read(
        line("user", "look"),
        response("m1", call("c1")),
        result("c1", "one"),
        queued(prompt, "prompt"),
        queued("<task-notification>done</task-notification>", "task-notification"),
    )
    answer, said, notified = map(message, found[1:])
    assert answer.role == "assistant"
    assert [p.source for p in (*said.parts, *notified.parts) if isinstance(p, TextPart)] == [
        "typed",
        "context",
    ]
    assert [one.turn_id for one in (answer, said, notified)] == ["t0", "t1", "t1"]


@pytest.mark.parametrize(
    "odd",
    [
        {"type": "user"},
        {"type": "assistant", "message": []},
        line("assistant", [{"type": "tool_use", "id": 3}]),
        line("user", [{"type": "unheard-of"}]),
        line("user", "x", timestamp=float("inf")),
        result("nobody asked", "x"),
        response("m1", {"type": "text", "text": None}),
        line("assistant", "x", message={"usage": {"input_tokens": float("nan")}}),
    ],
)
def test_odd_content_is_reported_and_the_rest_is_read(odd: JsonObject) -> None:
    found = read(line("user", "a"), odd, line("user", "b"))
    assert [entry.line for entry in found if isinstance(entry, DamagedLine)] == [2]
    assert len([entry for entry in found if isinstance(entry, Message)]) >= 2
