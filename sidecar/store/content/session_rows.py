"""Sessions in SQL; damaged rows are reported."""

import sqlite3
from collections.abc import Callable, Container, Iterable
from functools import partial
from typing import TypeVar

from sidecar.core.errors import BadRequest, UnknownSession
from sidecar.core.parts import Message, Part, PartId, SessionId
from sidecar.core.text.digest import digest
from sidecar.store.connection.store_access import StoreRead
from sidecar.store.content.blobs import get_blob
from sidecar.store.format import rows
from sidecar.store.format.fields import BodyBroken
from sidecar.store.format.packing import ReadBlob, encode_text, kind_of
from sidecar.store.format.values import Page, Record, SessionRow, Stored

T = TypeVar("T")


class SessionRows:
    """Methods may raise StorageFailed."""

    def __init__(self, read: StoreRead) -> None:
        self._read = read

    async def row(self, session_id: SessionId) -> SessionRow:
        """Raises UnknownSession."""
        return await self._read(lambda con: row(con, session_id))

    async def page(self, *, cwd: str | None, before: str | None, limit: int) -> Page:
        """Lists sessions of one folder or all, newest first.

        `before`: the previous page's `next`; raises BadRequest for other values.
        """
        return await self._read(lambda con: page(con, cwd, before, limit))

    async def named(self, start: str, most: int) -> tuple[SessionRow, ...]:
        return await self._read(lambda con: named(con, start, most))


def load(
    con: sqlite3.Connection, session_id: SessionId, kinds: Container[str] | None = None
) -> Stored:
    """Reads parts and records of these `kinds` alone, or all.

    Raises UnknownSession, or BodyBroken for the session's own row.
    """
    body, expected = session_body(con, session_id)
    row = rows.decode_session(body, reader(con))
    problems = damage(f"session {session_id}", body, expected)
    messages = _messages(con, session_id, problems, kinds)
    records = records_after(con, session_id, 0, "", problems, kinds)
    return Stored(row, messages, records, tuple(problems))


def row(con: sqlite3.Connection, session_id: SessionId) -> SessionRow:
    """Raises UnknownSession or BodyBroken."""
    body, _ = session_body(con, session_id)
    return rows.decode_session(body, reader(con))


def page(con: sqlite3.Connection, cwd: str | None, before: str | None, limit: int) -> Page:
    where, values = ["1"], list[object]()
    if cwd is not None:
        where.append("cwd = ?")
        values.append(encode_text(cwd))
    if gone := leaving(con):
        where.append(f"id NOT IN ({', '.join('?' * len(gone))})")
        values.extend(gone)
    if before is not None:
        where.append("(updated, id) < (?, ?)")
        values.extend(_cursor(before))
    found = con.execute(
        f"SELECT updated, id, body FROM session WHERE {' AND '.join(where)} "
        "ORDER BY updated DESC, id DESC LIMIT ?",
        (*values, limit + 1),
    ).fetchall()
    decode = partial(rows.decode_session, read=reader(con))
    sessions = [readable("session", body, decode, []) for _, _, body in found[:limit]]
    cursor = None
    if len(found) > limit > 0:
        updated, session_id, _ = found[limit - 1]
        cursor = f"{updated}.{session_id}"
    return Page(tuple(row for row in sessions if row is not None), cursor)


def named(con: sqlite3.Connection, start: str, most: int) -> tuple[SessionRow, ...]:
    """Returns undamaged sessions whose id begins with `start`, newest first."""
    if not storable(start):
        return ()
    found = con.execute(
        "SELECT body FROM session WHERE substr(id, 1, ?) = ? ORDER BY updated DESC, id DESC "
        "LIMIT ?",
        (len(start), start, most),
    ).fetchall()
    decode = partial(rows.decode_session, read=reader(con))
    sessions = [readable("session", body, decode, []) for (body,) in found]
    return tuple(row for row in sessions if row is not None)


def leaving(con: sqlite3.Connection) -> frozenset[str]:
    # An older store without this table may be open for reading.
    if con.execute("SELECT 1 FROM sqlite_master WHERE name = 'erasing'").fetchone() is None:
        return frozenset()
    return frozenset(name for (name,) in con.execute("SELECT session_id FROM erasing"))


def part(con: sqlite3.Connection, session_id: SessionId, part_id: PartId) -> Part | None:
    """Raises BodyBroken."""
    if not (storable(session_id) and storable(part_id)):
        return None
    found = con.execute(
        "SELECT body FROM part WHERE session_id = ? AND id = ?", (session_id, part_id)
    ).fetchone()
    return None if found is None else rows.decode_part(found[0], reader(con))


def blob(con: sqlite3.Connection, name: str) -> bytes | None:
    """Raises BodyBroken."""
    return get_blob(con, name) if storable(name) else None


def reader(con: sqlite3.Connection) -> ReadBlob:
    def read(name: str) -> bytes:
        data = get_blob(con, name)
        if data is None:
            raise BodyBroken(f"blob {name:.80} is missing")
        return data

    return read


def session_body(con: sqlite3.Connection, session_id: SessionId) -> tuple[bytes, str]:
    """Raises UnknownSession."""
    found: tuple[bytes, str] | None = None
    if storable(session_id) and session_id not in leaving(con):
        found = con.execute("SELECT body, hash FROM session WHERE id = ?", (session_id,)).fetchone()
    if found is None:
        raise unknown(session_id)
    return found


def unknown(session_id: str) -> UnknownSession:
    return UnknownSession(
        f"There is no session {session_id!r}. `session/list` names those there are."
    )


def _messages(
    con: sqlite3.Connection,
    session_id: SessionId,
    problems: list[str],
    kinds: Container[str] | None,
) -> tuple[Message, ...]:
    rows_of_parts = con.execute(
        "SELECT id, message_id, position, body, hash FROM part WHERE session_id = ? "
        "ORDER BY position, id",
        (session_id,),
    )
    found = (row for row in rows_of_parts if _is_wanted(row[3], kinds))
    headers = con.execute(
        "SELECT id, body, hash FROM message WHERE session_id = ? ORDER BY number", (session_id,)
    )
    return put_together(con, headers, found, problems)


def part_rows(
    con: sqlite3.Connection, session_id: SessionId, message_id: str
) -> list[tuple[str, str, int, bytes, str]]:
    """Returns one message's parts as (id, message, position, body, hash)."""
    return con.execute(
        # Without INDEXED BY, SQLite scans all parts of the session for each message.
        "SELECT id, message_id, position, body, hash FROM part INDEXED BY part_by_message "
        "WHERE session_id = ? AND message_id = ? ORDER BY position, id",
        (session_id, message_id),
    ).fetchall()


def put_together(
    con: sqlite3.Connection,
    headers: Iterable[tuple[str, bytes, str]],
    found: Iterable[tuple[str, str, int, bytes, str]],
    problems: list[str],
    read: ReadBlob | None = None,
) -> tuple[Message, ...]:
    """Builds messages of rows (id, body, hash) and part rows as `part_rows` has them."""
    read = read or reader(con)
    parts: dict[str, list[Part]] = {}
    for part_id, message_id, position, body, expected in found:
        name = f"part {part_id} of message {message_id}"
        problems.extend(damage(name, body, expected, str(position)))
        one = readable(name, body, partial(rows.decode_part, read=read), problems)
        if one is not None:
            parts.setdefault(message_id, []).append(one)
    messages: list[Message] = []
    for message_id, body, expected in headers:
        name = f"message {message_id}"
        problems.extend(damage(name, body, expected))
        decode = partial(rows.decode_message, read=read, parts=tuple(parts.get(message_id, ())))
        message = readable(name, body, decode, problems)
        if message is not None:
            messages.append(message)
    return tuple(messages)


def records_after(
    con: sqlite3.Connection,
    session_id: SessionId,
    after: int,
    previous: str,
    problems: list[str],
    kinds: Container[str] | None = None,
) -> tuple[Record, ...]:
    """Returns the records after revision `after`, whose hash is `previous`."""
    decode = partial(rows.decode_record, read=reader(con))
    records: list[Record] = []
    for revision, body, expected in con.execute(
        "SELECT revision, body, hash FROM record WHERE session_id = ? AND revision > ? "
        "ORDER BY revision",
        (session_id, after),
    ):
        name = f"record {revision} of {session_id}"
        problems.extend(damage(name, body, expected, previous))
        previous = expected
        if not _is_wanted(body, kinds):
            continue
        record = readable(name, body, decode, problems)
        if record is not None:
            records.append(record)
    return tuple(records)


def _is_wanted(body: object, kinds: Container[str] | None) -> bool:
    return kinds is None or not (kind := kind_of(body)) or kind in kinds


def damage(name: str, body: bytes, expected: str, previous: str = "") -> list[str]:
    """Describes a body with another hash than stored."""
    # A damaged row may hold a value of any type, and the next hash is chained to the damaged one.
    chained = isinstance(previous, str) and previous.isascii()
    if chained and isinstance(body, bytes) and digest(body, previous) == expected:
        return []
    return [f"{name} is damaged: its hash is not the one that was stored with it"]


def readable(name: str, body: bytes, decode: Callable[[bytes], T], problems: list[str]) -> T | None:
    """Returns `None` if broken, with the reason added to `problems`."""
    try:
        return decode(body)
    except BodyBroken as error:
        problems.append(f"{name} is left out: {error}")
        return None


def _cursor(text: str) -> tuple[int, str]:
    updated, _, session_id = text.partition(".")
    number = updated.isdecimal() and updated.isascii() and len(updated) < 19
    if not (number and session_id and storable(session_id)):
        raise BadRequest(
            "This cursor is not one that `session/list` gave. Leave it out to start anew.",
            path="params.cursor",
        )
    return int(updated), session_id


def storable(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
