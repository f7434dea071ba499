"""A store's file as it lies on the disk, for tests that look into it, copy it or damage it."""

import shutil
import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

from sidecar.store.connection.store_files import ASIDE, NAME
from sidecar.store.format.migrations import MIGRATIONS, migrate
from sidecar.store.journal import Store

T = TypeVar("T")


def store_file(folder: Path) -> Path:
    return folder / NAME


def newest_pages(folder: Path) -> Path:
    """The file of pages that SQLite has not yet taken into the store's own."""
    return folder / f"{NAME}-wal"


def put_aside(folder: Path) -> Path:
    """The folder of damaged stores that were put aside."""
    return folder / ASIDE


def copy_as_killed(alive: Path, killed: Path) -> None:
    """Make a folder with what a daemon would leave that is killed now: file and newest pages."""
    killed.mkdir()
    for file in (store_file, newest_pages):
        shutil.copy(file(alive), file(killed))


def behind(store: Store, act: Callable[[sqlite3.Connection], T]) -> Awaitable[T]:
    """Have a store's own thread do with its connection what none of its methods does."""
    assert store._writer is not None
    return store._writer.submit(act)


async def allow_pages(store: Store, extra: int) -> None:
    """Let the file grow by so many pages and no further, as a full disk would."""

    def limit(con: sqlite3.Connection) -> None:
        (pages,) = con.execute("PRAGMA page_count").fetchone()
        con.execute(f"PRAGMA max_page_count = {pages + extra}")

    await behind(store, limit)


@contextmanager
def opened_beside(folder: Path) -> Iterator[sqlite3.Connection]:
    """A connection to the store's file that no lease knows; each statement counts at once."""
    with closing(sqlite3.connect(store_file(folder), isolation_level=None)) as con:
        yield con


def in_memory() -> sqlite3.Connection:
    """An empty store with all its tables, and no file."""
    con = sqlite3.connect(":memory:", isolation_level=None)
    migrate(con, MIGRATIONS, 0)
    return con


def make_newer(con: sqlite3.Connection) -> None:
    """Have a store be of a newer Sidecar, which knows one migration more."""
    con.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
