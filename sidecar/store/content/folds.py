"""Stores a log's state up to a record, so sessions resume quickly, and counts of its texts.

A fold is valid while the hashes of its last record and its body match.
"""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import zstandard

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import MessageId, SessionId
from sidecar.core.text.digest import digest
from sidecar.store.content import session_rows
from sidecar.store.format import rows
from sidecar.store.format.migrations import WITH_COUNTED, version
from sidecar.store.format.values import PutCounts, PutFold, Stored

ChooseMessages: TypeAlias = Callable[[bytes], Sequence[MessageId] | None]
"""Maps a fold's body to the earlier messages needed."""


@dataclass(frozen=True, slots=True)
class Window:
    """A fold's body, with the messages chosen by name or newer than the fold."""

    body: bytes
    stored: Stored


def put_fold(con: sqlite3.Connection, put: PutFold) -> None:
    """Stores a fold, unless the log lacks its record or message."""
    chain = _chain(con, put.session_id, put.revision)
    found = con.execute(
        "SELECT number FROM message WHERE session_id = ? AND id = ?", (put.session_id, put.newest)
    ).fetchone()
    if chain is None or found is None:
        return
    packed = zstandard.compress(put.body)
    con.execute(
        """INSERT OR REPLACE INTO fold (session_id, revision, number, chain, version, body, hash)
        VALUES (?, ?, ?, ?, ?, ?, ?)""",
        (put.session_id, put.revision, found[0], chain, put.version, packed, digest(packed)),
    )


def put_counts(con: sqlite3.Connection, put: PutCounts) -> None:
    """Stores counts, unless the session is gone."""
    if con.execute("SELECT 1 FROM session WHERE id = ?", (put.session_id,)).fetchone() is None:
        return
    con.execute(
        "INSERT OR REPLACE INTO counted (session_id, vocabulary, hash, body) VALUES (?, ?, ?, ?)",
        (put.session_id, put.vocabulary, digest(put.body), put.body),
    )


def counts(con: sqlite3.Connection, session_id: SessionId, vocabulary: str) -> bytes:
    """Reads a session's counts by this vocabulary; empty without undamaged ones."""
    if version(con) < WITH_COUNTED:
        return b""
    found = con.execute(
        "SELECT body, hash FROM counted WHERE session_id = ? AND vocabulary = ?",
        (session_id, vocabulary),
    ).fetchone()
    if found is None or session_rows.damage("", *found):
        return b""
    return bytes(found[0])


def window(
    con: sqlite3.Connection, session_id: SessionId, version: str, choose: ChooseMessages
) -> Window | None:
    """Reads a session from its valid fold; `None` without one.

    Raises UnknownSession, or BodyBroken for the session's row.
    """
    row_body, row_hash = session_rows.session_body(con, session_id)
    found = con.execute(
        "SELECT revision, number, chain, body, hash FROM fold WHERE session_id = ? AND version = ?",
        (session_id, version),
    ).fetchone()
    if found is None:
        return None
    revision, number, chain, packed, expected = found
    if _chain(con, session_id, revision) != chain or session_rows.damage("", packed, expected):
        return None
    try:
        body = zstandard.decompress(packed)
    except zstandard.ZstdError:
        return None
    chosen = choose(body)
    if chosen is None:
        return None
    problems = session_rows.damage("", row_body, row_hash)
    after = con.execute(
        "SELECT number, id FROM message WHERE session_id = ? AND number > ? ORDER BY number",
        (session_id, number),
    ).fetchall()
    names = [*chosen, *(MessageId(name) for _, name in after)]
    headers = list(_headers(con, session_id, names))
    parts = (row for name in names for row in session_rows.part_rows(con, session_id, name))
    messages = session_rows.put_together(con, headers, parts, problems)
    records = session_rows.records_after(con, session_id, revision, chain, problems)
    if problems or len(headers) < len(names):
        # A full load reports the damage.
        return None
    row = rows.decode_session(row_body, session_rows.reader(con))
    return Window(body, Stored(row, messages, records))


def _headers(
    con: sqlite3.Connection, session_id: SessionId, names: Sequence[MessageId]
) -> Iterator[tuple[str, bytes, str]]:
    for name in names:
        yield from con.execute(
            "SELECT id, body, hash FROM message WHERE session_id = ? AND id = ?", (session_id, name)
        )


def _chain(con: sqlite3.Connection, session_id: SessionId, revision: int) -> str | None:
    found = con.execute(
        "SELECT hash FROM record WHERE session_id = ? AND revision = ?", (session_id, revision)
    ).fetchone()
    return None if found is None else str(found[0])
