"""Sessions that leave the store: archived ones, and those of which nothing is to be left.

Their rows go in one transaction. What else may hold some of a deleted one, such as files beside
the store and pages that are free now, is told by a row in `erasing` until that is done, too.
"""

import sqlite3

from sidecar.core.parts import Millis, SessionId
from sidecar.store import chains
from sidecar.store.facts import drop_facts, forget_words
from sidecar.store.holders import drop_unreferenced
from sidecar.store.outputs import Freed, sizes

BODIES = ("session", "message", "part", "record")


def take_out(con: sqlite3.Connection, session_id: SessionId, *, shared: bool) -> Freed:
    """Remove a session's rows and what only it held; says how many bytes that were.

    `shared`: its facts go although other sessions of the folder bear them out, too.
    """
    found = con.execute("SELECT DISTINCT hash FROM reference WHERE session_id = ?", (session_id,))
    names = [name for (name,) in found]
    size = rows_size(con, session_id)
    (count,) = con.execute("SELECT count(*) FROM session WHERE id = ?", (session_id,)).fetchone()
    for table in ("reference", "output", "part", "message", "record", "lease", "fold"):
        con.execute(f"DELETE FROM {table} WHERE session_id = ?", (session_id,))
    size += drop_facts(con, session_id, shared=shared)
    con.execute("DELETE FROM session WHERE id = ?", (session_id,))
    before = sizes(con, names)
    drop_unreferenced(con, names)
    return Freed(count, size + before - sizes(con, names))


def rows_size(con: sqlite3.Connection, session_id: SessionId) -> int:
    """Give the bytes that a session's own rows hold."""
    total = 0
    for table in BODIES:
        column = "id" if table == "session" else "session_id"
        query = f"SELECT total(length(body)) FROM {table} WHERE {column} = ?"
        total += int(con.execute(query, (session_id,)).fetchone()[0])
    return total


def erase_session(con: sqlite3.Connection, session_id: SessionId) -> None:
    """Remove a session such that what it held is overwritten; unknown ones are ignored."""
    found = con.execute("SELECT cwd FROM session WHERE id = ?", (session_id,)).fetchone()
    con.execute("PRAGMA secure_delete = ON")
    try:
        take_out(con, session_id, shared=True)
        if found is not None:
            _erase_snapshots(con, found[0])
        forget_words(con)
    finally:
        con.execute("PRAGMA secure_delete = FAST")
    if found is not None:
        con.execute("INSERT OR IGNORE INTO erasing (session_id, at) VALUES (?, 0)", (session_id,))


def _erase_snapshots(con: sqlite3.Connection, cwd: bytes) -> None:
    """Let a folder's snapshots go with the last session that could go back to them."""
    held = con.execute("SELECT 1 FROM session WHERE cwd = ?", (cwd,)).fetchone()
    known = con.execute("SELECT id FROM workspace WHERE root = ?", (cwd,)).fetchone()
    if held is not None or known is None:
        return
    # Whoever has the chain open finds that it begins anew, as after a damage, and reads the files.
    begun = chains.begin(con, cwd, _newest(con, known[0]))
    old = [
        (number,)
        for (number,) in con.execute(
            "SELECT id FROM snapshot WHERE workspace_id = ? AND id != ?", (begun.id, begun.head)
        )
    ]
    names = {
        name
        for number in old
        for (name,) in con.execute("SELECT hash FROM holding WHERE snapshot_id = ?", number)
    }
    con.executemany("DELETE FROM holding WHERE snapshot_id = ?", old)
    con.executemany("DELETE FROM snapshot WHERE id = ?", old)
    drop_unreferenced(con, names)
    con.execute("UPDATE workspace SET held = 0 WHERE id = ?", (begun.id,))


def _newest(con: sqlite3.Connection, workspace: int) -> Millis:
    query = "SELECT ifnull(max(at), 0) FROM snapshot WHERE workspace_id = ?"
    return int(con.execute(query, (workspace,)).fetchone()[0])


def unfinished(con: sqlite3.Connection) -> tuple[SessionId, ...]:
    """List the deleted sessions of which something may still be left outside of their rows."""
    return tuple(SessionId(name) for (name,) in con.execute("SELECT session_id FROM erasing"))


def finish(con: sqlite3.Connection, session_id: SessionId) -> None:
    """Say that nothing is left of a deleted session."""
    con.execute("DELETE FROM erasing WHERE session_id = ?", (session_id,))
