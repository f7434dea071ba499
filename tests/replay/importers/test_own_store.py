"""Sessions of our own stores are recordings too, whole or damaged."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from sidecar.core.errors import BadRequest
from sidecar.core.parts import (
    Message,
    MessageId,
    Part,
    PartId,
    SessionId,
    TextPart,
    ToolError,
    ToolPart,
    ToolPending,
    ToolRunning,
    TurnId,
)
from sidecar.replay.importers.recognition import find_recordings, open_transcript
from sidecar.replay.transcript import Compacted, DamagedLine
from sidecar.store.format.values import (
    AppendRecord,
    PutMessage,
    PutPart,
    PutSession,
    Record,
    SessionRow,
    StoreChange,
)
from sidecar.store.journal import Store

NOW = 1_800_000_000_000


def row(name: str, at: int) -> SessionRow:
    return SessionRow(SessionId(name), "/home/dev/app", "A title", at, at, 1, 0, 1, None, {})


def said(name: str, *parts: Part, role: str = "user", at: int = NOW) -> Message:
    return Message(MessageId(name), TurnId("t"), role, parts, at)  # type: ignore[arg-type]


def changes(session: SessionRow, *messages: Message) -> list[StoreChange]:
    found: list[StoreChange] = [PutSession(session)]
    for message in messages:
        found.append(PutMessage(session.id, replace(message, parts=())))
        found.extend(
            PutPart(session.id, message.id, position, part)
            for position, part in enumerate(message.parts)
        )
    return found


async def fill(folder: Path, *given: StoreChange) -> Path:
    store = Store.open(folder, now=lambda: NOW)
    await store.write(*given)
    await store.close()
    return folder / "store.db"


def text(name: str, content: str) -> TextPart:
    return TextPart(PartId(name), content, "typed")


async def test_gives_messages_as_they_are_stored_and_ends_what_was_running(tmp_path: Path) -> None:
    asked = said("m1", text("p1", "do it"))
    running = ToolPart(PartId("p2"), "c1", "shell", {}, ToolRunning(NOW + 3))
    pending = ToolPart(PartId("p3"), "c2", "shell", None, ToolPending())
    answer = said("m2", running, pending, role="assistant", at=NOW + 2)
    withdrawn = replace(said("m3", text("p4", "no")), status="discarded")
    answered = said("m4", text("p5", "yes"), role="assistant", at=NOW + 9)
    session = row("ses_1", NOW)
    rewrite = AppendRecord(session.id, Record(2, "rewrite", NOW + 5, {}))
    messages = (asked, replace(answer, status="open"), withdrawn, answered)
    path = await fill(tmp_path, *changes(session, *messages), rewrite)
    for place in (tmp_path, path, path / "ses_1"):
        transcript = open_transcript(place)
        assert (transcript.format, transcript.name) == ("sidecar", "ses_1")
        assert (transcript.title, transcript.cwd) == ("A title", "/home/dev/app")
        first, second, third, fourth = transcript.entries
        assert (first, third, fourth) == (asked, Compacted(NOW + 5), answered)
        assert isinstance(second, Message)
        assert second.status == "cut"
        states = [part.state for part in second.parts if isinstance(part, ToolPart)]
        why = "no result was recorded"
        assert states == [
            ToolError(why, "interrupted", NOW + 3, NOW + 3),
            ToolError(why, "interrupted", NOW + 2, NOW + 2),
        ]


async def test_each_session_of_a_store_has_a_path(tmp_path: Path) -> None:
    given = [c for i in range(3) for c in changes(row(f"ses_{3 - i}", NOW + i), said(f"m{i}"))]
    path = await fill(tmp_path / "a", *given)
    found = list(find_recordings(tmp_path))
    assert found == [path / "ses_3", path / "ses_2", path / "ses_1"]
    assert list(find_recordings(path)) == found
    opened = [open_transcript(one) for one in found]
    assert [t.path for t in opened] == [str(one) for one in found]
    assert [t.session for t in opened] == ["ses_3", "ses_2", "ses_1"]
    with pytest.raises(BadRequest, match="give one as"):
        open_transcript(path)
    with pytest.raises(BadRequest, match="no single session 'ses_9'"):
        open_transcript(path / "ses_9")


async def test_a_store_without_sessions_says_so(tmp_path: Path) -> None:
    path = await fill(tmp_path)
    assert list(find_recordings(path)) == [path]
    with pytest.raises(BadRequest, match="it has no sessions"):
        open_transcript(path)


async def test_what_is_damaged_in_a_store_is_told_of(tmp_path: Path) -> None:
    session = row("ses_1", NOW)
    path = await fill(tmp_path, *changes(session, said("m1", text("p1", "a"), text("p2", "b"))))
    transcript = open_transcript(path / "ses_1")
    with closing(sqlite3.connect(path)) as con, con:
        con.execute("UPDATE part SET body = x'00' WHERE id = 'p1'")
    entries = list(transcript.entries)
    assert [entry.line for entry in entries if isinstance(entry, DamagedLine)] == [0, 0]
    assert entries[-1] == said("m1", text("p2", "b"))


async def test_a_session_that_is_gone_when_it_is_read_is_told_of(tmp_path: Path) -> None:
    path = await fill(tmp_path, *changes(row("ses_1", NOW)))
    transcript = open_transcript(path / "ses_1")
    with closing(sqlite3.connect(path)) as con, con:
        con.execute("DELETE FROM session")
    (entry,) = transcript.entries
    assert isinstance(entry, DamagedLine)
    assert "no session 'ses_1'" in entry.why


@pytest.mark.parametrize("name", ["other.db", "store.db"])
def test_another_program_s_database_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with closing(sqlite3.connect(path)) as con, con:
        con.execute("CREATE TABLE session (id TEXT)")
    with pytest.raises(BadRequest, match="cannot be read as a store of Sidecar"):
        open_transcript(path)


def test_a_damaged_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    with pytest.raises(BadRequest, match="cannot be read as a store of Sidecar"):
        open_transcript(path)
