"""Removes sessions in slices: turns wait for one at most."""

import sqlite3
import time

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Millis, SessionId
from sidecar.store.connection.store_access import SLICE_SECONDS
from sidecar.store.connection.store_files import overwriting
from sidecar.store.content import chains
from sidecar.store.content.fact_rows import drop_facts, forget_words
from sidecar.store.content.holders import drop_unreferenced, referred
from sidecar.store.content.outputs import sizes
from sidecar.store.content.session_rows import leaving

BODIES = ("session", "message", "part", "record")
DELETED: Millis = 0
"""For a deleted session, in place of a time."""
ROWS_AT_ONCE = 16
"""Rows between looks at the clock."""


@dataclass(frozen=True, slots=True)
class RemovedRows:
    """The bytes removed; `done`: no row is left."""

    size: int
    done: bool


def leave(con: sqlite3.Connection, session_id: SessionId, at: Millis) -> RemovedRows:
    """Hides a session; `at`: the time of archiving, or `DELETED`.

    Its facts go at once, except those an archived session shares.
    """
    found = con.execute("SELECT cwd FROM session WHERE id = ?", (session_id,)).fetchone()
    if found is None:
        return RemovedRows(drop_facts(con, session_id), done=True)
    if session_id in leaving(con):
        return RemovedRows(0, done=False)
    with overwriting(con):
        con.execute("INSERT INTO erasing (session_id, at) VALUES (?, ?)", (session_id, at))
        con.execute("DELETE FROM lease WHERE session_id = ?", (session_id,))
        size = drop_facts(con, session_id, shared=at == DELETED)
        if size:
            forget_words(con)
        if at == DELETED:
            _leave_folder(con, found[0])
    first = remove_some(con, session_id)
    return RemovedRows(size + first.size, first.done)


def remove_some(
    con: sqlite3.Connection, session_id: SessionId, seconds: float = SLICE_SECONDS
) -> RemovedRows:
    if session_id not in leaving(con):
        return RemovedRows(0, done=True)
    end = time.monotonic() + seconds
    size, done = 0, False
    with overwriting(con):
        while not done:
            freed = _remove(con, session_id)
            size, done = size + (freed or 0), freed is None
            if time.monotonic() >= end:
                break
    return RemovedRows(size, done)


def make_way(con: sqlite3.Connection, session_id: SessionId) -> None:
    """Finishes a removal, to free the id."""
    found = con.execute("SELECT 1 FROM erasing WHERE session_id = ?", (session_id,)).fetchone()
    if found is not None:
        while not remove_some(con, session_id).done:
            continue
        finish(con, session_id)


def _remove(con: sqlite3.Connection, session_id: SessionId) -> int | None:
    for table, key in (("part", "id"), ("record", "revision"), ("message", "id")):
        found = con.execute(
            f"SELECT {key}, length(body) FROM {table} WHERE session_id = ? LIMIT ?",
            (session_id, ROWS_AT_ONCE),
        ).fetchall()
        if found:
            keys = [(session_id, one) for one, _ in found]
            freed = _let_go(con, session_id, [f"{table}:{one}" for _, one in keys])
            con.executemany(f"DELETE FROM {table} WHERE session_id = ? AND {key} = ?", keys)
            if table == "part":
                con.executemany("DELETE FROM output WHERE session_id = ? AND part_id = ?", keys)
            return freed + sum(int(size) for _, size in found)
    swept = _sweep_unreachable(con, session_id)
    if swept is not None:
        return swept
    query = "SELECT length(body) FROM session WHERE id = ?"
    found = con.execute(query, (session_id,)).fetchall()
    holders = con.execute("SELECT holder FROM reference WHERE session_id = ?", (session_id,))
    freed = _let_go(con, session_id, [holder for (holder,) in holders.fetchall()])
    for table in ("output", "fold", "counted", "lease"):
        con.execute(f"DELETE FROM {table} WHERE session_id = ?", (session_id,))
    con.execute("DELETE FROM session WHERE id = ?", (session_id,))
    con.execute("DELETE FROM erasing WHERE session_id = ? AND at != ?", (session_id, DELETED))
    return freed + found[0][0] if found else None


def _let_go(con: sqlite3.Connection, session_id: SessionId, holders: list[str]) -> int:
    names: set[str] = set()
    for holder in holders:
        names |= referred(con, session_id, holder)
        con.execute(
            "DELETE FROM reference WHERE session_id = ? AND holder = ?", (session_id, holder)
        )
    before = sizes(con, names)
    drop_unreferenced(con, names)
    return before - sizes(con, names)


def rows_size(con: sqlite3.Connection, session_id: SessionId) -> int:
    total = 0
    for table in BODIES:
        column = "id" if table == "session" else "session_id"
        query = f"SELECT total(length(body)) FROM {table} WHERE {column} = ?"
        total += int(con.execute(query, (session_id,)).fetchone()[0])
    return total


def _leave_folder(con: sqlite3.Connection, cwd: bytes) -> None:
    # Without a session to go back, the folder's chain begins anew. Processes with the chain open
    # notice, as after damage, and read the files again.
    others = con.execute("SELECT id FROM session WHERE cwd = ?", (cwd,)).fetchall()
    known = con.execute("SELECT id FROM workspace WHERE root = ?", (cwd,)).fetchone()
    if known is None or {name for (name,) in others} - leaving(con):
        return
    query = "SELECT ifnull(max(at), 0) FROM snapshot WHERE workspace_id = ?"
    chains.begin(con, cwd, con.execute(query, known).fetchone()[0])


def _sweep_unreachable(con: sqlite3.Connection, session_id: SessionId) -> int | None:
    # Snapshots from which nothing leads to the newest. 0 bytes: none are the session's own.
    found = con.execute(
        "SELECT workspace.id, max(snapshot.id) FROM workspace "
        "JOIN session ON session.cwd = workspace.root AND session.id = ? "
        "JOIN snapshot ON snapshot.workspace_id = workspace.id AND snapshot.parent IS NULL",
        (session_id,),
    ).fetchone()
    if found is None or found[1] is None:
        return None
    workspace, base = found
    return 0 if chains.sweep(con, workspace, base, ROWS_AT_ONCE).looked else None


def unfinished(con: sqlite3.Connection) -> dict[SessionId, Millis]:
    return {SessionId(n): at for n, at in con.execute("SELECT session_id, at FROM erasing")}


def finish(con: sqlite3.Connection, session_id: SessionId) -> None:
    con.execute("DELETE FROM erasing WHERE session_id = ?", (session_id,))
