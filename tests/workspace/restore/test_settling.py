"""A start makes every folder whole, whoever uses it next; what cannot be done stops nothing."""

import asyncio
import shutil
from pathlib import Path

import pytest

from sidecar.workspace.restore.recovery import recover, settle
from sidecar.workspace.restore.restore_outcome import Recovered
from sidecar.workspace.shared_snapshots import SharedSnapshots
from tests.polling import until
from tests.workspace.restore.site import Site, now, plan
from tests.workspace.restore.test_recovery import leave_half, states, write_in_place

LIMIT = 30.0


async def test_what_was_settled_is_told_by_whoever_recovers_next(site: Site) -> None:
    before, after = await states(site)
    paths = len(plan(after, before))
    await leave_half(site, after, before)
    for _ in range(2):
        assert await settle(site.root, site.store) == Recovered("undone", paths)
        assert site.tree() == after
        assert await site.store.restores.running(site.base) is None, "others may end it"
    (site.root / "edited").write_bytes(b"mine")
    assert await recover(site.root, site.store) == Recovered("undone", paths)
    assert (site.root / "edited").read_bytes() == b"mine"
    assert await settle(site.root, site.store) is None
    assert await site.store.restores.roots() == ()


async def test_what_stands_is_cleaned_up_and_told_later(site: Site) -> None:
    before, after = await states(site)
    await leave_half(site, after, before)
    await site.store.restores.finish(1, "t", ())
    done = Recovered("finished", len(plan(after, before)))
    assert await settle(site.root, site.store) == done
    assert site.tree() == before
    assert await recover(site.root, site.store) == done


async def test_a_folder_that_cannot_be_made_whole_is_said_and_stops_no_other(
    site: Site, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "other").mkdir()
    other = Site(tmp_path / "other")
    await other.store.close()
    other.store = site.store
    afters = {}
    for one in (site, other):
        before, afters[one] = await states(one)
        await leave_half(one, afters[one], before)
    shutil.rmtree(site.root)
    site.root.write_bytes(b"a file now")
    write_in_place(other.root)
    shared = SharedSnapshots(site.store, site.data, now)
    async with asyncio.timeout(LIMIT), asyncio.TaskGroup() as group:
        group.create_task(shared.run())
        await until(lambda: f"in {other.root}" in caplog.text)
        await shared.close()
    assert f"a restore in {site.root}" in caplog.text
    assert "could not be taken back yet" in caplog.text
    kept = other.tree().keys() - afters[other].keys()
    assert kept == {b"edited.before-restore"}
    await shared.recover(str(other.root))
    told = shared.news[str(other.root)]
    assert told.endswith("What was changed meanwhile stays: edited."), "though `recover` knows less"
