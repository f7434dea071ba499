"""A recording's format is found by what the file holds, whatever it is called."""

import gzip
import json
from pathlib import Path

import pytest

from sidecar.core.errors import BadRequest
from sidecar.core.ledger.units import RECORDED_SUMMARY
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
from sidecar.replay.importers.recognition import (
    find_files,
    find_recordings,
    importers,
    open_transcript,
)
from sidecar.replay.transcript import Compacted, DamagedLine, TranscriptEntry
from tests.replay.importers.recordings import FORMATS, MS, NEUTRAL, OPENCODE


def packed(lines: list[JsonObject]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def told(entry: TranscriptEntry) -> tuple[object, ...]:
    """Everything about an entry that does not differ between agents."""
    if not isinstance(entry, Message):
        return (type(entry).__name__,)
    parts: list[object] = []
    for part in entry.parts:
        match part:
            case TextPart(source=source, text=text):
                parts.append((source, text))
            case ReasoningPart(text=text):
                parts.append(("reasoning", text))
            case ToolPart(state=ToolCompleted(output=output, finished=ended) as state):
                failed = state.metadata.get("isError", False)
                given = (part.call_id, part.name, part.input)
                parts.append((*given, output.text, failed, (ended - MS) // 1000))
            case StepFinishPart(usage=usage, started=started):
                parts.append((usage, (started - MS) // 1000))
            case _:
                parts.append(part)
    at = (entry.created - MS) // 1000
    return (entry.role, entry.turn_id, entry.model, at, *parts)


SAME = [
    ("user", "t0", "", 1, ("typed", "look")),
    (
        *("assistant", "t0", "opus", 2),
        *(("reasoning", "hm"), ("model", "I look")),
        ("c1", "bash", {"command": "ls"}, "one", False, 3),
        (Usage(10, 20, output=5, requests=1), 1),
    ),
    (
        *("assistant", "t0", "opus", 4),
        ("c2", "bash", {"command": "cd"}, "no", True, 5),
        (Usage(10, 30, output=5, requests=1), 3),
    ),
    ("Compacted",),
    ("user", "t1", "", 7, ("typed", "go on")),
    (*("assistant", "t1", "opus", 8), ("model", "done"), (Usage(10, 40, output=5, requests=1), 7)),
]


def test_every_importer_has_its_example_here() -> None:
    assert sorted(FORMATS) == sorted(importer.FORMAT for importer in importers())


@pytest.mark.parametrize("name", FORMATS)
def test_each_example_is_recognised_by_its_importer_alone(name: str) -> None:
    assert [i.FORMAT for i in importers() if i.recognises(FORMATS[name])] == [name]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("zipped", [False, True])
def test_every_agent_s_file_gives_the_same_session_whatever_it_is_called(
    tmp_path: Path, name: str, zipped: bool
) -> None:
    path = tmp_path / "session.txt"
    data = packed(FORMATS[name])
    path.write_bytes(gzip.compress(data) if zipped else data)
    transcript = open_transcript(path)
    assert (transcript.format, transcript.path) == (name, str(path))
    assert [told(entry) for entry in transcript.entries] == SAME
    if name != "neutral":
        assert (transcript.cwd, transcript.session) == ("/d", "s1")
    if name in ("claude-code", "opencode"):
        assert transcript.title == "A title"


def test_a_document_over_many_lines_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    path.write_text(json.dumps(OPENCODE[0], indent=2))
    assert [told(entry) for entry in open_transcript(path).entries] == SAME
    path.write_text(json.dumps(OPENCODE[0]["messages"], indent=2))
    assert [told(entry) for entry in open_transcript(path).entries] == SAME


def test_damaged_lines_stand_among_the_messages(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    good = packed(NEUTRAL[:1])
    path.write_bytes(b"{\n" + good + b"\xff\n" + good + good[:20])
    entries = list(open_transcript(path).entries)
    assert [e.line if isinstance(e, DamagedLine) else "message" for e in entries] == [
        1,
        "message",
        3,
        "message",
        5,
    ]


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"hello", b'{"a": 1}\n', b"\x1f\x8b", b"[]", b"{", b"\x00" * 100]
)
def test_what_is_no_recording_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(data)
    with pytest.raises(BadRequest) as caught:
        open_transcript(path)
    assert str(path) in caught.value.message


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "none", tmp_path / "none" / "deeper", tmp_path):
        with pytest.raises(BadRequest, match="cannot be read"):
            open_transcript(path)


def test_a_folder_gives_its_recordings_in_order(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "two.jsonl").write_bytes(packed(FORMATS["pi"]))
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(packed(FORMATS["codex"])))
    (tmp_path / "c.json").write_text("{}")
    (tmp_path / "notes.md").write_text("not tried")
    (tmp_path / "store.db").write_text("not a database")
    found = list(find_files(tmp_path))
    assert [f.name for f in found] == ["a.jsonl.gz", "two.jsonl", "c.json", "store.db"]
    assert list(find_recordings(tmp_path)) == found
    assert [open_transcript(file).format for file in found[:2]] == ["codex", "pi"]
    with pytest.raises(BadRequest, match=r"c\.json is no recording"):
        open_transcript(found[2])


def test_a_format_can_be_forced(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(packed(NEUTRAL))
    assert open_transcript(path, "pi").format == "pi"


def test_a_summary_before_all_messages_stands_for_what_came_before(tmp_path: Path) -> None:
    summary: JsonObject = {
        "role": "user", "origin": "compact_summary", "parts": [{"type": "text", "text": "So far."}],
    }  # fmt: skip
    path = tmp_path / "it.jsonl"
    path.write_bytes(packed([summary, *NEUTRAL[:3], summary]))
    first, *rest = open_transcript(path).entries
    assert isinstance(first, Message)
    [said] = first.parts
    assert isinstance(said, TextPart)
    assert (said.text, said.source) == (f"{RECORDED_SUMMARY}So far.", "context")
    assert [isinstance(entry, Compacted) for entry in rest].count(True) == 1
    assert isinstance(rest[-1], Compacted)
    ids = [entry.id for entry in (first, *rest) if isinstance(entry, Message)]
    assert len(set(ids)) == len(ids)
