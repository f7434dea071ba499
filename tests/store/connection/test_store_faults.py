"""Full disks, newer schemas, damaged files: what is said, and that work goes on."""

import asyncio
import random
import shutil
from pathlib import Path

import pytest

from sidecar.core.errors import StorageFailed, UnknownSession
from sidecar.core.parts import Message, SessionId
from sidecar.store.connection import writer
from tests.polling import until
from tests.store.holders import hold
from tests.store.on_disk import (
    allow_pages,
    make_newer,
    newest_pages,
    opened_beside,
    store_file,
)
from tests.store.samples import base, open_store, put_text, session

SES = SessionId("ses_1")


def noise(size: int) -> str:
    """Text that does not compress."""
    return random.Random(size).randbytes(size).hex()


async def test_a_full_disk_fails_what_does_not_fit_and_nothing_else(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await store.write(*base())
    await allow_pages(store, 20)
    small = [store.write(put_text("part_1"))]
    large = store.write(put_text("part_2"), put_text("part_3", noise(200_000)))
    store.save(put_text("part_4", noise(200_000), final=False))
    small.append(store.write(put_text("part_5")))
    for written in small:
        await written
    with pytest.raises(StorageFailed, match="Free some space") as caught:
        await large
    assert caught.value.kind == "full"
    assert [p.id for p in (await store.logs.load(SES)).messages[0].parts] == ["part_1", "part_5"]

    await allow_pages(store, 10_000)
    await store.write(put_text("part_2"), put_text("part_3", noise(200_000)))
    report = await store.verify()
    assert (report.parts, report.problems) == (4, ())
    await store.close()


async def test_too_much_at_once_is_refused_and_memory_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "QUEUE_BYTES", 1_000_000)
    store = open_store(tmp_path)
    await store.write(*base())
    waiting = [store.write(put_text(f"part_{n}", noise(200_000))) for n in range(30)]
    for n in range(30):
        store.save(put_text(f"saved_{n}", noise(200_000), final=False))
    assert store.waiting() <= 1_000_000 // 200_000
    failed = [f for f in await asyncio.gather(*waiting, return_exceptions=True) if f is not None]
    assert 0 < len(failed) < 30
    for one in failed:
        assert isinstance(one, StorageFailed)
        assert (one.kind, "overloaded" in one.message) == ("io", True)
    # The saves that were taken have no end of their own.
    await until(lambda: not store.waiting())
    # One that is larger than the bound by itself is let through when nothing waits.
    await store.write(put_text("part_large", noise(2_000_000)))
    report = await store.verify()
    assert report.problems == ()
    await store.close()


async def test_a_newer_schema_is_read_and_left_alone(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await store.write(*base(), put_text("part_1"))
    await store.close()
    with opened_beside(tmp_path) as con:
        con.execute("ALTER TABLE session ADD COLUMN mood TEXT")
        make_newer(con)
    before = store_file(tmp_path).read_bytes()

    store = open_store(tmp_path)
    assert store.read_only
    store.save(put_text("part_2", final=False))
    for refused in (
        store.write(put_text("part_2")),
        hold(store, SES, "t"),
        store.delete(SES),
        store.leases.beat("t"),
    ):
        with pytest.raises(StorageFailed, match="newer Sidecar") as caught:
            await refused
        assert caught.value.kind == "newer_schema"
    assert (await store.logs.load(SES)).session == session()
    assert (await store.sessions.page(cwd=None, before=None, limit=9)).rows == (session(),)
    assert (await store.verify()).problems == ()
    await store.close()
    assert store_file(tmp_path).read_bytes() == before


async def test_what_a_newer_schema_moved_away_is_said_to_be_newer(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await store.close()
    with opened_beside(tmp_path) as con:
        con.execute("ALTER TABLE session RENAME TO conversation")
        con.execute("PRAGMA user_version = 99")
    store = open_store(tmp_path)
    with pytest.raises(StorageFailed) as caught:
        await store.logs.load(SES)
    assert caught.value.kind == "newer_schema"
    await store.close()


async def test_a_file_that_is_migrated_while_open_is_not_written_any_more(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await store.write(*base())
    with opened_beside(tmp_path) as con:
        make_newer(con)
    with pytest.raises(StorageFailed) as caught:
        await store.write(put_text("part_1"))
    assert caught.value.kind == "newer_schema"
    assert store.read_only
    assert (await store.logs.load(SES)).messages[0].parts == ()
    await store.close()


async def test_a_damaged_file_is_reported(tmp_path: Path) -> None:
    store_file(tmp_path).write_bytes(b"This is no database, whatever it may say. " * 100)
    with pytest.raises(StorageFailed, match="damaged") as caught:
        open_store(tmp_path)
    assert caught.value.kind == "corrupt"


async def test_damage_anywhere_is_told_and_never_a_crash(tmp_path: Path) -> None:
    store = open_store(tmp_path / "good")
    parts = [put_text(f"part_{n:03}", f"{n} " * 300, at=n) for n in range(60)]
    await store.write(*base(), *parts)
    whole = (await store.logs.load(SES)).messages
    await store.close()
    good = store_file(tmp_path / "good").read_bytes()
    dice = random.Random(3)
    for _ in range(60):
        data = bytearray(good)
        at = dice.randrange(100, len(data))
        data[at : at + 16] = dice.randbytes(16)
        folder = tmp_path / "bad"
        folder.mkdir()
        store_file(folder).write_bytes(data)
        told, messages = await look_at(folder)
        assert told or messages == whole
        shutil.rmtree(folder)


async def look_at(folder: Path) -> tuple[tuple[str, ...], tuple[Message, ...]]:
    """Give what is said to be wrong with a session, and what of it can be read."""
    try:
        store = open_store(folder)
    except StorageFailed as failed:
        return (failed.message,), ()
    found = (await store.verify()).problems
    try:
        stored = await store.logs.load(SES)
    except (StorageFailed, UnknownSession):
        return found, ()
    else:
        return found + stored.problems, stored.messages
    finally:
        await store.close()


def test_a_folder_that_is_a_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("no folder")
    with pytest.raises(StorageFailed) as caught:
        open_store(tmp_path / "data")
    assert caught.value.kind == "io"


def journal(folder: Path) -> Path:
    return folder / f"{store_file(folder).name}-journal"


def test_a_power_cut_while_the_file_was_made_is_taken_back(tmp_path: Path) -> None:
    """Before the file has a log it has a journal, which a connection for reading must not touch."""
    made = tmp_path / "made"
    made.mkdir()
    with opened_beside(made) as con:
        con.execute("PRAGMA cache_size = 1")
        con.execute("CREATE TABLE migration (name TEXT)")
        con.execute("BEGIN")
        con.executemany("INSERT INTO migration VALUES (?)", [(noise(2000),)] * 20)
        for file in (store_file, journal):
            shutil.copy(file(made), file(tmp_path))
    newest_pages(tmp_path).write_bytes(bytes(32))
    with pytest.raises(StorageFailed, match="already exists"):
        # It is no file of ours; but it was opened, and what was half done is gone.
        open_store(tmp_path)
    assert not journal(tmp_path).exists()
    with opened_beside(tmp_path) as con:
        assert con.execute("SELECT * FROM migration").fetchall() == []
