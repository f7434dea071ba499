"""The state at each chain's head, and blobs held by snapshots.

Rows cost most of a snapshot, so `fold` adds many at once.
"""

import sqlite3
from collections.abc import Container, Iterable, Sequence

from sidecar.core.files.tree import Delta, SeenEntry, TreeEntry, net
from sidecar.store.content.deltas import unpack_delta
from sidecar.store.format.fields import BodyBroken

_COLUMNS = "mode, hash, size, lost, version, mtime, ctime, inode, racy, followed"


def fold(con: sqlite3.Connection, workspace: int, told: Container[bytes] = ()) -> None:
    """Brings a workspace's rows to its head, except `told` paths: the caller puts these next."""
    head, folded = con.execute(
        "SELECT head, folded FROM workspace WHERE id = ?", (workspace,)
    ).fetchone()
    if head == folded:
        return
    deltas, whole = _unfolded(con, workspace, folded)
    for number, delta in deltas:
        hold(con, number, named(delta))
    paths = {path for path in _paths(deltas) if path not in told}
    changed = _follow(some(con, workspace, paths), deltas)
    put(con, workspace, [(path, seen) for path, seen in changed.items() if path in paths])
    con.execute(
        "UPDATE workspace SET folded = head, complete = complete AND ? WHERE id = ?",
        (whole, workspace),
    )


def fold_all(con: sqlite3.Connection) -> None:
    """Due before blobs are deleted."""
    for (workspace,) in con.execute("SELECT id FROM workspace WHERE folded < head").fetchall():
        fold(con, workspace)


def tree(
    con: sqlite3.Connection, workspace: int, folded: int, paths: tuple[bytes, ...] | None = None
) -> tuple[dict[bytes, SeenEntry], bool]:
    """Gives the state at the head; `False` if a delta is unreadable."""
    deltas, whole = _unfolded(con, workspace, folded)
    if paths is None:
        rows = con.execute(
            f"SELECT path, {_COLUMNS} FROM tree WHERE workspace_id = ?", (workspace,)
        )
        found = {row[0]: _seen(row[1:]) for row in rows}
    else:
        found = some(con, workspace, (*paths, *_paths(deltas)))
    for path, seen in _follow(found, deltas).items():
        if seen is None:
            found.pop(path, None)
        else:
            found[path] = seen
    return found if paths is None else {p: found[p] for p in paths if p in found}, whole


def some(con: sqlite3.Connection, workspace: int, paths: Iterable[bytes]) -> dict[bytes, SeenEntry]:
    query = f"SELECT {_COLUMNS} FROM tree WHERE workspace_id = ? AND path = ?"
    rows = {path: con.execute(query, (workspace, path)).fetchone() for path in paths}
    return {path: _seen(row) for path, row in rows.items() if row is not None}


def put(
    con: sqlite3.Connection, workspace: int, rows: Iterable[tuple[bytes, SeenEntry | None]]
) -> None:
    """Stores entries by path; `None` deletes."""
    rows = tuple(rows)
    con.executemany(
        f"INSERT OR REPLACE INTO tree (workspace_id, path, {_COLUMNS}) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(workspace, path, *seen.entry, *seen[1:]) for path, seen in rows if seen is not None],
    )
    con.executemany(
        "DELETE FROM tree WHERE workspace_id = ? AND path = ?",
        [(workspace, path) for path, seen in rows if seen is None],
    )


def hold(con: sqlite3.Connection, snapshot: int, names: Iterable[str]) -> None:
    con.executemany(
        "INSERT OR IGNORE INTO holding (hash, snapshot_id) VALUES (?, ?)",
        [(name, snapshot) for name in sorted(names)],
    )


def named(delta: Delta) -> set[str]:
    names = {change.new.hash for change in delta if change.new is not None}
    names |= {change.old.hash for change in delta if change.old is not None}
    names.discard("")
    return names


def held_unfolded(con: sqlite3.Connection) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    for workspace, folded in con.execute("SELECT id, folded FROM workspace").fetchall():
        deltas, _ = _unfolded(con, workspace, folded)
        found += [(number, name) for number, delta in deltas for name in sorted(named(delta))]
    return found


def _unfolded(
    con: sqlite3.Connection, workspace: int, folded: int
) -> tuple[list[tuple[int, Delta]], bool]:
    """Gives `False` if some deltas are unreadable."""
    rows = con.execute(
        "SELECT id, body FROM snapshot WHERE workspace_id = ? AND id > ? ORDER BY id",
        (workspace, folded),
    )
    found: list[tuple[int, Delta]] = []
    whole = True
    for number, body in rows:
        try:
            found.append((number, unpack_delta(body)))
        except BodyBroken:
            whole = False
    return found, whole


def _paths(deltas: Iterable[tuple[int, Delta]]) -> list[bytes]:
    return [change.path for _, delta in deltas for change in delta]


def _follow(
    before: dict[bytes, SeenEntry], deltas: Iterable[tuple[int, Delta]]
) -> dict[bytes, SeenEntry | None]:
    # Entries from deltas have no stat, so their files are read again.
    after: dict[bytes, SeenEntry | None] = {}
    for change in net(delta for _, delta in deltas):
        known, new = before.get(change.path), change.new
        if new is None or new.lost == "ignored":
            after[change.path] = None
        elif known is None or known.entry != new:
            followed = known is not None and known.followed
            after[change.path] = SeenEntry(new, 0, 0, 0, racy=True, followed=followed)
    return after


def _seen(row: Sequence[object]) -> SeenEntry:
    entry = TreeEntry(*row[:5])  # type: ignore[arg-type] # the columns are written by `put` alone
    mtime, ctime, inode, racy, followed = row[5:]
    return SeenEntry(entry, mtime, ctime, inode, bool(racy), bool(followed))  # type: ignore[arg-type] # same
