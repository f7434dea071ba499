"""Restores that a process left in the middle, and what somebody did before they were ended."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from sidecar.store.content.restores import Unfinished
from sidecar.workspace.restore.apply_steps import apply
from sidecar.workspace.restore.expectations import check
from sidecar.workspace.restore.layout import lay_out
from sidecar.workspace.restore.recovery import recover
from sidecar.workspace.restore.restore_outcome import FilesRestored, Recovered
from sidecar.workspace.restore.staging import batches, make_stages, remove_stages, write_batch
from sidecar.workspace.restore.undo_steps import STAYS, undo
from sidecar.workspace.snapshots.snapshots import Snapshots
from tests.store.holders import begin, claim
from tests.workspace.restore.site import Site, Tree, look, now, plan

STAGE = (b".sidecar-restore-x",)


class Killed(Exception):
    """Stands for the end of a process."""


async def leave_half(site: Site, before: Tree, after: Tree, steps_done: int = 1 << 30) -> None:
    """Restore as far as a step and leave it so, as a process that was killed does."""
    actions = plan(before, after)
    checked, conflicts = check(site.base, actions, lambda: False)
    assert conflicts == []
    layout = lay_out(site.base, checked)
    rows = site.store.restores
    names = {e.hash for e in (*before.values(), *after.values()) if e.hash}
    number = (await begin(site.store, claim(site.base, "t"), *STAGE, coming=names)).id
    make_stages(site.base, STAGE)
    contents = await rows.contents(names)
    marks = {}
    for batch in batches(layout.puts):
        marks |= write_batch(site.base, STAGE, batch, contents)
    steps = layout.steps(marks)
    await rows.intend(number, "t", steps)

    def done(count: int) -> None:
        if count >= steps_done:
            raise Killed

    try:
        apply(site.base, STAGE, steps, {}, done)
    except Killed:
        return


async def states(site: Site) -> tuple[Tree, Tree]:
    site.write("edited", b"one")
    site.write("folder/gone", b"was here")
    site.write("kind", b"file")
    before = await site.remember()
    site.write("edited", b"two!")
    (site.root / "folder/gone").unlink()
    (site.root / "folder").rmdir()
    (site.root / "kind").unlink()
    (site.root / "kind").mkdir()
    site.write("new", b"new")
    site.write("deep/er/new", b"new", 0o600)
    (site.root / "empty").mkdir(mode=0o711)
    return before, await site.remember()


async def test_whatever_was_done_is_undone(site: Site) -> None:
    before, after = await states(site)
    for done in range(1, 14):
        await leave_half(site, after, before, done)
        ended = await recover(site.root, site.store)
        assert ended is not None
        assert (ended.how, ended.left) == ("undone", ())
        assert site.tree() == after, done
        assert await recover(site.root, site.store) is None


async def test_the_next_restore_ends_it_first(site: Site) -> None:
    before, after = await states(site)
    await leave_half(site, after, before)
    told: list[bytes] = []
    # What is expected is what stood before the one that was broken off.
    await recover(site.root, site.store, touched=lambda *paths: told.extend(paths))
    assert {b"edited", b"new", b"folder/gone"} <= set(told)
    assert await site.go(after, before) == FilesRestored()
    assert site.tree() == before


async def test_it_is_undone_also_when_its_folder_was_removed(site: Site) -> None:
    before, after = await states(site)
    for done in (3, 1 << 30):
        await leave_half(site, after, before, done)
        shutil.rmtree(site.root / os.fsdecode(STAGE[0]))
        ended = await recover(site.root, site.store)
        assert ended is not None
        assert ended.left == ()
        assert site.tree() == after


@pytest.mark.parametrize("told", [False, True])
async def test_what_was_undone_already_is_not_undone_again(site: Site, told: bool) -> None:
    before, after = await states(site)
    await leave_half(site, after, before)
    found = await site.store.restores.adopt(claim(site.base, "again"))
    assert isinstance(found, Unfinished)
    assert undo(site.base, found.stages, found.steps, {}) == []
    # Where the store's disk is full, it cannot be written down.
    if told:
        await site.store.restores.undone(found.id)
        remove_stages(site.base, found.stages)
    (site.root / "edited").unlink()
    (site.root / "new").write_bytes(b"mine")
    ended = await recover(site.root, site.store)
    assert ended is not None
    assert (ended.how, ended.left) == ("undone", ())
    assert not (site.root / "edited").exists()
    assert (site.root / "new").read_bytes() == b"mine"
    assert site.tree().keys() == after.keys() - {b"edited"}


def save_anew(root: Path) -> None:
    (root / "saved").write_bytes(b"mine")
    (root / "saved").replace(root / "edited")


def write_in_place(root: Path) -> None:
    (root / "edited").write_bytes(b"mine")


@pytest.mark.parametrize("deed", [save_anew, write_in_place])
async def test_what_somebody_wrote_meanwhile_stays(
    site: Site, deed: Callable[[Path], None]
) -> None:
    before, after = await states(site)
    await leave_half(site, after, before)
    deed(site.root)
    ended = await recover(site.root, site.store)
    assert ended is not None
    assert [c.path for c in ended.left] == [b"edited"]
    assert "edited.before-restore" in ended.left[0].reason
    assert (site.root / "edited").read_bytes() == b"mine"
    assert (site.root / "edited.before-restore").read_bytes() == b"two!"
    rest = {p: e for p, e in site.tree().items() if not p.startswith(b"edited")}
    assert rest == {p: e for p, e in after.items() if p != b"edited"}


async def test_what_was_made_by_it_and_written_meanwhile_stays(site: Site) -> None:
    before, after = await states(site)
    await leave_half(site, after, before)
    (site.root / "folder/gone").write_bytes(b"edited again")
    site.write("folder/mine", b"mine")
    ended = await recover(site.root, site.store)
    assert ended is not None
    assert {c.path: c.reason for c in ended.left}[b"folder/gone"] == STAYS
    assert {c.path for c in ended.left} == {b"folder/gone", b"folder"}
    assert (site.root / "folder/gone").read_bytes() == b"edited again"
    assert (site.root / "folder/mine").read_bytes() == b"mine"


async def test_snapshots_do_not_see_what_a_restore_keeps_for_itself(site: Site) -> None:
    before, after = await states(site)
    snapshots = await Snapshots.open(site.root, site.store.snapshots, data_dir=site.data, now=now)
    await snapshots.ready()
    first = await snapshots.snapshot()
    await leave_half(site, after, before)
    await snapshots.snapshot()
    assert not [path for path in snapshots.entries() if path.startswith(b".sidecar")]
    await recover(site.root, site.store, touched=snapshots.mark_dirty)
    last = await snapshots.snapshot()
    assert await snapshots.delta(first, last) == ()
    await snapshots.close()


async def test_a_restore_that_stands_is_cleaned_up(site: Site) -> None:
    before, after = await states(site)
    await leave_half(site, after, before)
    await site.store.restores.finish(1, "t", ())
    ended = await recover(site.root, site.store)
    assert ended == Recovered("finished", len(plan(after, before)))
    assert site.tree() == before


CLOSED = """
import asyncio, os, sys
from pathlib import Path
from tempfile import TemporaryDirectory
from tests.workspace.restore.site import Site

async def main(folder):
    if os.getuid() == 0:
        # Who may do anything has no closed folders. What Python loads late is loaded by this.
        Path(folder, "first").mkdir()
        first = Site(Path(folder, "first"))
        first.write("a")
        await first.go(await first.remember(), {})
        await first.store.close()
        os.chown(folder, 65534, 65534)
        os.setgid(65534)
        os.setuid(65534)
    os.umask(0o022)
    site = Site(Path(folder))
    site.write("closed/a", b"one")
    before = await site.remember()
    site.write("closed/a", b"two")
    site.write("closed/b", b"new")
    site.write("opened/c", b"c")
    (site.root / "opened").chmod(0o555)
    (site.root / "closed").chmod(0o555)
    after = await site.remember()
    before[b"closed"] = after[b"closed"]
    for now, then in ((after, before), (before, after), (after, before)):
        print(await site.go(now, then))
        assert site.tree() == then
    await site.store.close()
asyncio.run(main(sys.argv[1]))
"""


@pytest.fixture
def everybodys() -> Iterator[Path]:
    """A folder that other users may enter; pytest closes its own whenever a run begins."""
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)
        yield Path(folder)


def test_folders_that_are_closed_are_opened_for_it_and_closed_again(everybodys: Path) -> None:
    folder = everybodys / "user"
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", CLOSED, str(folder)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3]), "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stdout == "FilesRestored(kept=(), leftover='')\n" * 3, done.stderr
    assert look(folder / "work")[0].keys() == {b"closed", b"closed/a"}
