"""Imports Sidecar's own sessions: a store's folder or file, one of it as `STORE/ID`, an export."""

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from sidecar.core.errors import BadRequest, SidecarError
from sidecar.core.parts import (
    Message,
    Part,
    SessionId,
    ToolError,
    ToolPart,
    ToolPending,
    ToolRunning,
)
from sidecar.replay.transcript import Compacted, DamagedLine, Transcript, TranscriptEntry
from sidecar.store.connection import bundle_file, store_files
from sidecar.store.connection.store_faults import FAULTS, storage_failed
from sidecar.store.content import session_rows
from sidecar.store.format.bundles import read_lines
from sidecar.store.format.log_records import OURS
from sidecar.store.format.signatures import SQLITE
from sidecar.store.format.values import Record, SessionRow, Stored

STORE_FILE: Final = store_files.NAME
EXPORT: Final = ".sidecar"
"""Suffix of exported sessions."""

_PAGE: Final = 500
_REWRITE: Final = "rewrite"
"""Kind of records that changed the view of earlier messages."""


def find_store(path: Path) -> tuple[Path, str] | None:
    """Finds a store's file and session id ("": all); raises OSError."""
    if path.is_dir():
        path = path / STORE_FILE
        return (path, "") if path.is_file() and _is_store(path) else None
    for file in (path, *path.parents):
        if file.is_file():
            session = "" if file == path else path.relative_to(file).as_posix()
            return (file, session) if _is_store(file) else None
        if file.exists():
            break
    return None


def stored_sessions(store: Path) -> list[SessionRow]:
    """Oldest first; raises BadRequest."""
    rows: list[SessionRow] = []
    cursor: str | None = None
    try:
        while True:
            before = cursor
            page = store_files.read(store, lambda con: session_rows.page(con, None, before, _PAGE))  # noqa: B023 - called at once
            rows.extend(page.rows)
            cursor = page.next
            if cursor is None:
                return sorted(rows, key=lambda row: (row.created, row.id))
    except (*FAULTS, SidecarError) as error:
        raise _unreadable(store, error) from None


def stored_transcript(store: Path, session: str) -> Transcript:
    """Reads a session, or the only one; raises BadRequest."""
    rows = stored_sessions(store)
    chosen = [row for row in rows if not session or row.id == session]
    if len(chosen) != 1:
        names = ", ".join(row.id for row in rows[:5]) + (", …" if len(rows) > 5 else "")
        why = f"it has {names}; give one as {store}/ID" if rows else "it has no sessions"
        raise BadRequest(f"{store} has no single session {session!r}: {why}", "path")
    row = chosen[0]
    path = str(store / row.id)
    entries = _entries(store, row.id)
    return Transcript(OURS, row.id, entries, path, row.title, row.cwd, row.id)


def is_export(path: Path) -> bool:
    """Whether a file is named as exports are, and begins as one."""
    with suppress(OSError):
        return path.suffix == EXPORT and bundle_file.is_bundle(path)
    return False


def exported_transcript(path: Path) -> Transcript:
    """Raises BadRequest."""
    try:
        found = read_lines(bundle_file.read(path))
    except OSError as error:
        raise BadRequest(f"{path} cannot be read: {error}", "path") from None
    row, entries = found.session, _told(found.messages, found.records)
    return Transcript(OURS, row.id, entries, str(path), row.title, row.cwd, row.id)


def _entries(store: Path, session_id: SessionId) -> Iterator[TranscriptEntry]:
    try:
        stored: Stored = store_files.read(store, lambda con: session_rows.load(con, session_id))
    except (*FAULTS, SidecarError) as error:
        yield DamagedLine(0, str(storage_failed(error)))
        return
    for problem in stored.problems:
        yield DamagedLine(0, problem)
    yield from _told(stored.messages, stored.records)


def _told(messages: Iterable[Message], records: Iterable[Record]) -> Iterator[TranscriptEntry]:
    rewrites = deque(record.at for record in records if record.kind == _REWRITE)
    for message in messages:
        if message.status == "discarded":
            continue
        while rewrites and message.role == "assistant" and rewrites[0] <= message.created:
            yield Compacted(rewrites.popleft())
        yield _ended(message)


def _ended(message: Message) -> Message:
    parts = tuple(_ended_part(part, message) for part in message.parts)
    return replace(
        message, parts=parts, status="cut" if message.status == "open" else message.status
    )


def _ended_part(part: Part, message: Message) -> Part:
    match part:
        case ToolPart(state=ToolPending() | ToolRunning()):
            at = part.state.started if isinstance(part.state, ToolRunning) else message.created
            return replace(part, state=ToolError("no result was recorded", "interrupted", at, at))
        case _:
            return part


def _is_store(file: Path) -> bool:
    with file.open("rb") as opened:
        return opened.read(len(SQLITE)) == SQLITE


def _unreadable(store: Path, error: Exception) -> BadRequest:
    return BadRequest(
        f"{store} cannot be read as a store of Sidecar: {storage_failed(error)}", "path"
    )
