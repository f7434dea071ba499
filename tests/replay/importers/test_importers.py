"""A recording's format is found by what the file holds, whatever it is called."""

import gzip
import json
from pathlib import Path

import pytest

from sidecar.core.errors import BadRequest
from sidecar.core.parts import JsonObject, Message
from sidecar.replay.importers import (
    find_files,
    find_recordings,
    importers,
    open_transcript,
    open_transcripts,
)
from sidecar.replay.transcript import Damaged

AT = "2026-01-08T14:41:01Z"
BLOCKS = [{"type": "text", "text": "hello"}]
CLAUDE = {
    "type": "user",
    "uuid": "u",
    "sessionId": "s1",
    "cwd": "/d",
    "timestamp": AT,
    "message": {"role": "user", "content": "hello"},
}
CODEX = [
    {"type": "session_meta", "timestamp": AT, "payload": {"id": "s1", "cwd": "/d"}},
    {
        "type": "response_item",
        "timestamp": AT,
        "payload": {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "hello"}],
        },
    },
]
PI = [
    {"type": "session", "id": "s1", "cwd": "/d", "timestamp": AT},
    {"type": "message", "timestamp": AT, "message": {"role": "user", "content": BLOCKS}},
]
OPENCODE = {
    "info": {"id": "s1", "title": "A title", "directory": "/d"},
    "messages": [{"info": {"role": "user", "sessionID": "s1"}, "parts": BLOCKS}],
}
NEUTRAL = {"role": "user", "origin": "human", "parts": BLOCKS, "usage": None, "ts": AT}
FORMATS: dict[str, list[JsonObject]] = {
    "claude-code": [{"type": "summary", "summary": "A title"}, CLAUDE],  # type: ignore[list-item]
    "codex": CODEX,  # type: ignore[dict-item]
    "neutral": [NEUTRAL],  # type: ignore[list-item]
    "opencode": [OPENCODE],  # type: ignore[list-item]
    "pi": PI,  # type: ignore[dict-item]
}


def packed(lines: list[JsonObject]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def texts(path: Path) -> list[object]:
    entries = open_transcript(path).entries
    return [
        [getattr(part, "text", part) for part in entry.parts]
        if isinstance(entry, Message)
        else entry
        for entry in entries
    ]


def test_every_importer_has_its_example_here() -> None:
    assert sorted(FORMATS) == sorted(importer.FORMAT for importer in importers())


@pytest.mark.parametrize("name", FORMATS)
def test_each_example_is_recognised_by_its_importer_alone(name: str) -> None:
    assert [i.FORMAT for i in importers() if i.recognises(FORMATS[name])] == [name]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("zipped", [False, True])
def test_a_format_is_found_by_content(tmp_path: Path, name: str, zipped: bool) -> None:
    path = tmp_path / "session.txt"
    data = packed(FORMATS[name])
    path.write_bytes(gzip.compress(data) if zipped else data)
    transcript = open_transcript(path)
    assert (transcript.format, transcript.path) == (name, str(path))
    assert texts(path) == [["hello"]]
    if name != "neutral":
        assert (transcript.cwd, transcript.session) == ("/d", "s1")
    if name in ("claude-code", "opencode"):
        assert transcript.title == "A title"


def test_a_document_over_many_lines_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    path.write_text(json.dumps(OPENCODE, indent=2))
    assert open_transcript(path).format == "opencode"
    assert texts(path) == [["hello"]]
    path.write_text(json.dumps(OPENCODE["messages"], indent=2))
    assert texts(path) == [["hello"]]


def test_damaged_lines_stand_among_the_messages(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    good = packed([NEUTRAL])  # type: ignore[list-item]
    path.write_bytes(b"{\n" + good + b"\xff\n" + good + good[:20])
    entries = list(open_transcript(path).entries)
    assert [e.line if isinstance(e, Damaged) else "message" for e in entries] == [
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
    with pytest.raises(BadRequest):
        list(open_transcripts(path))


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "none", tmp_path / "none" / "deeper", tmp_path):
        with pytest.raises(BadRequest, match="cannot be read"):
            open_transcript(path)


def test_a_folder_gives_its_recordings_in_order_and_says_what_is_none(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "two.jsonl").write_bytes(packed(FORMATS["pi"]))
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(packed(FORMATS["codex"])))
    (tmp_path / "c.json").write_text("{}")
    (tmp_path / "notes.md").write_text("not tried")
    (tmp_path / "store.db").write_text("not a database")
    found = list(find_files(tmp_path))
    assert [f.name for f in found] == ["a.jsonl.gz", "two.jsonl", "c.json", "store.db"]
    assert list(find_recordings(tmp_path)) == found
    transcripts = list(open_transcripts(tmp_path))
    assert [t.format for t in transcripts] == ["codex", "pi", "unknown", "unknown"]
    (why,) = transcripts[2].entries
    assert isinstance(why, Damaged)
    assert "c.json is no recording" in why.why


def test_a_format_can_be_forced(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(packed([{"role": "user", "parts": BLOCKS, "origin": "human"}]))  # type: ignore[dict-item]
    assert open_transcript(path, "pi").format == "pi"
