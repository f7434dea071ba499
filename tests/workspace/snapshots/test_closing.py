"""What ends when the snapshots of a folder are closed while they are used."""

import asyncio
import os

import pytest

from sidecar.core.errors import StorageFailed
from sidecar.workspace.snapshots import chain
from tests.workspace.snapshots.work import Work, now


async def test_what_stores_first_contents_ends_when_the_folder_is_closed(work: Work) -> None:
    work.write("a")
    snapshots = await work.open()
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        follower = group.create_task(snapshots.run())
        await asyncio.sleep(0)
        await snapshots.snapshot()
        await snapshots.close()
        await follower
    with pytest.raises(StorageFailed, match="closed meanwhile"):
        await snapshots.ready()


async def test_closing_waits_for_no_other_process(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chain, "PATIENCE", 1_000_000)
    monkeypatch.setattr(chain, "PAUSE", 0.001)
    work.write("a")
    snapshots = await work.open()
    await snapshots.snapshot()
    # Another process begins anew, and is never done.
    await work.store.snapshots.begin(os.fsencode(work.root), now())
    reading = asyncio.create_task(snapshots.ready())
    await asyncio.sleep(0.2)
    assert not reading.done()
    async with asyncio.timeout(30):
        await snapshots.close()
        with pytest.raises(StorageFailed, match="closed meanwhile"):
            await reading
