"""Which commits wait for the disk, and which are written where they are asked for."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sidecar.core.errors import StorageFailed
from sidecar.store.connection.store_files import open_writer, prepare
from sidecar.store.connection.writer import StoreWriter

NORMAL, FULL = 1, 2
CHECKPOINT_PAGES = 400
MB = 1_000_000


@pytest.fixture
async def writer(tmp_path: Path) -> AsyncIterator[StoreWriter]:
    made = StoreWriter(open_writer(prepare(tmp_path)), lambda _: None)
    yield made
    await made.close()


def mode(con: sqlite3.Connection) -> int:
    """Say whether the commit that ends this waits for the disk."""
    (found,) = con.execute("PRAGMA synchronous").fetchone()
    return int(found)


async def test_a_unit_is_synced_unless_it_need_not_be(writer: StoreWriter) -> None:
    assert await writer.submit(mode) == FULL
    assert await writer.submit(mode, synced=False) == NORMAL
    assert await writer.submit(mode) == FULL


async def test_the_log_stays_short_and_is_cut_back_after_a_large_unit(
    writer: StoreWriter, tmp_path: Path
) -> None:
    log = tmp_path / "store.db-wal"
    await writer.submit(lambda con: con.execute("CREATE TABLE much (body BLOB)"))

    async def write(size: int) -> None:
        insert = "INSERT INTO much VALUES (zeroblob(?))"
        await writer.submit(lambda con: con.execute(insert, (size,)))

    for _ in range(100):
        await write(100_000)
        assert log.stat().st_size < 2 * MB
    await write(5 * MB)
    assert log.stat().st_size > 5 * MB
    await write(1)
    assert log.stat().st_size < 2 * MB


async def test_one_that_must_be_synced_takes_those_beside_it_along(writer: StoreWriter) -> None:
    go = threading.Event()
    first = writer.submit(lambda _: go.wait(10))
    async with asyncio.timeout(20):
        both = [writer.submit(mode, synced=False), writer.submit(mode)]
        go.set()
        assert await first
        assert await asyncio.gather(*both) == [FULL, FULL]


async def test_what_waits_for_a_disk_that_stands_still_is_128_mib_at_most(
    writer: StoreWriter,
) -> None:
    begun, go = threading.Event(), threading.Event()

    def stand_still(_: sqlite3.Connection) -> bool:
        begun.set()
        return go.wait(10)

    first, half = writer.submit(stand_still), 64 * 1024 * 1024
    await asyncio.to_thread(begun.wait, 10)
    waiting = [writer.submit(mode, half), writer.submit(mode, half)]
    with pytest.raises(StorageFailed, match="overloaded"):
        await writer.submit(mode, 1)
    go.set()
    assert await first
    assert await asyncio.gather(*waiting) == [FULL, FULL]
    assert await writer.submit(mode, 1) == FULL


async def test_a_save_is_synced(writer: StoreWriter) -> None:
    modes: list[int] = []
    await writer.submit(mode, synced=False)
    writer.save(("session", "part"), lambda con: modes.append(mode(con)))
    await writer.close()
    assert modes == [FULL]


def who(con: sqlite3.Connection) -> tuple[int, int]:
    """Give the thread that writes, and the pages at which it brings the log into the file."""
    (pages,) = con.execute("PRAGMA wal_autocheckpoint").fetchone()
    return threading.get_ident(), int(pages)


async def test_a_small_unit_is_written_at_once_and_leaves_the_log_to_the_thread(
    writer: StoreWriter,
) -> None:
    here = threading.get_ident()
    first = writer.submit(who, synced=False, small=True)
    assert first.done()
    assert await first == (here, 0)
    thread, pages = await writer.submit(who)
    assert thread != here
    assert pages == CHECKPOINT_PAGES
    assert await writer.submit(who, synced=False, small=True) == (here, 0)


async def test_one_that_must_be_synced_is_never_written_here(writer: StoreWriter) -> None:
    thread, _ = await writer.submit(who, small=True)
    assert thread != threading.get_ident()


async def test_a_small_unit_overtakes_none(writer: StoreWriter) -> None:
    go = threading.Event()
    order: list[str] = []
    before = [writer.submit(lambda _: go.wait(10)), writer.submit(lambda _: order.append("first"))]
    small = writer.submit(lambda _: order.append("small"), synced=False, small=True)
    assert not small.done()
    go.set()
    await asyncio.gather(*before, small)
    assert order == ["first", "small"]


async def test_a_small_unit_waits_for_another_process_in_the_thread(
    tmp_path: Path, writer: StoreWriter
) -> None:
    with closing(open_writer(prepare(tmp_path))) as other:
        other.execute("BEGIN IMMEDIATE")
        waiting = writer.submit(who, synced=False, small=True)
        await asyncio.sleep(0.1)
        assert not waiting.done()
        other.execute("ROLLBACK")
        thread, _ = await waiting
        assert thread != threading.get_ident()


FAILURES = [
    (ValueError, True),
    (ValueError, False),
    (sqlite3.OperationalError, True),
    (sqlite3.OperationalError, False),
    (KeyboardInterrupt, True),
]


@pytest.mark.parametrize(("error", "small"), FAILURES)
async def test_a_unit_alone_that_fails_leaves_nothing(
    writer: StoreWriter, error: type[BaseException], small: bool
) -> None:
    def half(con: sqlite3.Connection) -> None:
        con.execute("INSERT INTO made VALUES (1)")
        raise error

    await writer.submit(lambda con: con.execute("CREATE TABLE made (number)"))
    expected = error if error is KeyboardInterrupt else StorageFailed
    with pytest.raises(expected):
        await writer.submit(half, synced=False, small=small)
    count = "SELECT count(*) FROM made"
    for here in (True, False):
        found = writer.submit(lambda con: con.execute(count).fetchone(), synced=False, small=here)
        assert await found == (0,)


@pytest.mark.parametrize("beside", [0, 1])
@pytest.mark.parametrize("error", [MemoryError, ValueError])
async def test_where_sqlite_gives_up_a_transaction_the_thread_goes_on(
    writer: StoreWriter, beside: int, error: type[Exception]
) -> None:
    def gives_up(con: sqlite3.Connection) -> None:
        # SQLite does so itself where memory runs out.
        con.execute("ROLLBACK")
        raise error

    begun, go = threading.Event(), threading.Event()
    first = writer.submit(lambda _: (begun.set(), go.wait(10)))
    assert begun.wait(10)
    failing = writer.submit(gives_up)
    others = [writer.submit(lambda _: None) for _ in range(beside)]
    go.set()
    async with asyncio.timeout(20):
        with pytest.raises(StorageFailed, match=error.__name__):
            await failing
        await asyncio.gather(first, *others, writer.submit(lambda _: None))


async def test_only_units_with_others_beside_them_have_savepoints(writer: StoreWriter) -> None:
    said: list[str] = []
    await writer.submit(lambda con: con.set_trace_callback(said.append))
    await writer.submit(lambda _: None)
    await writer.submit(lambda _: None, synced=False, small=True)
    assert not [text for text in said if "SAVEPOINT" in text]
    begun, go = threading.Event(), threading.Event()
    first = writer.submit(lambda _: (begun.set(), go.wait(10)))
    assert begun.wait(10)
    both = [writer.submit(lambda _: None), writer.submit(lambda _: None)]
    go.set()
    await asyncio.gather(first, *both)
    assert len([text for text in said if "SAVEPOINT" in text]) == len(both)


class Interrupted(sqlite3.Connection):
    """Has a user who interrupts the event loop as soon as a transaction begins there."""

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        done = super().execute(sql, parameters)
        if sql == "BEGIN IMMEDIATE" and threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt
        return done


async def test_who_is_interrupted_at_the_beginning_leaves_the_connection(tmp_path: Path) -> None:
    con = sqlite3.connect(
        tmp_path / "made.db", isolation_level=None, check_same_thread=False, factory=Interrupted
    )
    writer = StoreWriter(con, lambda _: None)
    with pytest.raises(KeyboardInterrupt):
        writer.submit(who, synced=False, small=True)
    async with asyncio.timeout(20):
        assert await writer.submit(mode) == FULL
        await writer.close()
