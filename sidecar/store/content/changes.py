"""Store changes in SQL, in the caller's transaction."""

import sqlite3
from collections.abc import Collection, Iterable
from typing import Any, assert_never

from sidecar.core.errors import StorageFailed
from sidecar.core.parts import Message, SessionId, ToolPart
from sidecar.store.content.blobs import put_blob
from sidecar.store.content.fact_rows import put_facts
from sidecar.store.content.folds import put_counts, put_fold
from sidecar.store.content.forks import copy_log
from sidecar.store.content.holders import refer
from sidecar.store.content.outputs import note_output, put_gone
from sidecar.store.content.removal import DELETED, leave, make_way
from sidecar.store.format import rows
from sidecar.store.format.packing import Packed, encode_text, pack
from sidecar.store.format.values import (
    AppendRecord,
    CopyLog,
    DeleteSession,
    PutBlob,
    PutCounts,
    PutFacts,
    PutFold,
    PutGone,
    PutMessage,
    PutPart,
    PutSession,
    Record,
    SessionRow,
    StoreChange,
)


def apply_all(con: sqlite3.Connection, changes: Iterable[StoreChange]) -> None:
    for change in changes:
        apply(con, change)


def apply(con: sqlite3.Connection, change: StoreChange) -> None:
    match change:
        case PutSession(row):
            _put_session(con, row)
        case PutMessage(session_id, message):
            _put_message(con, session_id, message)
        case PutPart():
            _put_part(con, change)
        case AppendRecord(session_id, record):
            _append_record(con, session_id, record)
        case PutBlob(name, data):
            put_blob(con, name, data)
        case PutGone():
            put_gone(con, change)
        case PutFacts(session_id, cwd, facts):
            put_facts(con, session_id, cwd, facts)
        case PutFold():
            put_fold(con, change)
        case PutCounts():
            put_counts(con, change)
        case DeleteSession(session_id):
            leave(con, session_id, DELETED)
        case CopyLog(source, session_id, messages, until, before):
            copy_log(con, source, session_id, messages, until, before)
        case _:
            assert_never(change)


def weight(change: object) -> int:
    """Estimates bytes in memory; what waits of a session shares its row."""
    total = 100
    if isinstance(change, PutSession):
        return total
    pending: list[Any] = [change]
    while pending:
        value = pending.pop()
        # Most values are strings and numbers of JSON.
        kind: type[Any] = type(value)
        if kind is str or kind is bytes:
            total += len(value)
        elif value is None or kind is int or kind is float or kind is bool:
            total += 8
        elif isinstance(value, dict):
            total += sum(map(len, value))
            pending += value.values()
        elif isinstance(value, (list, tuple)):
            pending += value
        elif isinstance(value, (str, bytes)):
            total += len(value)
        else:
            # A dataclass of Sidecar's own; all are slotted.
            pending += [getattr(value, name) for name in getattr(value, "__slots__", ())]
    return total


def _put_session(con: sqlite3.Connection, row: SessionRow) -> None:
    make_way(con, row.id)
    packed = pack(rows.session_fields(row))
    con.execute(
        """INSERT INTO session (id, cwd, updated, body, hash) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET
            cwd = excluded.cwd, updated = excluded.updated, body = excluded.body,
            hash = excluded.hash""",
        (row.id, encode_text(row.cwd), row.updated, packed.body, packed.hash),
    )
    _hold(con, row.id, "session", packed)


def _put_message(con: sqlite3.Connection, session_id: SessionId, message: Message) -> None:
    packed = pack(rows.message_fields(message))
    con.execute(
        """INSERT INTO message (session_id, id, body, hash) VALUES (?, ?, ?, ?)
        ON CONFLICT (session_id, id) DO UPDATE SET body = excluded.body, hash = excluded.hash""",
        (session_id, message.id, packed.body, packed.hash),
    )
    _hold(con, session_id, f"message:{message.id}", packed)


def _put_part(con: sqlite3.Connection, put: PutPart) -> None:
    packed = rows.encode_part(put.part, put.position, spill=put.final)
    con.execute(
        """INSERT INTO part (session_id, id, message_id, position, body, hash)
        VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT (session_id, id) DO UPDATE SET
            message_id = excluded.message_id, position = excluded.position,
            body = excluded.body, hash = excluded.hash""",
        (put.session_id, put.part.id, put.message_id, put.position, packed.body, packed.hash),
    )
    part, more = put.part, rows.blobs_of(put.part)
    if isinstance(part, ToolPart) and more and not note_output(con, put.session_id, part):
        more = set()
    _hold(con, put.session_id, f"part:{part.id}", packed, more)


def _append_record(con: sqlite3.Connection, session_id: SessionId, record: Record) -> None:
    last = con.execute(
        "SELECT revision, hash FROM record WHERE session_id = ? ORDER BY revision DESC LIMIT 1",
        (session_id,),
    ).fetchone()
    if last is not None and record.revision <= last[0]:
        raise StorageFailed(
            f"Not stored: revision {record.revision} of {session_id} follows {last[0]}, so "
            "another process has written the session. Load it again.",
            kind="io",
        )
    packed = pack(rows.record_fields(record), previous="" if last is None else last[1])
    con.execute(
        "INSERT INTO record (session_id, revision, body, hash) VALUES (?, ?, ?, ?)",
        (session_id, record.revision, packed.body, packed.hash),
    )
    _hold(con, session_id, f"record:{record.revision}", packed)


def _hold(
    con: sqlite3.Connection,
    session_id: SessionId,
    holder: str,
    packed: Packed,
    more: Collection[str] = (),
) -> None:
    for name, data in packed.blobs:
        put_blob(con, name, data)
    names = {name for name, _ in packed.blobs}
    refer(con, session_id, holder, names | {*more})
