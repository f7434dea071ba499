"""The neutral form keeps order, pairs, images and what is known of usage."""

import pytest

from sidecar.core.parts import (
    FilePart,
    Json,
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
from sidecar.replay.importers.neutral_form import entries
from sidecar.replay.transcript import Compacted, DamagedLine, TranscriptEntry


def line(role: str, origin: str, *parts: Json, **more: Json) -> JsonObject:
    return {"role": role, "origin": origin, "parts": list(parts), "usage": None, **more}


def text(content: str) -> JsonObject:
    return {"type": "text", "text": content}


def call(call_id: str | None) -> JsonObject:
    return {"type": "tool_call", "id": call_id, "name": "bash", "input": {"command": "ls"}}


def result(call_id: str, output: str, **more: Json) -> JsonObject:
    return {"type": "tool_result", "id": call_id, "output": output, **more}


def read(*lines: JsonObject) -> list[TranscriptEntry]:
    return list(entries(enumerate(lines, 1)))


def messages(found: list[TranscriptEntry]) -> list[Message]:
    return [entry for entry in found if isinstance(entry, Message)]


def calls(message: Message) -> list[ToolPart]:
    return [part for part in message.parts if isinstance(part, ToolPart)]


def test_a_slash_command_that_a_skill_answers_and_news_from_the_queue() -> None:
    named = "<command-message>plan</command-message>\n<command-name>/plan</command-name>"
    news = "<task-notification>\n<task-id>a1</task-id>\n</task-notification>"
    found = messages(
        read(
            line("user", "meta", text(f"{named}\n<command-args>the tests </command-args>")),
            line("user", "attachment", text(f"[queued_command] {news}")),
        )
    )
    parts = [message.parts[0] for message in found]
    said = [(part.text, part.source) for part in parts if isinstance(part, TextPart)]
    assert said == [("/plan the tests", "typed"), (news, "context")]


@pytest.mark.parametrize("origin", ["system", "meta", "attachment", "developer", "new"])
def test_what_no_human_typed_is_context_of_the_turn(origin: str) -> None:
    found = messages(
        read(
            line("user", origin, text("rules")),
            line("user", "human", text("a")),
            line("user", origin, text("b")),
            line("user", "human", text("c")),
        )
    )
    parts = [message.parts[0] for message in found]
    sources = [part.source for part in parts if isinstance(part, TextPart)]
    assert sources == ["context", "typed", "context", "typed"]
    assert [m.turn_id for m in found] == ["t0", "t1", "t1", "t2"]
    assert [m.id for m in found] == ["m1", "m2", "m3", "m4"]


VALUES = "\n59d59525-c158-4056-9049-143b9edc8df4\nprompt\nhuman\n2026-07-29T04:58:10.413Z"
NOTIFIED = "<task-notification>x</task-notification>\ntask-notification\n2026-07-24T11:44:37.185Z"


def test_what_was_typed_while_the_agent_worked_is_typed() -> None:
    found = messages(
        read(
            line("user", "human", text("a")),
            line("assistant", "model", call("c1")),
            line("tool", "tool", result("c1", "one")),
            line("user", "attachment", text(f"[queued_command] Stop,\nand ask.{VALUES}")),
            line(
                "user",
                "attachment",
                text(f"[queued_command] {NOTIFIED}"),
            ),
        )
    )
    parts = [part for one in found[2:] for part in one.parts if isinstance(part, TextPart)]
    assert [(part.text, part.source) for part in parts[:1]] == [("Stop,\nand ask.", "typed")]
    assert parts[1].source == "context"
    assert [one.turn_id for one in found] == ["t0", "t0", "t1", "t1"]


def test_what_no_model_wrote_is_no_answer_and_a_bare_mark_is_nothing() -> None:
    found = messages(
        read(
            line("user", "human", text("a")),
            line("user", "attachment", text("[task_reminder] ")),
            line("assistant", "model", text("No response requested."), model="<synthetic>"),
        )
    )
    assert [(one.role, len(one.parts)) for one in found] == [("user", 1), ("user", 1)]
    [said] = found[1].parts
    assert isinstance(said, TextPart)
    assert said.source == "context"


@pytest.mark.parametrize("origin", ["compact_summary", "summary", "compaction"])
def test_a_summary_marks_where_the_context_was_dropped(origin: str) -> None:
    found = read(
        line("assistant", "model", call("c1")),
        line("user", origin, text("so far"), ts="1970-01-01T00:00:01Z"),
        line("user", "human", text("go on")),
    )
    assert [type(entry) for entry in found] == [Message, Compacted, Message]
    assert found[1] == Compacted(1000)
    assert isinstance(found[1], Compacted)
    assert found[1].summary == "so far"


def test_what_the_user_types_while_tools_run_comes_after_their_results() -> None:
    found = messages(
        read(
            line("assistant", "model", call("c1"), call("c2")),
            line("tool", "tool", result("c1", "one", exit_code=2)),
            line("user", "human", text("wait")),
            line("tool", "tool", result("c2", "two", is_error=True)),
            line("assistant", "model", text("ok")),
        )
    )
    assert [message.role for message in found] == ["assistant", "user", "assistant"]
    states = [part.state for part in calls(found[0])]
    assert all(isinstance(state, ToolCompleted) for state in states)
    assert [state.metadata for state in states if isinstance(state, ToolCompleted)] == [
        {"exitCode": 2},
        {"isError": True},
    ]


def test_a_call_without_result_was_interrupted_and_a_result_without_call_is_told_of() -> None:
    found = read(
        line("assistant", "model", call("c1")),
        line("tool", "tool", result("c9", "x"), result("c1", "one"), result("c1", "again")),
        line("assistant", "model", call("c2")),
        line("assistant", "model", text("ok")),
        line("tool", "tool", result("c2", "too late")),
    )
    assert [entry.line for entry in found if isinstance(entry, DamagedLine)] == [2, 2, 5]
    first, second, _ = messages(found)
    (done,) = calls(first)
    assert isinstance(done.state, ToolCompleted)
    assert done.state.output.text == "one"
    (cut,) = calls(second)
    assert isinstance(cut.state, ToolError)
    assert cut.state.failure == "interrupted"


def test_what_the_provider_ran_itself_is_complete() -> None:
    (answer,) = messages(read(line("assistant", "model", call(None), call(None))))
    first, second = calls(answer)
    assert first.call_id != second.call_id
    assert isinstance(first.state, ToolCompleted)
    assert isinstance(second.state, ToolCompleted)


def test_images_stay_where_they_were() -> None:
    image: Json = {"type": "image", "media_type": "image/webp", "b64_chars": 900}
    asked, answer = messages(
        read(
            line("user", "human", image, text("what is this?")),
            line("assistant", "model", call("c1"), call("c2")),
            line("tool", "tool", result("c1", "one"), image, image, result("c2", "two")),
        )
    )
    assert isinstance(asked.parts[0], FilePart)
    assert asked.parts[0].media is not None
    shown = [p.state.output.media for p in calls(answer) if isinstance(p.state, ToolCompleted)]
    assert [[media.media_type for media in each] for each in shown] == [["image/webp"] * 2, []]


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, Usage()),
        (
            {"prompt": 60, "uncached": 10, "cache_read": 20, "cache_write": 30},
            Usage(10, 20, 30, requests=1),
        ),
        (
            {"prompt": 60, "cache_read": 20, "cache_write": 30, "cache_write_1h": 30},
            Usage(10, 20, 0, 30, requests=1),
        ),
        ({"uncached": 4, "output": 5, "reasoning": 3}, Usage(4, output=5, thinking=3, requests=1)),
        ({"prompt": 7, "output": None}, Usage(7, requests=1)),
    ],
)
def test_usage_is_kept_as_far_as_it_is_known(usage: Json, expected: Usage) -> None:
    (answer,) = messages(read(line("assistant", "model", text("a"), usage=usage)))
    finish = answer.parts[-1]
    assert isinstance(finish, StepFinishPart)
    assert finish.usage == expected


def test_thinking_keeps_how_long_it_was() -> None:
    hidden: Json = {"type": "reasoning", "text": "", "opaque_chars": 1200}
    (answer,) = messages(read(line("assistant", "model", hidden)))
    assert isinstance(answer.parts[0], ReasoningPart)
    assert answer.parts[0].metadata == {"opaqueChars": 1200}


def test_what_cannot_be_read_is_told_of() -> None:
    found = read(
        line("robot", "model"),
        line("user", "human", {"type": "sound"}),
        line("assistant", "model", text("a"), {"type": "tool_call", "id": 3}),
        line("tool", "tool", {"type": "tool_result"}),
        line("user", "human", text("a"), ts=float("inf")),
    )
    assert [entry.line for entry in found if isinstance(entry, DamagedLine)] == [1, 2, 3, 4, 5]
    assert len(messages(found)) == 1
