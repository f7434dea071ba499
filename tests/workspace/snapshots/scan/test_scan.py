"""A look at everything finds what changed, however little of it is looked into by itself."""

import os
import shutil
from collections.abc import AsyncIterator

import pytest

from sidecar.workspace.snapshots.snapshots import Snapshots
from tests.workspace.snapshots.upheaval import plain
from tests.workspace.snapshots.work import EVENTS, RESCAN, Watch, Work, now

WATCHES = pytest.mark.parametrize("watch", [EVENTS, RESCAN], ids=["events", "rescan"])


@pytest.fixture
async def opened(work: Work) -> AsyncIterator[list[Snapshots]]:
    made: list[Snapshots] = []
    yield made
    for one in made:
        await one.close()


async def begun(work: Work, opened: list[Snapshots], watch: Watch) -> Snapshots:
    """Begin where all time stamps are old enough to prove something, and where they did so."""
    made = await Snapshots.open(
        work.root,
        work.store.snapshots,
        data_dir=work.data,
        now=lambda: now() + 10_000,
        watch=watch,
    )
    opened.append(made)
    await made.ready()
    for _ in range(2):
        await made.snapshot()
    return made


@WATCHES
async def test_other_rules_hold_at_once_where_others_were_read_elsewhere(
    work: Work, opened: list[Snapshots], watch: Watch
) -> None:
    work.write("one/x")
    work.write("two/.gitignore", b"*.log\n")
    work.write("two/in/a.log")
    snapshots = await begun(work, opened, watch)
    work.write("one/.gitignore", b"*.tmp\n")
    before = await snapshots.snapshot()
    work.write("two/.gitignore", b"")
    delta = await snapshots.delta(before, await snapshots.snapshot())
    assert delta is not None
    kinds = {change.path: change.old.lost if change.old else "absent" for change in delta}
    assert kinds == {b"two/.gitignore": None, b"two/in/a.log": "ignored"}


@WATCHES
async def test_rules_of_a_folder_go_with_it(
    work: Work, opened: list[Snapshots], watch: Watch
) -> None:
    work.write("in/.gitignore", b"*.log\n")
    work.write("in/a.log")
    snapshots = await begun(work, opened, watch)
    shutil.rmtree(work.root / "in")
    before = await snapshots.snapshot()
    work.write("in/a.log", b"new")
    delta = await snapshots.delta(before, await snapshots.snapshot())
    assert delta is not None
    assert {change.path: change.old for change in delta} == {b"in": None, b"in/a.log": None}


@WATCHES
async def test_what_is_followed_is_looked_at_where_the_folder_around_changed(
    work: Work, opened: list[Snapshots], watch: Watch
) -> None:
    work.write("in/.gitignore", b"built/\n")
    work.write("in/built/own", b"1")
    snapshots = await begun(work, opened, watch)
    assert await snapshots.note_edit(b"in/built/own") is not None
    for data in (b"22", b"333"):
        work.write("in/built/own", data)
        work.write(f"in/new{len(data)}")
        work.write("in/.gitignore", b"built/\n" + data)
        await snapshots.snapshot()
        entry = snapshots.entry(b"in/built/own")
        assert entry is not None
        assert entry.size == len(data)
    shutil.rmtree(work.root / "in/built")
    await snapshots.snapshot()
    assert snapshots.entry(b"in/built/own") is None


@WATCHES
@pytest.mark.parametrize("mode", [0o000, 0o444], ids=["closed", "listed only"])
@pytest.mark.usefixtures("modes_hold")
async def test_nothing_in_a_folder_that_is_closed_to_us_is_gone(
    work: Work, opened: list[Snapshots], watch: Watch, mode: int
) -> None:
    work.write("in/.gitignore", b"*.log\n")
    work.write("in/deep/file")
    work.write("in/file")
    work.write("in/a.log")
    snapshots = await begun(work, opened, watch)
    before = set(snapshots.entries())
    folder = work.root / "in"
    folder.chmod(mode)
    try:
        for _ in range(2):
            snapshots.mark_dirty(b"in/file")
            await snapshots.snapshot()
            assert set(snapshots.entries()) == before
    finally:
        folder.chmod(0o755)
    work.write("in/deep/new")
    work.write("in/b.log")
    await snapshots.snapshot()
    assert set(snapshots.entries()) == {*before, b"in/deep/new"}


@WATCHES
async def test_what_another_process_follows_is_followed_here(
    work: Work, opened: list[Snapshots], watch: Watch
) -> None:
    work.write("in/.gitignore", b"built/\n")
    work.write("in/built/own", b"1")
    one, other = await begun(work, opened, watch), await begun(work, opened, watch)
    assert await one.note_edit(b"in/built/own") is not None
    work.write("in/built/own", b"22")
    await one.snapshot()
    for data in (b"333", b"4444"):
        work.write("in/new", data)
        await other.snapshot()
        work.write("in/built/own", data)
        await other.snapshot()
        entry = other.entry(b"in/built/own")
        assert entry is not None
        assert entry.size == len(data)


async def test_what_is_in_a_folder_was_listed_when_the_look_began(work: Work) -> None:
    # Reading may take long, and a name that came within the folder's time stamp shows in no stat.
    at_once = 2

    def later() -> int:
        nonlocal at_once
        at_once -= 1
        return now() + (0 if at_once >= 0 else 3_600_000)

    work.write(".gitignore", b"x\n")
    work.write("x")
    work.write("in/y")
    made = await Snapshots.open(
        work.root, work.store.snapshots, data_dir=work.data, now=later, watch=None
    )
    await made.snapshot()
    await made.ready()
    racy = [await is_racy(work, b"in")]
    work.write("in/new")
    at_once = 1
    await made.snapshot()
    await made.close()
    racy.append(await is_racy(work, b"in"))
    assert racy == [True, True]


async def is_racy(work: Work, path: bytes) -> bool:
    """Whether what is stored of a path's stat proves nothing."""
    stored = await work.store.snapshots.load(os.fsencode(work.root))
    assert stored is not None
    return stored.tree[path].racy


@WATCHES
async def test_other_rules_hold_where_the_first_look_at_them_came_to_nothing(
    work: Work, opened: list[Snapshots], watch: Watch
) -> None:
    rules = work.write(".gitignore", b"*.log\n")
    work.write("in/a.log")
    one, other = await begun(work, opened, watch), await begun(work, opened, watch)
    work.write("new")
    head = await one.snapshot()
    rules.unlink()
    # The other one finds the rules gone before it learns that the chain has moved on.
    delta = await other.delta(head, await other.snapshot())
    assert delta is not None
    kinds = {change.path: change.old.lost if change.old else "absent" for change in delta}
    assert kinds == {b".gitignore": None, b"in/a.log": "ignored"}


@WATCHES
@pytest.mark.parametrize("how", ["file", "link"])
async def test_what_is_followed_is_gone_with_the_folder_around(
    work: Work, opened: list[Snapshots], watch: Watch, how: str
) -> None:
    work.write("in/.gitignore", b"built/\n")
    work.write("in/built/own", b"1")
    snapshots = await begun(work, opened, watch)
    assert await snapshots.note_edit(b"in/built/own") is not None
    folder = work.root / "in"
    folder.rename(work.root / "aside")
    if how == "link":
        folder.symlink_to("aside")
    else:
        work.write("in")
    await snapshots.snapshot()
    assert snapshots.entry(b"in/built/own") is None
    await snapshots.snapshot()
    assert snapshots.entries() == plain(work.root, [b"built"])


@WATCHES
async def test_rules_that_another_process_saw_change_hold_here(
    work: Work, opened: list[Snapshots], watch: Watch
) -> None:
    work.write("in/.gitignore", b"*.log\n")
    work.write("in/deep/a")
    one, other = await begun(work, opened, watch), await begun(work, opened, watch)
    work.write("in/.gitignore", b"*.tmp\n")
    await one.snapshot()
    # With the stats that it learned.
    await one.close()
    for _ in range(2):
        await other.snapshot()
    work.write("in/deep/b.log")
    work.write("in/deep/c.tmp")
    await other.snapshot()
    inner = {path for path in other.entries() if path.startswith(b"in/deep/")}
    assert inner == {b"in/deep/a", b"in/deep/b.log"}


@WATCHES
@pytest.mark.parametrize("folder", ["", "in/"], ids=["root", "inner"])
async def test_rules_that_ignore_their_own_file_are_read_again(
    work: Work, opened: list[Snapshots], watch: Watch, folder: str
) -> None:
    work.write(f"{folder}.gitignore", b"*\n!a\n!b\n!deep\n")
    work.write(f"{folder}a")
    work.write(f"{folder}deep/x.log")
    snapshots = await begun(work, opened, watch)
    names = {name.encode() for name in (f"{folder}deep/x.log", f"{folder}.gitignore")}
    assert not names & snapshots.entries().keys()
    work.write(f"{folder}.gitignore", b"b\n")
    await snapshots.snapshot()
    assert names <= snapshots.entries().keys()
