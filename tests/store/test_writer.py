"""Which commits wait for the disk."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sidecar.store.files import open_writer, prepare
from sidecar.store.writer import Writer

NORMAL, FULL = 1, 2


@pytest.fixture
async def writer(tmp_path: Path) -> AsyncIterator[Writer]:
    made = Writer(open_writer(prepare(tmp_path)), lambda _: None)
    yield made
    await made.close()


def mode(con: sqlite3.Connection) -> int:
    """Say whether the commit that ends this waits for the disk."""
    (found,) = con.execute("PRAGMA synchronous").fetchone()
    return int(found)


async def test_a_unit_is_synced_unless_it_need_not_be(writer: Writer) -> None:
    assert await writer.submit(mode) == FULL
    assert await writer.submit(mode, synced=False) == NORMAL
    assert await writer.submit(mode) == FULL


async def test_one_that_must_be_synced_takes_those_beside_it_along(writer: Writer) -> None:
    go = threading.Event()
    first = writer.submit(lambda _: go.wait(10))
    async with asyncio.timeout(20):
        both = [writer.submit(mode, synced=False), writer.submit(mode)]
        go.set()
        assert await first
        assert await asyncio.gather(*both) == [FULL, FULL]


async def test_a_save_is_synced(writer: Writer) -> None:
    modes: list[int] = []
    await writer.submit(mode, synced=False)
    writer.save(("session", "part"), lambda con: modes.append(mode(con)))
    await writer.close()
    assert modes == [FULL]
