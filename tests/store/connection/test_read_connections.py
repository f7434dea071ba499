"""Connections for reading are kept, and hide nothing: neither what is new nor another file."""

import asyncio
import os
import resource
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from sidecar.core.errors import StorageFailed
from sidecar.store.connection import store_files
from sidecar.store.connection.read_connections import Readers
from sidecar.store.journal import Store


def make(path: Path, words: str) -> None:
    path.touch()
    con = store_files.open_writer(path)
    con.execute("CREATE TABLE told (words TEXT)")
    con.execute("INSERT INTO told VALUES (?)", (words,))
    con.close()


def told(con: sqlite3.Connection) -> str:
    (words,) = con.execute("SELECT words FROM told").fetchone()
    return str(words)


def fails(con: sqlite3.Connection) -> str:
    told(con)
    raise ValueError("as it should")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    make(tmp_path / "store.db", "one")
    return tmp_path / "store.db"


@pytest.fixture
def readers(path: Path) -> Iterator[Readers]:
    made = Readers(path)
    yield made
    made.close()


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Every file that was opened for reading since."""
    found: list[Path] = []
    really = store_files.open_lasting_reader

    def counted(path: Path) -> sqlite3.Connection:
        found.append(path)
        return really(path)

    monkeypatch.setattr(store_files, "open_lasting_reader", counted)
    return found


def test_a_connection_is_kept_and_sees_what_was_written_since(
    path: Path, readers: Readers, opened: list[Path]
) -> None:
    assert readers.read(told) == "one"
    con = store_files.open_writer(path)
    con.execute("UPDATE told SET words = 'two'")
    assert readers.read(told) == "two"
    # Who reads nothing at the moment keeps nobody from cutting the log.
    assert con.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone() == (0, 0, 0)
    con.close()
    assert opened == [path]


def test_a_table_that_is_made_later_is_read(path: Path, readers: Readers) -> None:
    readers.read(told)
    con = store_files.open_writer(path)
    con.execute("ALTER TABLE told RENAME TO told_before")
    con.execute("CREATE TABLE told AS SELECT 'another ' || words AS words FROM told_before")
    con.close()
    assert readers.read(told) == "another one"


def test_another_file_at_that_place_is_what_is_read(tmp_path: Path, readers: Readers) -> None:
    readers.read(told)
    make(tmp_path / "other.db", "other")
    (tmp_path / "other.db").replace(tmp_path / "store.db")
    assert readers.read(told) == "other"


def test_a_file_that_is_gone_is_not_read_on(path: Path, readers: Readers) -> None:
    readers.read(told)
    path.unlink()
    with pytest.raises(sqlite3.OperationalError):
        readers.read(told)


def test_a_connection_on_which_something_failed_is_not_kept(
    path: Path, readers: Readers, opened: list[Path]
) -> None:
    with pytest.raises(ValueError, match="as it should"):
        readers.read(fails)
    assert readers.read(told) == "one"
    assert opened == [path, path]


def test_each_of_those_who_read_at_once_has_one_of_its_own(
    readers: Readers, opened: list[Path]
) -> None:
    both = threading.Barrier(2, timeout=10)

    def together(con: sqlite3.Connection) -> str:
        both.wait()
        return told(con)

    def twice() -> None:
        found.extend(readers.read(together) for _ in range(20))

    found: list[str] = []
    threads = [threading.Thread(target=twice) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["one"] * 40
    assert len(opened) == 2


def test_after_the_end_no_connection_is_open_any_more(readers: Readers) -> None:
    used: list[sqlite3.Connection] = []

    def idle(con: sqlite3.Connection) -> str:
        used.append(con)
        return told(con)

    def inner(con: sqlite3.Connection) -> str:
        used.append(con)
        readers.read(idle)
        readers.close()
        return told(con)

    def outer(con: sqlite3.Connection) -> str:
        used.append(con)
        return readers.read(inner)

    assert readers.read(outer) == "one"
    assert len(set(used)) == 3
    for con in used:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            told(con)


@contextmanager
def allowed(more: int) -> Iterator[None]:
    """Let no more than so many files be opened."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    os.close(lowest := os.dup(0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest + more, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_where_no_more_files_can_be_opened_what_is_kept_reads_on(tmp_path: Path) -> None:
    store = Store.open(tmp_path, now=lambda: 1)
    await store.sessions.page(cwd=None, before=None, limit=1)
    with allowed(0):
        assert (await store.sessions.page(cwd=None, before=None, limit=1)).rows == ()
        with pytest.raises(StorageFailed, match="as many files open as it may"):
            await store.verify()
    await store.close()


def test_what_sees_no_log_is_not_kept(path: Path, readers: Readers) -> None:
    with closing(store_files.open_writer(path)) as con:
        told(con)
        assert path.with_name("store.db-wal").stat().st_size == 0
        with allowed(1), suppress(sqlite3.OperationalError):
            readers.read(told)
        con.execute("UPDATE told SET words = 'two'")
        assert readers.read(told) == "two"


async def test_a_verification_reads_what_the_disk_has(tmp_path: Path, opened: list[Path]) -> None:
    store = Store.open(tmp_path, now=lambda: 1)
    opened.clear()
    for _ in range(3):
        await store.sessions.page(cwd=None, before=None, limit=1)
    assert len(opened) == 1
    await store.verify()
    assert len(opened) == 2
    await store.close()
    with pytest.raises(StorageFailed):
        await asyncio.wait_for(store.sessions.page(cwd=None, before=None, limit=1), 10)
