"""Copies tables row by row."""

import sqlite3
from collections.abc import Iterator
from contextlib import suppress

from sidecar.store.content.deltas import unpack_delta
from sidecar.store.content.trees import fold_all
from sidecar.store.format.fields import BodyBroken
from sidecar.store.format.pages import Row
from sidecar.store.repair.salvage import SalvagedRows

SNAPSHOTS = ("workspace", "snapshot", "tree", "holding")
SKIP_AHEAD = 1_000_000
"""Numbers skipped, where the used ones are unknown."""


def copy_tables(con: sqlite3.Connection, made: SalvagedRows) -> Iterator[str]:
    for name, columns in (("learned", 3), ("written", 3)):
        for row in made.rows.get(name, ()):
            _insert(con, name, row, columns)
    if made.rows.get("restore"):
        yield (
            "a restore of files was under way when the store was damaged, and its plan is lost: "
            "look into the workspace's `.sidecar` folders for what it had put aside"
        )


def copy_gone(con: sqlite3.Connection, made: SalvagedRows) -> None:
    for row in made.rows.get("output", ()):
        if len(row) == 7 and row[4] is not None:
            _insert(con, "output", row, 7)
    for row in made.rows.get("erasing", ()):
        _insert(con, "erasing", row, 2)


def copy_snapshots(con: sqlite3.Connection, made: SalvagedRows) -> Iterator[str]:
    """Copies all of a workspace's snapshots or none; yields losses."""
    torn = any(name in made.damaged for name in (*SNAPSHOTS, "schema"))
    for name, columns in zip(SNAPSHOTS, (6, 5, 12, 2), strict=True):
        for row in made.rows.get(name, ()):
            _insert(con, name, row, columns)
    fold_all(con)
    known = con.execute("SELECT id, root, head FROM workspace").fetchall()
    for number, root, head in known:
        why = "they stand on damaged pages" if torn else _wrong(con, number, head)
        if why:
            con.execute(
                "DELETE FROM holding WHERE snapshot_id IN "
                "(SELECT id FROM snapshot WHERE workspace_id = ?)",
                (number,),
            )
            for table in ("snapshot", "tree"):
                con.execute(f"DELETE FROM {table} WHERE workspace_id = ?", (number,))
            con.execute("DELETE FROM workspace WHERE id = ?", (number,))
            told = root.decode("utf-8", "replace") if isinstance(root, bytes) else root
            yield (
                f"the snapshots of {told} are lost ({why}): its files cannot go back to states "
                "from before now"
            )
    con.execute("DELETE FROM holding WHERE snapshot_id NOT IN (SELECT id FROM snapshot)")
    con.execute("DELETE FROM snapshot WHERE workspace_id NOT IN (SELECT id FROM workspace)")
    con.execute("DELETE FROM tree WHERE workspace_id NOT IN (SELECT id FROM workspace)")
    _go_on_counting(con, made, torn=torn)


def _wrong(con: sqlite3.Connection, workspace: int, head: int) -> str:
    last: int | None = None
    for number, parent, body in con.execute(
        "SELECT id, parent, body FROM snapshot WHERE workspace_id = ? ORDER BY id", (workspace,)
    ):
        if last is not None and parent is not None and parent != last:
            return f"there is none between {last} and {number}"
        try:
            unpack_delta(body)
        except BodyBroken:
            return f"number {number} is damaged"
        last = number
    if last != head:
        return "the newest is missing"
    gone = con.execute(
        "SELECT count(*) FROM holding h JOIN snapshot s ON s.id = h.snapshot_id "
        "WHERE s.workspace_id = ? AND NOT EXISTS (SELECT 1 FROM content b WHERE b.hash = h.hash)",
        (workspace,),
    ).fetchone()[0]
    return f"the contents of {gone} files are damaged" if gone else ""


def _go_on_counting(con: sqlite3.Connection, made: SalvagedRows, *, torn: bool) -> None:
    # No id is used twice: sessions refer to snapshots by number.
    before: dict[str, int] = {}
    for row in made.rows.get("sqlite_sequence", ()):
        match row:
            case (str(name), int(last)):
                before[name] = last
            case _:
                pass
    for name in ("fact", "snapshot", "restore"):
        (highest,) = con.execute(f"SELECT coalesce(max(rowid), 0) FROM {name}").fetchone()
        last = before.get(name, 0)
        if torn or "sqlite_sequence" in made.damaged:
            last = max(last, highest) + SKIP_AHEAD
        con.execute("DELETE FROM sqlite_sequence WHERE name = ?", (name,))
        con.execute("INSERT INTO sqlite_sequence VALUES (?, ?)", (name, max(last, highest)))


def _insert(con: sqlite3.Connection, table: str, row: Row, columns: int) -> None:
    if len(row) > columns:
        return
    # A row older than a column is shorter; all added columns are numbers.
    values = (*row, *[0] * (columns - len(row)))
    marks = ", ".join("?" * columns)
    # A row of another shape comes from another table's page, in the wrong place.
    with suppress(sqlite3.IntegrityError):
        con.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", values)
