"""A workspace's chain of snapshots: a base, then deltas up to the newest, the head.

A delta holds its blobs until swept.
"""

import sqlite3
from collections.abc import Iterable, Sequence

from sidecar.core.dataclass import dataclass
from sidecar.core.files.tree import Delta, SeenEntry, SnapshotId
from sidecar.store.content import trees
from sidecar.store.content.blobs import MOST_RECENT, PressedBlob, put_new, settle
from sidecar.store.content.deltas import pack_delta, unpack_delta
from sidecar.store.content.holders import drop_unreferenced
from sidecar.store.format.fields import BodyBroken


@dataclass(frozen=True, slots=True)
class Workspace:
    """A stored workspace, with its state at `head` by path.

    `complete`: whether the first state is stored. `held`: bytes of blobs.
    """

    id: int
    head: SnapshotId
    complete: bool
    held: int
    tree: dict[bytes, SeenEntry]


@dataclass(frozen=True, slots=True)
class Addition:
    """A snapshot's delta with its blobs; `tree`: entries whose stat is known.

    Other paths in `delta` lack a stat until a `fill`.
    """

    delta: Delta
    blobs: Sequence[PressedBlob]
    tree: Sequence[tuple[bytes, SeenEntry | None]]


@dataclass(frozen=True, slots=True)
class Appended:
    """The new head, and the bytes of the workspace's blobs."""

    id: SnapshotId
    held: int


@dataclass(frozen=True, slots=True)
class ChainMoved:
    """Nothing stored: another process has appended."""

    head: SnapshotId


@dataclass(frozen=True, slots=True)
class SweptBlobs:
    """Blobs examined, 0 at the end, and bytes held."""

    looked: int
    held: int


@dataclass(frozen=True, slots=True)
class HeldSpace:
    """A workspace's number of snapshots, bytes held, and oldest time (ms)."""

    root: bytes
    snapshots: int
    held: int
    oldest: int


def load(con: sqlite3.Connection, root: bytes) -> Workspace | None:
    found = con.execute(
        "SELECT id, head, folded, complete, held FROM workspace WHERE root = ?", (root,)
    ).fetchone()
    if found is None:
        return None
    number, head, folded, complete, held_bytes = found
    tree, whole = trees.tree(con, number, folded)
    return Workspace(number, SnapshotId(head), bool(complete) and whole, held_bytes, tree)


def telling(con: sqlite3.Connection, root: bytes) -> tuple[int, int] | None:
    found: tuple[int, int] | None = con.execute(
        "SELECT head, (SELECT count(*) FROM tree WHERE workspace_id = workspace.id) "
        "FROM workspace WHERE root = ? AND NOT complete",
        (root,),
    ).fetchone()
    return found


def begin(con: sqlite3.Connection, root: bytes, at: int) -> Workspace:
    con.execute(
        "INSERT OR IGNORE INTO workspace (root, head, complete, held) VALUES (?, 0, 0, 0)",
        (root,),
    )
    number, held_bytes = con.execute(
        "SELECT id, held FROM workspace WHERE root = ?", (root,)
    ).fetchone()
    trees.fold(con, number)
    con.execute("DELETE FROM tree WHERE workspace_id = ?", (number,))
    head = _insert(con, number, None, (), at)
    con.execute(
        "UPDATE workspace SET head = ?1, folded = ?1, complete = 0 WHERE id = ?2", (head, number)
    )
    return Workspace(number, head, False, held_bytes, {})


def fill(
    con: sqlite3.Connection, workspace: int, head: SnapshotId, addition: Addition, complete: bool
) -> Appended | ChainMoved:
    (current,) = con.execute("SELECT head FROM workspace WHERE id = ?", (workspace,)).fetchone()
    if current != head:
        return ChainMoved(SnapshotId(current))
    trees.fold(con, workspace, {path for path, _ in addition.tree})
    added = put_new(con, addition.blobs, recent=False)
    settle(con)
    trees.hold(con, head, {blob.hash for blob in addition.blobs})
    trees.put(con, workspace, addition.tree)
    (held_bytes,) = con.execute(
        "UPDATE workspace SET complete = complete OR ?, held = held + ? WHERE id = ? "
        "RETURNING held",
        (complete, added, workspace),
    ).fetchone()
    return Appended(head, held_bytes)


def append(
    con: sqlite3.Connection, workspace: int, parent: SnapshotId, addition: Addition, at: int
) -> Appended | ChainMoved:
    head, held_bytes = con.execute(
        "SELECT head, held FROM workspace WHERE id = ?", (workspace,)
    ).fetchone()
    if head != parent:
        return ChainMoved(SnapshotId(head))
    number = _insert(con, workspace, parent, addition.delta, at)
    # In the large table, many new rows share the pages of the index.
    held_bytes += put_new(con, addition.blobs, recent=len(addition.blobs) <= MOST_RECENT)
    if addition.tree:
        trees.put(con, workspace, addition.tree)
    # Contents read of a path left out now are in no delta.
    if unnamed := {blob.hash for blob in addition.blobs} - trees.named(addition.delta):
        trees.hold(con, number, unnamed)
    con.execute(
        "UPDATE workspace SET head = ?, held = ? WHERE id = ?", (number, held_bytes, workspace)
    )
    return Appended(number, held_bytes)


def _insert(
    con: sqlite3.Connection, workspace: int, parent: SnapshotId | None, delta: Delta, at: int
) -> SnapshotId:
    done = con.execute(
        "INSERT INTO snapshot (workspace_id, parent, at, body) VALUES (?, ?, ?, ?)",
        (workspace, parent, at, pack_delta(delta)),
    )
    assert done.lastrowid is not None
    return SnapshotId(done.lastrowid)


def deltas(
    con: sqlite3.Connection, workspace: int, after: SnapshotId, until: SnapshotId
) -> tuple[Delta, ...] | None:
    found: list[Delta] = []
    current: int | None = until
    while current is not None and current != after:
        row = con.execute(
            "SELECT parent, body FROM snapshot WHERE id = ? AND workspace_id = ?",
            (current, workspace),
        ).fetchone()
        if row is None:
            return None
        found.append(unpack_delta(row[1]))
        current = row[0]
    return None if current is None else tuple(reversed(found))


def some(
    con: sqlite3.Connection, workspace: int, paths: tuple[bytes, ...]
) -> dict[bytes, SeenEntry]:
    row = con.execute("SELECT folded FROM workspace WHERE id = ?", (workspace,)).fetchone()
    if row is None:
        raise BodyBroken(f"workspace {workspace} is missing")
    (folded,) = row
    return trees.tree(con, workspace, folded, paths)[0]


def sweep(con: sqlite3.Connection, workspace: int, before: SnapshotId, most: int) -> SweptBlobs:
    trees.fold(con, workspace)
    ends = con.execute(
        "SELECT id FROM snapshot WHERE workspace_id = ? ORDER BY id LIMIT 2", (workspace,)
    ).fetchall()
    # The head is the newest, so the first of two is another.
    if len(ends) < 2 or ends[0][0] >= before:
        return SweptBlobs(0, _held_by(con, workspace))
    (oldest,), (following,) = ends
    found = con.execute("SELECT hash FROM holding WHERE snapshot_id = ? LIMIT ?", (oldest, most))
    names = [name for (name,) in found]
    # Blobs of the newest state pass to the oldest remaining snapshot.
    query = "SELECT DISTINCT hash FROM tree WHERE workspace_id = ?"
    current = {name for (name,) in con.execute(query, (workspace,))}
    trees.hold(con, following, current.intersection(names))
    con.executemany(
        "DELETE FROM holding WHERE hash = ? AND snapshot_id = ?", [(name, oldest) for name in names]
    )
    freed = _sizes(con, names)
    drop_unreferenced(con, names)
    freed -= _sizes(con, names)
    con.execute("UPDATE workspace SET held = max(0, held - ?) WHERE id = ?", (freed, workspace))
    if len(names) < most:
        con.execute("DELETE FROM snapshot WHERE id = ?", (oldest,))
    return SweptBlobs(max(1, len(names)), _held_by(con, workspace))


def _held_by(con: sqlite3.Connection, workspace: int) -> int:
    (found,) = con.execute("SELECT held FROM workspace WHERE id = ?", (workspace,)).fetchone()
    return int(found)


def _sizes(con: sqlite3.Connection, names: Iterable[str]) -> int:
    total = 0
    for name in names:
        row = con.execute("SELECT length(data) FROM content WHERE hash = ?", (name,)).fetchone()
        total += row[0] if row else 0
    return total


def ids(con: sqlite3.Connection, workspace: int) -> tuple[SnapshotId, ...]:
    found = con.execute("SELECT id FROM snapshot WHERE workspace_id = ? ORDER BY id", (workspace,))
    return tuple(SnapshotId(number) for (number,) in found)


def held(con: sqlite3.Connection) -> tuple[HeldSpace, ...]:
    found = con.execute(
        "SELECT w.root, count(*), w.held, min(s.at) FROM workspace w "
        "JOIN snapshot s ON s.workspace_id = w.id GROUP BY w.id ORDER BY w.held DESC"
    )
    return tuple(HeldSpace(*row) for row in found)


def weight(addition: Addition) -> int:
    """Estimated bytes."""
    rows = len(addition.delta) + len(addition.tree)
    return sum([len(blob.data) + 100 for blob in addition.blobs]) + 200 * rows
