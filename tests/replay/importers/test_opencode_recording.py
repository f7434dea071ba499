"""An export of opencode becomes our messages: one for each model call."""

import pytest

from sidecar.core.parts import (
    FilePart,
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
from sidecar.replay.importers.opencode_recording import entries, recognises
from sidecar.replay.transcript import Compacted, DamagedLine, TranscriptEntry

PNG = "data:image/png;base64,iVBORw0KGgo="


def user(*parts: JsonObject, at: int = 1_000_000) -> JsonObject:
    info = {"id": "u", "sessionID": "s", "role": "user", "time": {"created": at}}
    return {"info": info, "parts": list(parts)}  # type: ignore[dict-item]


def assistant(*parts: JsonObject, **more: object) -> JsonObject:
    info = {
        "id": "a",
        "sessionID": "s",
        "role": "assistant",
        "modelID": "opus",
        "providerID": "anthropic",
        "time": {"created": 1_000_001_000_000, "completed": 1_000_009_000_000},
        **more,
    }
    return {"info": info, "parts": list(parts)}  # type: ignore[dict-item]


def text(content: str, **more: object) -> JsonObject:
    return {"type": "text", "text": content, **more}  # type: ignore[dict-item]


def tool(call_id: str, **state: object) -> JsonObject:
    given = {"input": {"command": "ls"}, "time": {"start": 1, "end": 1_000_002_000_000}, **state}
    return {"type": "tool", "callID": call_id, "tool": "bash", "state": given}  # type: ignore[dict-item]


def finish(read: int = 20, reason: str = "stop") -> JsonObject:
    tokens = {"input": 10, "output": 5, "reasoning": 2, "cache": {"read": read, "write": 3}}
    return {"type": "step-finish", "reason": reason, "cost": 0.1, "tokens": tokens}  # type: ignore[dict-item]


def export(*messages: JsonObject) -> JsonObject:
    return {"info": {"id": "s", "title": "t", "directory": "/d"}, "messages": list(messages)}


def read(*lines: JsonObject) -> list[TranscriptEntry]:
    return list(entries(enumerate(lines, 1)))


def test_recognises_an_export_and_single_messages_only() -> None:
    assert recognises([export()])
    assert recognises([user(text("hi"))])
    assert not recognises([{"info": {"a": 1}, "parts": []}])
    assert not recognises([{"messages": []}])
    assert not recognises([])


def test_one_message_with_two_model_calls_becomes_two() -> None:
    found = read(
        export(
            user(text("look")),
            assistant(
                {"type": "step-start"},
                {"type": "reasoning", "text": "hm", "metadata": {"signature": "s"}},
                tool("c1", status="completed", output="one", metadata={"exit": 3}),
                tool("c2", status="error", error="no"),
                tool("c3", status="running"),
                finish(reason="tool-calls"),
                {"type": "patch", "files": []},
                {"type": "step-start"},
                text("done"),
                finish(read=40),
            ),
        )
    )
    asked, first, second = found
    assert isinstance(asked, Message)
    assert isinstance(first, Message)
    assert isinstance(second, Message)
    assert (first.turn_id, first.model, first.created) == ("t0", "opus", 1_000_001_000_000)
    thought, done, failed, cut, end = first.parts
    assert isinstance(thought, ReasoningPart)
    assert thought.metadata == {"signature": "s"}
    assert isinstance(done, ToolPart)
    assert (done.call_id, done.name, done.input) == ("c1", "bash", {"command": "ls"})
    assert isinstance(done.state, ToolCompleted)
    assert (done.state.output.text, done.state.metadata) == ("one", {"exitCode": 3})
    assert done.state.finished == 1_000_002_000_000
    assert isinstance(failed, ToolPart)
    assert isinstance(failed.state, ToolCompleted)
    assert (failed.state.output.text, failed.state.metadata) == ("no", {"isError": True})
    assert isinstance(cut, ToolPart)
    assert isinstance(cut.state, ToolError)
    assert cut.state.failure == "interrupted"
    assert isinstance(end, StepFinishPart)
    assert end.usage == Usage(10, 20, 3, 0, 7, 2, 1)
    assert (end.stop, end.started) == ("tool-calls", asked.created)
    end = second.parts[-1]
    assert isinstance(end, StepFinishPart)
    assert (end.usage.cache_read, end.started) == (40, 1_000_002_000_000)


def test_what_opencode_put_in_is_context_and_opens_no_turn() -> None:
    found = read(
        user(text("a"), text("the file", synthetic=True), text("not sent", ignored=True)),
        assistant(text("b")),
        user(text("go on", synthetic=True)),
        user(
            {"type": "file", "mime": "image/png", "filename": "x.png", "url": PNG},
            {"type": "file", "mime": "text/plain", "filename": "y", "url": "file:///y"},
            {"type": "agent", "name": "build"},
        ),
    )
    messages = [entry for entry in found if isinstance(entry, Message)]
    assert [m.turn_id for m in messages] == ["t0", "t0", "t0", "t1"]
    texts = [p for p in messages[0].parts if isinstance(p, TextPart)]
    assert [(p.text, p.source) for p in texts] == [("a", "typed"), ("the file", "context")]
    image, file = messages[3].parts
    assert isinstance(image, FilePart)
    assert image.media is not None
    assert (image.media.media_type, image.media.data) == ("image/png", "iVBORw0KGgo=")
    assert isinstance(file, FilePart)
    assert (file.uri, file.media) == ("file:///y", None)


def test_a_summary_marks_a_compaction_and_is_left_out_unless_it_failed() -> None:
    found = read(
        user(text("a")),
        assistant(error={"name": "Aborted"}, summary=True),
        user({"type": "compaction", "auto": True}),
        assistant(text("so far"), finish(), summary=True),
        user(text("b")),
    )
    assert [type(entry) for entry in found] == [Message, Compacted, Message]
    assert found[1] == Compacted(1_000_001_000_000)


def test_usage_stands_in_the_message_where_no_step_has_it() -> None:
    tokens = {"input": 7, "output": 1, "cache": {"read": 0, "write": 0}}
    known, unknown = read(assistant(text("a"), tokens=tokens), assistant(text("b")))
    usages = []
    for entry in (known, unknown):
        assert isinstance(entry, Message)
        end = entry.parts[-1]
        assert isinstance(end, StepFinishPart)
        usages.append(end.usage)
    assert usages == [Usage(input=7, output=1, requests=1), Usage()]


def test_media_that_a_tool_gave_is_kept() -> None:
    files = [{"mime": "image/png", "url": PNG}]
    (answer,) = read(assistant(tool("c", status="completed", output="", attachments=files)))
    assert isinstance(answer, Message)
    call = answer.parts[0]
    assert isinstance(call, ToolPart)
    assert isinstance(call.state, ToolCompleted)
    assert [m.media_type for m in call.state.output.media] == ["image/png"]


@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"info": {"role": "robot"}, "parts": []},
        {"info": {"role": "user"}, "parts": 3},
        {"info": {"role": "user"}, "parts": [{"type": "text", "text": 3}]},
        {"info": {"role": "user"}, "parts": [{"type": "text", "text": "b"}, {"type": []}]},
        {"info": {"role": "assistant"}, "parts": [{"type": "tool", "callID": 1}]},
        {"info": {"role": "user", "time": {"created": float("inf")}}, "parts": [text("b")]},
    ],
)
def test_odd_messages_are_reported_and_the_rest_is_read(odd: JsonObject) -> None:
    for found, line in (
        (read(user(text("a")), odd, user(text("c"))), 2),
        (read(export(user(text("a")), odd, user(text("c")))), 1),
    ):
        assert [entry.line for entry in found if isinstance(entry, DamagedLine)] == [line]
        assert len([entry for entry in found if isinstance(entry, Message)]) >= 2
