"""Returns free pages to the file system."""

import asyncio
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from sidecar.core.dataclass import dataclass
from sidecar.store.connection import store_files
from sidecar.store.connection.store_access import SLICE_SECONDS, StoreRead, Submit

PAGES_AT_ONCE = 16
"""Pages between looks at the clock, 10 to 50 microseconds each."""
INCREMENTAL = 2
"""`PRAGMA auto_vacuum` of files able to shrink."""
SMALL_BYTES = 64 * 1024 * 1024
"""Size of an older file, rewritten within a second, once."""
TRIES = 100
PAUSE_SECONDS = 0.05
_WAIT_MS = 20
"""Short: a checkpoint that waits for readers blocks writers."""


@dataclass(frozen=True, slots=True)
class Space:
    """A file's bytes, and the free ones; `shrinks`: free pages can be returned."""

    size: int
    free: int
    shrinks: bool


class FreePages:
    """Methods may raise StorageFailed."""

    def __init__(self, submit: Submit, read: StoreRead, path: Path) -> None:
        self._submit = submit
        self._read = read
        self._path = path

    async def space(self) -> Space:
        return await self._read(space)

    async def shrink(self) -> Space:
        return await self._submit(shrink, synced=False)

    async def overwrite(self) -> None:
        """Writes zeros, where the file cannot shrink."""
        await self._submit(overwrite_free)

    async def rebuild(self) -> None:
        """Makes a file of any size shrinkable; blocks writers."""
        await asyncio.to_thread(rebuild, self._path)

    async def empty_log(self) -> bool:
        """Returns `False` if readers kept SQLite's log in use for seconds."""
        return await asyncio.to_thread(empty_log, self._path)


def space(con: sqlite3.Connection) -> Space:
    page = _number(con, "page_size")
    return Space(
        page * _number(con, "page_count"),
        page * _number(con, "freelist_count"),
        _number(con, "auto_vacuum") == INCREMENTAL,
    )


def shrink(con: sqlite3.Connection) -> Space:
    end = time.monotonic() + SLICE_SECONDS
    while before := _number(con, "freelist_count"):
        # Each row is a page; without fetching all rows, the vacuum stops early.
        con.execute(f"PRAGMA incremental_vacuum({PAGES_AT_ONCE})").fetchall()
        if _number(con, "freelist_count") == before or time.monotonic() >= end:
            break
    return space(con)


def overwrite_free(con: sqlite3.Connection) -> None:
    page, count = _number(con, "page_size"), _number(con, "freelist_count")
    if not count:
        return
    with store_files.overwriting(con):
        con.execute(
            "INSERT INTO blob (hash, size, encoding, data) VALUES ('', 0, '', zeroblob(?))",
            (count * (page - 4),),
        )
        con.execute("DELETE FROM blob WHERE hash = ''")


def make_shrinkable(con: sqlite3.Connection) -> None:
    """Rewrites an older file of at most 64 MiB."""
    found = space(con)
    if not found.shrinks and found.size <= SMALL_BYTES:
        con.execute(f"PRAGMA auto_vacuum = {INCREMENTAL}")
        con.execute("VACUUM")


def rebuild(path: Path) -> None:
    with closing(store_files.open_writer(path)) as con:
        con.execute(f"PRAGMA auto_vacuum = {INCREMENTAL}")
        con.execute("VACUUM")


def empty_log(path: Path) -> bool:
    with closing(store_files.open_writer(path)) as con:
        # Do most of the work while others can write.
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
