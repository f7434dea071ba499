"""Giving free pages back to the file system, a slice at a time, and emptying the log.

Files are made so that SQLite can move their last page into a free one (`auto_vacuum`). A slice
is a unit of the writer's like others, so that what a turn writes waits for one slice at most.
"""

import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from sidecar.store.connection import store_files

SLICE_SECONDS = 0.005
AT_ONCE = 16
"""Pages between looks at the clock; each takes some 10 to 50 microseconds."""
INCREMENTAL = 2
"""What `PRAGMA auto_vacuum` says of files that can give pages back."""
SMALL_BYTES = 64 * 1024 * 1024
"""A file of before that could; up to this size it is rewritten within a second, once."""
TRIES = 100
PAUSE_SECONDS = 0.05
_WAIT_MS = 20
"""While it waits for readers, a checkpoint keeps others from writing."""


@dataclass(frozen=True, slots=True)
class Space:
    """What the file takes, in bytes, and what of it is free; `shrinks`: it can give that back."""

    size: int
    free: int
    shrinks: bool


def space(con: sqlite3.Connection) -> Space:
    """Say how much of the file is free."""
    page = _number(con, "page_size")
    return Space(
        page * _number(con, "page_count"),
        page * _number(con, "freelist_count"),
        _number(con, "auto_vacuum") == INCREMENTAL,
    )


def shrink(con: sqlite3.Connection) -> Space:
    """Give free pages back for one slice; says what is left. A transaction is somebody else's."""
    end = time.monotonic() + SLICE_SECONDS
    while before := _number(con, "freelist_count"):
        # Each row is a page: who does not fetch them all stops it.
        con.execute(f"PRAGMA incremental_vacuum({AT_ONCE})").fetchall()
        if _number(con, "freelist_count") == before or time.monotonic() >= end:
            break
    return space(con)


def overwrite_free(con: sqlite3.Connection) -> None:
    """Fill the free pages with zeros, in a file that cannot give them back."""
    page, count = _number(con, "page_size"), _number(con, "freelist_count")
    if not count:
        return
    con.execute("PRAGMA secure_delete = ON")
    try:
        con.execute(
            "INSERT INTO blob (hash, size, encoding, data) VALUES ('', 0, '', zeroblob(?))",
            (count * (page - 4),),
        )
        con.execute("DELETE FROM blob WHERE hash = ''")
    finally:
        con.execute("PRAGMA secure_delete = FAST")


def make_shrinkable(con: sqlite3.Connection) -> None:
    """Rewrite a file of an earlier Sidecar such that it can shrink, if that is soon done."""
    found = space(con)
    if not found.shrinks and found.size <= SMALL_BYTES:
        con.execute(f"PRAGMA auto_vacuum = {INCREMENTAL}")
        con.execute("VACUUM")


def rebuild(path: Path) -> None:
    """Rewrite a whole file such that it can shrink from now on; nobody writes meanwhile."""
    with closing(store_files.open_writer(path)) as con:
        con.execute(f"PRAGMA auto_vacuum = {INCREMENTAL}")
        con.execute("VACUUM")


def empty_log(path: Path) -> bool:
    """Write the log into the file and cut it to nothing; `False` where readers are in the way."""
    with closing(store_files.open_writer(path)) as con:
        # Most of the work is done while others go on.
        con.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        con.execute(f"PRAGMA busy_timeout = {_WAIT_MS}")
        for _ in range(TRIES):
            try:
                (busy, _, _) = con.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            except sqlite3.OperationalError:
                busy = 1
            if not busy:
                return True
            time.sleep(PAUSE_SECONDS)
    return False


def _number(con: sqlite3.Connection, name: str) -> int:
    return int(con.execute(f"PRAGMA {name}").fetchone()[0])
