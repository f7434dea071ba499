"""Notes which rows use a blob, and deletes unused blobs."""

import sqlite3
from collections.abc import Iterable

from sidecar.core.parts import SessionId
from sidecar.store.content.trees import fold_all


def refer(con: sqlite3.Connection, session_id: SessionId, holder: str, now: set[str]) -> None:
    """Sets the blobs of a row (`part:…`, `record:…`, `session`); deletes those now unused."""
    before = referred(con, session_id, holder)
    con.executemany(
        "INSERT INTO reference (session_id, holder, hash) VALUES (?, ?, ?)",
        [(session_id, holder, name) for name in sorted(now - before)],
    )
    if gone := sorted(before - now):
        unrefer(con, session_id, holder, gone)
        drop_unreferenced(con, gone)


def referred(con: sqlite3.Connection, session_id: SessionId, holder: str) -> set[str]:
    query = "SELECT hash FROM reference WHERE session_id = ? AND holder = ?"
    return {name for (name,) in con.execute(query, (session_id, holder))}


def unrefer(
    con: sqlite3.Connection, session_id: SessionId, holder: str, names: Iterable[str]
) -> None:
    """Releases blobs; unused ones stay until `drop_unreferenced`."""
    con.executemany(
        "DELETE FROM reference WHERE session_id = ? AND holder = ? AND hash = ?",
        [(session_id, holder, name) for name in names],
    )


def drop_unreferenced(con: sqlite3.Connection, names: Iterable[str]) -> None:
    names = tuple(names)
    if not names:
        return
    fold_all(con)
    for table in ("blob", "recent"):
        con.executemany(
            f"""DELETE FROM {table} WHERE hash = ?1
            AND NOT EXISTS (SELECT 1 FROM reference WHERE hash = ?1)
            AND NOT EXISTS (SELECT 1 FROM holding WHERE hash = ?1)
            AND NOT EXISTS (SELECT 1 FROM restore_blob WHERE hash = ?1)""",
            [(name,) for name in names],
        )
