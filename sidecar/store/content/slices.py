"""Logs from the store: whole, from a fold on, in slices."""

import sqlite3
from array import array
from collections.abc import Container, Iterable, Sequence
from functools import partial

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Message, MessageId, Part, PartId, SessionId
from sidecar.store.connection.store_access import StoreRead
from sidecar.store.content import folds, session_rows
from sidecar.store.content.blobs import get_blobs
from sidecar.store.content.folds import ChooseMessages, Window
from sidecar.store.format import rows
from sidecar.store.format.values import Record, Stored

MESSAGES = 64
RECORDS = 256
BYTES = 512 * 1024
"""Of a slice, texts in blobs included; the last message or record may exceed it."""


@dataclass(frozen=True, slots=True)
class MessageSlice:
    """The messages with the first `taken` numbers asked for, oldest first."""

    messages: tuple[Message, ...]
    taken: int
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecordSlice:
    """Oldest first; empty at the end. `revision`, `hash`: of the last row examined."""

    records: tuple[Record, ...]
    revision: int
    hash: str
    problems: tuple[str, ...]


class LogRows:
    """Methods may raise StorageFailed."""

    def __init__(self, read: StoreRead) -> None:
        self._read = read

    async def load(self, session_id: SessionId, kinds: Container[str] | None = None) -> Stored:
        """Reads parts and records of these `kinds` alone, or all. Raises UnknownSession."""
        return await self._read(lambda con: session_rows.load(con, session_id, kinds))

    async def window(
        self, session_id: SessionId, version: str, choose: ChooseMessages
    ) -> Window | None:
        """Returns `None` without a valid fold of `version`.

        `choose` maps the fold's body to the earlier messages needed, or `None`; it runs in a
        thread.
        """
        return await self._read(lambda con: folds.window(con, session_id, version, choose))

    async def counts(self, session_id: SessionId, vocabulary: str) -> bytes:
        """Returns counts of texts as stored, or nothing."""
        return await self._read(lambda con: folds.counts(con, session_id, vocabulary))

    async def numbers(self, session_id: SessionId, until: MessageId | None = None) -> "array[int]":
        """Numbers messages up to one, or all, oldest first; raises UnknownSession."""
        return await self._read(lambda con: numbers(con, session_id, until))

    async def messages(self, session_id: SessionId, wanted: Sequence[int]) -> MessageSlice:
        """By number; raises UnknownSession."""
        return await self._read(lambda con: messages(con, session_id, wanted))

    async def records(
        self, session_id: SessionId, after: int, previous: str, until: int
    ) -> RecordSlice:
        return await self._read(lambda con: records(con, session_id, after, previous, until))

    async def message_of(self, session_id: SessionId, part_id: PartId) -> Message | None:
        """Without parts."""
        return await self._read(lambda con: message_of(con, session_id, part_id))

    async def part(self, session_id: SessionId, part_id: PartId) -> Part | None:
        return await self._read(lambda con: session_rows.part(con, session_id, part_id))

    async def contents(self, names: Iterable[str]) -> dict[str, bytes]:
        """Returns contents by hash; missing ones are left out."""
        return await self._read(partial(get_blobs, names=tuple(names)))


def numbers(
    con: sqlite3.Connection, session_id: SessionId, until: MessageId | None
) -> "array[int]":
    session_rows.session_body(con, session_id)
    found = con.execute(
        # Without the `+`, SQLite may scan the messages of all sessions by number.
        "SELECT number FROM message WHERE session_id = ?1 AND (?2 IS NULL OR +number <= "
        "(SELECT number FROM message WHERE session_id = ?1 AND id = ?2)) ORDER BY number",
        (session_id, until),
    )
    return array("q", (number for (number,) in found))


def messages(con: sqlite3.Connection, session_id: SessionId, wanted: Sequence[int]) -> MessageSlice:
    session_rows.session_body(con, session_id)
    read = _Reader(con)
    found: list[Message] = []
    problems: list[str] = []
    taken = 0
    for number in wanted[:MESSAGES]:
        if read.bytes >= BYTES:
            break
        taken += 1
        header = con.execute(
            "SELECT id, body, hash FROM message WHERE number = ?", (number,)
        ).fetchone()
        if header is None:
            problems.append(f"message {number} of {session_id} is missing")
            continue
        parts = session_rows.part_rows(con, session_id, header[0])
        for *_, body, _ in parts:
            read.count(body)
        found.extend(session_rows.put_together(con, (header,), parts, problems, read))
    return MessageSlice(tuple(found), taken, tuple(problems))


def records(
    con: sqlite3.Connection, session_id: SessionId, after: int, previous: str, until: int
) -> RecordSlice:
    """Returns some records after revision `after`; raises UnknownSession.

    `previous`: the hash of record `after`.
    """
    session_rows.session_body(con, session_id)
    read = _Reader(con)
    decode = partial(rows.decode_record, read=read)
    found: list[Record] = []
    problems: list[str] = []
    for revision, body, expected in con.execute(
        "SELECT revision, body, hash FROM record WHERE session_id = ? AND revision > ? "
        "AND revision <= ? ORDER BY revision LIMIT ?",
        (session_id, after, until, RECORDS),
    ):
        name = f"record {revision} of {session_id}"
        problems.extend(session_rows.damage(name, body, expected, previous))
        read.count(body)
        record = session_rows.readable(name, body, decode, problems)
        if record is not None:
            found.append(record)
        after, previous = revision, expected
        if read.bytes >= BYTES:
            break
    return RecordSlice(tuple(found), after, previous, tuple(problems))


def message_of(con: sqlite3.Connection, session_id: SessionId, part_id: PartId) -> Message | None:
    if not session_rows.storable(part_id):
        return None
    found = con.execute(
        "SELECT message.body FROM part JOIN message ON message.session_id = part.session_id "
        "AND message.id = part.message_id WHERE part.session_id = ? AND part.id = ?",
        (session_id, part_id),
    ).fetchone()
    decode = partial(rows.decode_message, read=session_rows.reader(con))
    return None if found is None else session_rows.readable("message", found[0], decode, [])


class _Reader:
    def __init__(self, con: sqlite3.Connection) -> None:
        self._fetch = session_rows.reader(con)
        self.bytes = 0

    def __call__(self, name: str) -> bytes:
        data = self._fetch(name)
        self.count(data)
        return data

    def count(self, body: object) -> None:
        # A damaged row may hold any type.
        self.bytes += len(body) if isinstance(body, bytes) else 0
