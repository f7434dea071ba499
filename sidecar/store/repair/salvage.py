"""Reads what a damaged store still holds."""

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from dataclasses import field, replace
from functools import partial
from typing import TypeAlias, TypeVar

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import (
    Json,
    Message,
    MessageId,
    Millis,
    Part,
    PartId,
    PatchPart,
    SessionId,
    ToolCompleted,
    ToolError,
    ToolPart,
)
from sidecar.store.content.blobs import get_blob
from sidecar.store.content.outputs import gone_by_hash
from sidecar.store.content.session_rows import damage, reader
from sidecar.store.format import rows
from sidecar.store.format.fields import BodyBroken
from sidecar.store.format.packing import TAG, ReadBlob, decode_text
from sidecar.store.format.pages import (
    INDEX_INTERIOR,
    INDEX_LEAF,
    TABLE_LEAF,
    Pages,
    Row,
    orphans,
    tables,
)
from sidecar.store.format.pages import rows as table_rows
from sidecar.store.format.values import Record, SessionRow

FoundRows: TypeAlias = dict[str, list[Row]]
"""Rows by table."""
T = TypeVar("T")

BY_CWD = "session_by_cwd"
BY_ID = "sqlite_autoindex_message_1"
"""Indexes that list sessions and messages of lost rows."""
SHAPED = ("session", "message", "part", "record", "fact", "blob")
RECENT = "recent"
"""The table of the newest blobs."""
SKIPPED = ("counted", "fact_text", "fold", "lease", "migration", "reference")
"""Tables made anew, or beginnings of their names."""


@dataclass(slots=True)
class Log:
    """The readable part of a session's log."""

    row: SessionRow | None = None
    cwd: str = ""
    updated: Millis = 0
    """From an index, on other pages than the row."""
    messages: dict[MessageId, Message] = field(default_factory=dict)
    parts: dict[PartId, tuple[MessageId, int, Part]] = field(default_factory=dict)
    records: dict[int, Record] = field(default_factory=dict)
    indexed: set[MessageId] = field(default_factory=set)
    """Messages listed in an index."""
    notes: list[str] = field(default_factory=list)
    """Unreadable or changed rows."""


@dataclass(slots=True)
class SalvagedRows:
    """Rows found, and damage seen."""

    rows: FoundRows = field(default_factory=dict)
    damaged: dict[str, int] = field(default_factory=dict)
    """Unreadable pages by table."""
    broken_blobs: int = 0


def collect(pages: Pages, con: sqlite3.Connection) -> SalvagedRows:
    """Reads all rows, those of orphaned pages last; blobs go to `con`."""
    made = SalvagedRows()
    roots = tables(pages)
    if pages.damaged or not roots:
        made.damaged["schema"] = max(1, len(pages.damaged))
    for found, root in roots.items():
        name = "blob" if found == RECENT else found
        index = "_by_" in name or "autoindex" in name
        if name.startswith(SKIPPED) or (index and name not in (BY_CWD, BY_ID)):
            continue
        before, strange = len(pages.damaged), False
        known: set[Row] = set()
        for kind, row in table_rows(pages, root):
            # A wrong page may stand here, of the same table or of another.
            shape = table_of(kind, row) if name in SHAPED else name
            strange = strange or shape != name or (name in SHAPED and row[:2] in known)
            known.add(row[:2])
            if shape == "blob":
                made.broken_blobs += not put_whole(con, row)
            else:
                made.rows.setdefault(shape or name, []).append(row)
        if (wrong := len(pages.damaged) - before + strange) and not index:
            made.damaged[name] = made.damaged.get(name, 0) + wrong
    for kind, row in orphans(pages):
        name = table_of(kind, row)
        if name:
            # In a sound file some tree leads to every page with rows.
            made.damaged.setdefault(name, 1)
        if name == "blob":
            put_whole(con, row)
        elif name:
            made.rows.setdefault(name, []).append(row)
    return made


def table_of(kind: int, row: Row) -> str:
    unnumbered = kind in (INDEX_LEAF, INDEX_INTERIOR)
    match row:
        case (str(), bytes(), int(), bytes(body), str()) if body.startswith(TAG):
            return "session"
        case (int(), str(), str(), bytes(body), str()) if body.startswith(TAG):
            return "message"
        case (str(), str(), str(), int(), bytes(body), str()) if unnumbered:
            return "part" if body.startswith(TAG) else ""
        case (str(), int(), bytes(body), str()) if unnumbered and body.startswith(TAG):
            return "record"
        case (str(), int(), str(), bytes()) if kind == TABLE_LEAF:
            return "blob"
        case (int(), str(), str(), bytes(), str(), str(), int(), str(), str(), bytes(), str()):
            return "fact"
        case _:
            pass
    return ""


def put_whole(con: sqlite3.Connection, row: Row) -> bool:
    match row:
        case (str(name), int(), str(), bytes()):
            con.execute("SAVEPOINT blob")
            con.execute("INSERT OR IGNORE INTO blob VALUES (?, ?, ?, ?)", row)
            try:
                get_blob(con, name)
            except BodyBroken:
                con.execute("ROLLBACK TO blob")
                return False
            finally:
                con.execute("RELEASE blob")
            return True
        case _:
            pass
    return False


def logs(con: sqlite3.Connection, found: FoundRows) -> dict[SessionId, Log]:
    made: dict[SessionId, Log] = {}
    read = reader(con)

    def of(name: str) -> Log:
        return made.setdefault(SessionId(name), Log())

    _take_sessions(found, read, of)
    for row in sorted(found.get("message", ()), key=_number):
        match row:
            case (int(), str(name), str(message_id), bytes(body), str(hash_)):
                told = f"message {message_id}"
                decode = partial(rows.decode_message, read=read)
                message = _decoded(of(name), told, decode, (body, hash_, ""))
                if message is not None:
                    of(name).messages.setdefault(message.id, message)
            case _:
                pass
    for row in found.get("part", ()):
        match row:
            case (str(name), str(part_id), str(message_id), int(at), bytes(body), str(hash_)):
                decode_part = partial(rows.decode_part, read=read)
                told = f"part {part_id} of message {message_id}"
                part = _decoded(of(name), told, decode_part, (body, hash_, str(at)))
                if part is not None:
                    kept = _with_known_output(con, of(name), told, part)
                    of(name).parts.setdefault(part.id, (MessageId(message_id), at, kept))
            case _:
                pass
    _take_records(con, found, of)
    return made


def _take_sessions(found: FoundRows, read: ReadBlob, of: Callable[[str], Log]) -> None:
    for row in found.get("session", ()):
        match row:
            case (str(name), bytes(), int(), bytes(body), str(hash_)):
                _take_session(of(name), partial(rows.decode_session, read=read), body, hash_)
            case _:
                pass
    for row in found.get(BY_CWD, ()):
        match row:
            case (bytes(cwd), int(updated), str(name), int()):
                with suppress(BodyBroken):
                    of(name).cwd, of(name).updated = decode_text(cwd), updated
            case _:
                pass
    for row in found.get(BY_ID, ()):
        match row:
            case (str(name), str(message_id), int()):
                of(name).indexed.add(MessageId(message_id))
            case _:
                pass


def _take_session(log: Log, decode: Callable[[bytes], SessionRow], body: bytes, hash_: str) -> None:
    row = _decoded(log, "its own entry", decode, (body, hash_, ""))
    # A free page may hold an older version.
    if row is not None and (log.row is None or row.revision > log.row.revision):
        log.row = row


def _take_records(con: sqlite3.Connection, found: FoundRows, of: Callable[[str], Log]) -> None:
    # Chained hashes show gaps.
    decode = partial(rows.decode_record, read=reader(con))
    stored: dict[tuple[str, int], tuple[bytes, str]] = {}
    for row in found.get("record", ()):
        match row:
            case (str(name), int(revision), bytes(body), str(hash_)):
                stored.setdefault((name, revision), (body, hash_))
            case _:
                pass
    previous = ("", "")
    for (name, revision), (body, hash_) in sorted(stored.items()):
        log, told = of(name), f"record {revision}"
        before = previous[1] if previous[0] == name else ""
        previous = (name, hash_)
        if damage(told, body, hash_, before):
            log.notes.append(f"its log has a gap before revision {revision}, or damage there")
        try:
            record = decode(body)
        except BodyBroken as error:
            log.notes.append(f"{told} is lost: {error}")
        else:
            log.records[revision] = record


def _decoded(
    log: Log, told: str, decode: Callable[[bytes], T], stored: tuple[bytes, str, str]
) -> T | None:
    """Decodes `stored` (body, hash, previous hash); notes losses."""
    body, hash_, previous = stored
    try:
        value = decode(body)
    except BodyBroken as error:
        log.notes.append(f"{told} is lost: {error}")
        return None
    if damage(told, body, hash_, previous):
        log.notes.append(f"{told} is not as it was written, and kept as it is now")
    return value


def _with_known_output(con: sqlite3.Connection, log: Log, told: str, part: Part) -> Part:
    # The model saw only the part's own text, and that stays.
    name = rows.whole_output(part)
    known = "SELECT 1 FROM blob WHERE hash = ?"
    if isinstance(part, PatchPart) and (kept := rows.blobs_of(part)):
        there: list[Json] = [o for o in sorted(kept) if con.execute(known, (o,)).fetchone()]
        if len(there) < len(kept):
            log.notes.append(f"{told}: contents of files that it kept are lost")
        return replace(part, detail={**part.detail, rows.KEPT: there})
    if name is None or con.execute(known, (name,)).fetchone() is not None:
        return part
    if gone_by_hash(con, name) is not None:
        return part
    log.notes.append(f"{told}: its complete output is lost; what the model saw of it is kept")
    match part:
        case ToolPart(state=ToolCompleted() | ToolError() as state) if state.output is not None:
            output = replace(state.output, whole=None)
            return replace(part, state=replace(state, output=output))
        case _:
            pass
    return part


def _number(row: Row) -> int:
    return row[0] if row and isinstance(row[0], int) else 0
