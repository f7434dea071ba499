"""A folder becomes a link while snapshots are taken: nothing that lies outside is stored."""

import secrets
import time
from contextlib import suppress
from pathlib import Path

import pytest

from sidecar.core.errors import StorageFailed
from sidecar.workspace.snapshots.snapshots import Snapshots
from tests.e2e.test_secrets import holding
from tests.store.contents import blob
from tests.workspace.snapshots.work import EVENTS, RESCAN, Work
from tests.workspace.swapping import SECONDS, swapping

FILES = 12


def fill(folder: Path) -> dict[str, str]:
    """Make files and links of the same names each time; gives words that stand nowhere else."""
    words = {name: secrets.token_hex(16) for name in ("small", "packed", "link", "name", "below")}
    (folder / "inner/deep").mkdir(parents=True)
    for number in range(FILES):
        (folder / f"inner/small{number}").write_text(words["small"])
        (folder / f"inner/deep/packed{number}").write_text(words["packed"] * 20)
        (folder / f"inner/link{number}").symlink_to(words["link"])
    (folder / f"inner/{words['name']}").write_text("")
    (folder / f"inner/deep/{words['below']}").mkdir()
    return words


async def go_on(one: Snapshots) -> int:
    """Take snapshots until the time is over; gives how many there were that found something."""
    end, seen, number = time.monotonic() + SECONDS, {await one.snapshot()}, 0
    while time.monotonic() < end:
        with suppress(StorageFailed):
            seen.add(await one.snapshot())
            await one.note_edit(b"folder/inner/small%d" % (number % FILES))
            await one.note_edit(b"folder/inner/link%d" % (number % FILES))
            await one.ready()
        number += 1
    return len(seen)


@pytest.mark.parametrize("watched", [True, False], ids=["by events", "by looking at all"])
@pytest.mark.parametrize("begun", [True, False], ids=["known before", "first seen so"])
async def test_nothing_outside_is_stored_while_a_folder_becomes_a_link(
    tmp_path: Path, watched: bool, begun: bool
) -> None:
    work = Work(tmp_path)
    ours, hers = fill(work.root / "folder"), fill(tmp_path / "outside")
    (work.root / "aside").symlink_to(tmp_path / "outside")
    one = await work.open(EVENTS if watched else RESCAN)
    try:
        if begun:
            await one.ready()
        with swapping(work.root / "folder", work.root / "aside"):
            assert await go_on(one) > 3
        await one.snapshot()
        await one.ready()
        found = {name for name, word in ours.items() if holding(work.data, word)}
        assert found == set(ours), "what is ours is stored, and found where it is"
        kept = [hers["small"], hers["packed"] * 20, hers["link"]]
        for word in (*kept, *(blob(text.encode()).hash for text in kept)):
            assert holding(work.data, word) == []
        if begun:
            # Of a folder that nobody has looked at before, names are taken as they are listed.
            assert holding(work.data, hers["name"]) == []
            assert holding(work.data, hers["below"]) == []
    finally:
        await one.close()
        assert (await work.store.verify()).problems == ()
        await work.store.close()
