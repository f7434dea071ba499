"""Plans that are not carried out: nothing is touched, and it is said why."""

import asyncio
import os
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sidecar.core.errors import BadRequest, Overloaded
from sidecar.core.files.restore_plan import Action
from sidecar.core.files.tree import TreeEntry
from sidecar.workspace.restore import expectations, places
from sidecar.workspace.restore.expectations import Conflict
from sidecar.workspace.restore.places import spelt
from sidecar.workspace.restore.recovery import claimed, recover
from sidecar.workspace.restore.restore_outcome import FilesRestored, RestoreOutcome, RestoreRefused
from sidecar.workspace.restore.staging import make_stages
from sidecar.workspace.snapshots.ignore import STAGING
from tests.core.trees import holding
from tests.store.holders import begin, claim
from tests.workspace.restore.site import SES, Site, Tree, plan, record, recording

FILE = 0o100644


@pytest.mark.parametrize(
    ("path", "stands"),
    [
        (b"a", True),
        (b"A", False),
        (b"Dir/x", False),
        (b"dir/x", True),
        (b"dir/X", False),
        (b"closed/y", True),
        (b"Closed/y", False),
    ],
)
def test_a_name_in_other_letters_is_another_name(path: bytes, stands: bool) -> None:
    listed = {b"": {b"a", b"dir", b"closed"}, b"dir": {b"x"}}

    def names(folder: bytes) -> set[bytes]:
        if folder.lower() not in listed:
            raise PermissionError
        return listed[folder.lower()]

    assert spelt(path, names) == stands


async def test_a_rename_in_letters_alone_is_taken_back_where_the_disk_knows_no_difference(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.write("Dir/Read", b"me")
    site.write("b", b"b")
    before = await site.remember()
    (site.root / "Dir/Read").rename(site.root / "Dir/read")
    (site.root / "Dir").rename(site.root / "dir")
    after = await site.remember()

    def stat_in(at: int, name: bytes) -> os.stat_result | None:
        """Look as such a disk does; the folder on the way is `dir` for it however it is written."""
        folder = os.open(b".", os.O_RDONLY, dir_fd=at)
        names = {os.fsencode(one).lower(): os.fsencode(one) for one in os.listdir(folder)}
        os.close(folder)
        found = names.get(name.lower())
        return None if found is None else places.stat_in(at, found)

    monkeypatch.setattr(expectations, "stat_in", stat_in)
    assert await site.go(after, before) == FilesRestored()
    assert site.tree() == before
    site.write("B", b"mine")
    action = Action(b"B", before[b"b"], None)
    refused = await site.restore([action], record=recording(3, "B"))
    assert isinstance(refused, RestoreRefused)
    assert [(c.path, c.reason) for c in refused.conflicts] == [(b"B", expectations.THERE)]


def rewrite(root: Path) -> None:
    (root / "a").write_bytes(b"mine")


def rewrite_at_the_same_size(root: Path) -> None:
    (root / "a").write_bytes(b"TWO")


def remove(root: Path) -> None:
    (root / "a").unlink()


def make_folder(root: Path) -> None:
    (root / "a").unlink()
    (root / "a").mkdir()


def close(root: Path) -> None:
    (root / "a").chmod(0o600)


def put_there(root: Path) -> None:
    (root / "gone").write_bytes(b"mine")


def link_the_folder(root: Path) -> None:
    (root / "inner").rename(root.parent / "moved")
    (root / "inner").symlink_to(root.parent / "moved")


@pytest.mark.parametrize(
    ("deed", "path", "reason"),
    [
        (rewrite, b"a", expectations.CHANGED),
        (rewrite_at_the_same_size, b"a", expectations.CHANGED),
        (remove, b"a", expectations.GONE),
        (make_folder, b"a", expectations.OTHER_KIND),
        (close, b"a", expectations.OTHER_MODE),
        (put_there, b"gone", expectations.THERE),
        (link_the_folder, b"inner/b", expectations.BLOCKED),
    ],
)
@pytest.mark.parametrize("when", ["before", "meanwhile"])
async def test_what_changed_meanwhile_is_never_overwritten(
    site: Site, deed: Callable[[Path], None], path: bytes, reason: str, when: str
) -> None:
    site.write("a", b"one")
    site.write("gone", b"was here")
    site.write("inner/b", b"one")
    site.write("z", b"one")
    before = await site.remember()
    site.write("a", b"two")
    (site.root / "gone").unlink()
    site.write("inner/b", b"two")
    site.write("z", b"two")
    after = await site.remember()
    await site.store.write(*record(1, "after"))
    seen: list[Tree] = []

    def meddle(done: int, total: int) -> None:
        # The first portion has been staged, and nothing has been moved.
        if not seen:
            deed(site.root)
            seen.append({p: e for p, e in site.tree().items() if not p.startswith(STAGING)})

    if when == "before":
        meddle(0, 0)
    outcome = await site.restore(
        plan(after, before),
        progress=meddle,
        record=recording(2, "before"),
    )
    assert isinstance(outcome, RestoreRefused)
    assert outcome.conflicts[0].path == path
    if when == "before":
        assert outcome.conflicts[0].reason == reason
    assert site.tree() == seen[0]
    assert len((await site.store.logs.load(SES)).records) == 1
    assert await site.store.restores.roots() == ()


@pytest.mark.parametrize(
    "path",
    [
        b".git/config", b"sub/.GIT/x", b".hg", b"../x", b"a/../../x", b"/etc/x", b"", b"a//b",
        b"a/./b", b"a\0b", b".sidecar-restore-1/x",
    ],
)  # fmt: skip
async def test_paths_that_no_restore_touches(site: Site, path: bytes) -> None:
    entry = holding(b"")
    with pytest.raises(BadRequest):
        await site.restore([Action(path, entry, None)])
    assert site.tree() == {}


async def test_a_plan_names_a_path_once_and_only_what_is_stored(site: Site) -> None:
    entry = holding(b"")
    twice = [Action(b"a", entry, None), Action(b"a", entry, None)]
    with pytest.raises(BadRequest, match="twice"):
        await site.restore(twice)
    large = TreeEntry(FILE, "", 99, "large", 5)
    with pytest.raises(BadRequest, match="not stored"):
        await site.restore([Action(b"a", large, None)])
    swept = holding(b"swept")
    with pytest.raises(BadRequest, match="not stored any more"):
        await site.restore([Action(b"a", swept, None)])
    assert site.tree() == {}
    assert await site.store.restores.roots() == ()


async def test_nothing_is_written_through_a_link_out_of_the_root(site: Site) -> None:
    outside = site.root.parent / "outside"
    outside.mkdir()
    (site.root / "way").symlink_to(outside)
    action = Action(b"way/file", holding(b"merged"), None, b"merged")
    outcome = await site.restore([action])
    assert outcome == RestoreRefused((Conflict(b"way/file", expectations.BLOCKED),))
    assert list(outside.iterdir()) == []


async def test_merged_bytes_are_written_instead_of_a_blob(site: Site) -> None:
    site.write("a", b"mine")
    before = await site.remember()
    merged = holding(b"merged")
    action = Action(b"a", merged, before[b"a"], b"merged")
    assert await site.restore([action]) == FilesRestored()
    assert (site.root / "a").read_bytes() == b"merged"


async def test_a_file_that_is_not_stored_can_go_where_its_time_is_known(site: Site) -> None:
    found = site.write("large", b"large").stat()
    known = TreeEntry(found.st_mode, "", 5, "large", found.st_mtime_ns)
    other = TreeEntry(found.st_mode, "", 5, "large", found.st_mtime_ns - 1)
    refused = await site.restore([Action(b"large", None, other)])
    assert refused == RestoreRefused((Conflict(b"large", expectations.CHANGED),))
    assert await site.restore([Action(b"large", None, known)]) == FilesRestored()
    assert site.tree() == {}


async def test_one_restore_at_a_time(site: Site) -> None:
    root = site.base
    action = Action(b"a", holding(b""), None)
    with claimed(root) as claim:
        await begin(site.store, claim)
        assert await site.store.restores.running(root) == claim.owner
        with pytest.raises(Overloaded, match=f"process {os.getpid()}"):
            await site.restore([action])
        assert await recover(site.root, site.store) is None
    # It was left without an end, by this same process.
    assert await site.restore([action]) == FilesRestored()
    assert await site.store.restores.running(root) is None


async def test_a_dead_owners_restore_ends(site: Site) -> None:
    root = site.base
    ours = claim(root, "token")
    dead = replace(ours, owner=replace(ours.owner, pid=1))
    stages = (b".sidecar-restore-x",)
    await asyncio.to_thread(make_stages, root, stages)
    await begin(site.store, dead, *stages)
    ended = await recover(site.root, site.store)
    assert ended is not None
    assert (ended.how, ended.paths) == ("undone", 0)
    assert site.tree() == {}


async def test_what_is_cancelled_before_it_stands_leaves_nothing(site: Site) -> None:
    for number in range(30):
        site.write(f"f{number}", b"one")
    before = await site.remember()
    for number in range(30):
        site.write(f"f{number}", b"two")
    after = await site.remember()
    ends = Counter[str]()
    for at in range(0, 62, 3):
        tasks: list[asyncio.Task[RestoreOutcome]] = []

        def cancel(
            done: int, total: int, at: int = at, tasks: list[asyncio.Task[RestoreOutcome]] = tasks
        ) -> None:
            if done >= at:
                tasks[0].cancel()

        state = site.tree()
        other = before if state == after else after
        async with asyncio.TaskGroup() as group:
            task = group.create_task(site.restore(plan(state, other), progress=cancel))
            tasks.append(task)
            await asyncio.wait([task])
        ends["cancelled" if task.cancelled() else "stands"] += 1
        assert site.tree() == (state if task.cancelled() else other)
        assert await site.store.restores.roots() == ()
    assert ends["cancelled"]
