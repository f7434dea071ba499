"""Free pages go back to the file system in slices; a file of before is rewritten once."""

import asyncio
from pathlib import Path
from time import perf_counter

import pytest

from sidecar.config.retention import Retention
from sidecar.core.parts import SessionId
from sidecar.session.transfer.archive import Ground
from sidecar.session.transfer.sweep import carry_out, shrink
from sidecar.store.connection import free_pages
from sidecar.store.format.migrations import MIGRATIONS
from sidecar.store.journal import Store
from tests.store.contents import noise
from tests.store.holders import ground_at
from tests.store.on_disk import newest_pages, opened_beside, store_file
from tests.store.samples import NOW, put_text
from tests.store.years import LATER, Years

COUNT = 60
SIZE = 40_000


async def emptied(folder: Path) -> tuple[Years, Ground]:
    """A store most of which is free."""
    years = Years(folder)
    for n in range(COUNT):
        await years.put("ses_1", noise(f"{n}", SIZE), part=f"part_{n}")
    years.now = LATER
    ground = ground_at(years.store, lambda: LATER)
    plan = await years.store.keeping.plan(Retention())
    assert (await carry_out(ground, plan)).outputs.count == COUNT
    return years, ground


async def test_the_file_gets_smaller_by_what_is_free(tmp_path: Path) -> None:
    years, ground = await emptied(tmp_path)
    before = await years.store.pages.space()
    assert before.free > COUNT * SIZE * 0.9
    told: list[tuple[str, int, int]] = []
    after = await shrink(ground, lambda *what: told.append(what))
    assert (after.free, after.size) == (0, before.size - before.free)
    assert store_file(tmp_path).stat().st_size == after.size
    assert newest_pages(tmp_path).stat().st_size == 0
    # It says how far it is, slice by slice, and ends with all of it.
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)
    assert told[-1] == ("space", before.free, before.free)
    assert (await years.store.verify()).problems == ()
    await years.store.close()


async def test_a_slice_ends_in_time_and_a_commit_comes_between(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A quick machine would do all of it in one.
    monkeypatch.setattr(free_pages, "SLICE_SECONDS", 0.0)
    years, _ = await emptied(tmp_path)
    left = (await years.store.pages.space()).free
    slices = 0
    while left:
        start = perf_counter()
        asked = years.store.pages.shrink()
        written = years.store.write(put_text("part_1", f"{slices}"))
        space, _ = await asyncio.gather(asked, written)
        assert perf_counter() - start < 5.0
        assert space.free < left
        left, slices = space.free, slices + 1
    assert slices > 1
    part = await years.store.logs.part(SessionId("ses_1"), put_text("part_1").part.id)
    assert str(slices - 1) in str(part)
    await years.store.close()


@pytest.mark.long
async def test_it_may_be_cancelled_between_any_two_slices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(free_pages, "SLICE_SECONDS", 0.0)
    years, ground = await emptied(tmp_path)
    before = await years.store.pages.space()
    heard = asyncio.Event()
    task = asyncio.get_running_loop().create_task(shrink(ground, lambda *_: heard.set()))
    await asyncio.wait_for(heard.wait(), 10)
    task.cancel()
    await asyncio.wait({task})
    after = await years.store.pages.space()
    assert 0 < after.free < before.free
    assert (await years.store.verify()).problems == ()
    assert (await shrink(ground)).free == 0
    await years.store.close()


def unable(folder: Path, version: int) -> None:
    """Make a file as an earlier Sidecar did."""
    with opened_beside(folder) as con:
        con.execute("PRAGMA auto_vacuum = NONE")
        con.execute("VACUUM")
        con.execute(f"PRAGMA user_version = {version}")


async def test_a_small_file_of_before_is_rewritten_when_it_is_migrated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    years, _ = await emptied(tmp_path)
    await years.store.close()
    unable(tmp_path, len(MIGRATIONS))
    monkeypatch.setattr("sidecar.store.journal.MIGRATIONS", (*MIGRATIONS, ("more", lambda _: None)))
    store = Store.open(tmp_path, now=lambda: NOW)
    assert (await store.pages.space()).shrinks
    await store.close()


async def test_a_large_one_waits_until_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    years, ground = await emptied(tmp_path)
    await years.store.close()
    unable(tmp_path, len(MIGRATIONS))
    monkeypatch.setattr(free_pages, "SMALL_BYTES", 0)
    monkeypatch.setattr("sidecar.store.journal.MIGRATIONS", (*MIGRATIONS, ("more", lambda _: None)))
    store = Store.open(tmp_path, now=lambda: NOW)
    ground = Ground(store, lambda: LATER, ground.owner)
    assert not (await shrink(ground)).shrinks
    await store.pages.rebuild()
    space = await store.pages.space()
    assert (space.shrinks, space.free) == (True, 0)
    await store.close()
