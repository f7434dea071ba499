"""What a snapshot holds, what it leaves out, and how it goes on after a restart."""

import asyncio
import os
import shutil
import subprocess

import pytest

from sidecar.core.files.tree import TreeEntry
from sidecar.store.journal import Store
from sidecar.workspace.snapshots import chain
from sidecar.workspace.snapshots.snapshots import Snapshots
from sidecar.workspace.snapshots.steady_read import Limits
from tests.core.trees import holding
from tests.polling import until
from tests.workspace.snapshots.upheaval import plain
from tests.workspace.snapshots.work import EVENTS, RESCAN, Watch, Work, held, now

SMALL = Limits(untracked=1000, tracked=4000, snapshot=5000, workspace=100_000)


async def kinds(snapshots: Snapshots, before: int, after: int) -> dict[bytes, str]:
    delta = await snapshots.delta(before, after)  # type: ignore[arg-type]
    assert delta is not None
    return {change.path: change.kind for change in delta}


async def test_contents_can_be_read_from_the_store(work: Work) -> None:
    work.write("a", b"one" * 500)
    (work.root / "link").symlink_to(b"caf\xe9".decode("utf-8", "surrogateescape"))
    (work.root / "empty").mkdir(mode=0o700)
    snapshots = await work.open()
    first = await snapshots.snapshot()
    await snapshots.ready()
    entries = snapshots.entries()
    assert entries == plain(work.root)
    assert entries[b"empty"] == TreeEntry(0o040700)
    for path, data in ((b"a", b"one" * 500), (b"link", b"caf\xe9")):
        assert await work.store.outputs.read(entries[path].hash) == data
    work.write("a", b"two")
    second = await snapshots.snapshot()
    assert await kinds(snapshots, first, second) == {b"a": "edited"}
    delta = await snapshots.delta(second, first)
    assert delta is not None
    assert delta[0].new == entries[b"a"]
    assert await work.store.outputs.read(entries[b"a"].hash) == b"one" * 500


async def test_nothing_new_is_the_same_snapshot(work: Work) -> None:
    path = work.write("a")
    snapshots = await work.open()
    first = await snapshots.snapshot()
    await snapshots.ready()
    os.utime(path, (1, 1))
    path.write_bytes(b"other")
    path.write_bytes(b"text\n")
    assert await snapshots.snapshot() == first


@pytest.mark.parametrize("watch", [EVENTS, RESCAN], ids=["events", "rescan"])
async def test_a_restart_goes_on_where_it_was(work: Work, watch: Watch) -> None:
    for number in range(20):
        work.write(f"src/{number}", b"%d" % number)
    snapshots = await work.open(watch)
    first = await snapshots.snapshot()
    await snapshots.ready()
    await snapshots.close()

    again = await work.open(watch)
    assert await again.snapshot() == first
    await again.close()
    before = (work.root / "src/7").stat()
    # The same size and time stamps, which its time of change does not hide.
    work.write("src/7", b"X")
    os.utime(work.root / "src/7", ns=(before.st_atime_ns, before.st_mtime_ns))
    (work.root / "src/8").unlink()
    third = await work.open(watch)
    second = await third.snapshot()
    assert await kinds(third, first, second) == {b"src/7": "edited", b"src/8": "deleted"}
    assert third.entries() == plain(work.root)


async def test_a_restart_without_an_end_goes_on_where_it_was(work: Work) -> None:
    work.write(".gitignore", b".env\n")
    for name in ("a", "b", "gone"):
        work.write(name)
    killed = await work.open()
    await killed.snapshot()
    await killed.ready()
    assert await killed.note_edit(b".env") is None
    work.write(".env", b"SECRET=1\n")
    work.write("a", b"other")
    (work.root / "gone").unlink()
    head = await killed.snapshot()
    again = await work.open()
    assert await again.snapshot() == head
    assert again.entries() == killed.entries()
    assert again.entries().keys() == {b".gitignore", b"a", b"b", b".env"}
    work.write(".env", b"SECRET=2\n")
    work.write("a", b"OTHER")
    after = await again.snapshot()
    assert await kinds(again, head, after) == {b".env": "edited", b"a": "edited"}


async def test_a_beginning_that_was_not_stored_begins_anew(work: Work) -> None:
    work.write("a")
    snapshots = await work.open()
    first = await snapshots.snapshot()
    await snapshots.close()
    again = await work.open()
    second = await again.snapshot()
    assert second != first
    assert await again.delta(first, second) is None
    await again.ready()
    assert again.entries() == plain(work.root)


async def test_a_beginning_is_stored_in_the_background(work: Work) -> None:
    for number in range(700):
        work.write(f"src/{number % 7}/{number}", b"%d" % number)
    snapshots = await work.open()
    await snapshots.snapshot()
    entry = snapshots.entry(b"src/0/0")
    assert entry is not None
    assert (entry.lost, snapshots.status()["unread"]) == ("unread", 708)
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        running = group.create_task(snapshots.run())
        await snapshots.ready()
        running.cancel()
    assert snapshots.entries() == plain(work.root)
    assert snapshots.status()["unread"] == 0


async def test_what_changed_before_it_was_read_says_so(work: Work) -> None:
    path = work.write("a", b"one")
    work.write("b", b"one")
    snapshots = await work.open()
    first = await snapshots.snapshot()
    path.write_bytes(b"two!")
    second = await snapshots.snapshot()
    delta = await snapshots.delta(first, second)
    assert delta is not None
    (change,) = delta
    assert change.old is not None
    assert change.old.lost == "unread"
    assert change.new == holding(b"two!", path.stat().st_mode)
    await snapshots.ready()
    assert snapshots.entries() == plain(work.root)


async def test_sizes_over_a_limit_are_told_and_not_stored(work: Work) -> None:
    work.write("a")
    snapshots = await work.open(limits=SMALL)
    first = await snapshots.snapshot()
    await snapshots.ready()
    large = work.write("large", os.urandom(1001))
    for number in range(8):
        work.write(f"some{number}", os.urandom(900 + number))
    second = await snapshots.snapshot()
    entry = snapshots.entry(b"large")
    assert entry is not None
    assert (entry.lost, entry.hash, entry.size) == ("large", "", 1001)
    lost = {path for path, entry in snapshots.entries().items() if entry.lost == "full"}
    assert lost == {b"some5", b"some6", b"some7"}
    large.write_bytes(os.urandom(1001))
    third = await snapshots.snapshot()
    assert await kinds(snapshots, second, third) == {b"large": "edited"}
    assert b"large" in await kinds(snapshots, first, third)


async def test_a_workspace_takes_no_more_than_its_limit(work: Work) -> None:
    limits = Limits(untracked=10_000, tracked=10_000, snapshot=100_000, workspace=60_000)
    snapshots = await work.open(limits=limits)
    await snapshots.snapshot()
    await snapshots.ready()
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        running = group.create_task(snapshots.run())
        for _ in range(30):
            work.write("a", os.urandom(5000))
            await snapshots.snapshot()
            assert held(snapshots) <= 60_000
            # A step waits for more than its snapshots, and meanwhile the oldest ones go.
            await work.store.snapshots.held()
        await until(lambda: held(snapshots) <= 54_000)
        running.cancel()
    assert snapshots.entries() == plain(work.root)


async def test_nothing_goes_between_the_warning_and_nine_tenths(work: Work) -> None:
    limits = Limits(untracked=10_000, tracked=10_000, snapshot=100_000, workspace=60_000)
    snapshots = await work.open(limits=limits)
    await snapshots.snapshot()
    await snapshots.ready()
    for _ in range(10):
        work.write("a", os.urandom(5000))
        await snapshots.snapshot()
    before = held(snapshots)
    assert 48_000 < before < 54_000
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        running = group.create_task(snapshots.run())
        for _ in range(50):
            await snapshots.snapshot()
            await work.store.snapshots.held()
        running.cancel()
    assert held(snapshots) == before


async def test_what_a_tool_writes_is_covered_where_it_is_ignored(work: Work) -> None:
    work.write(".gitignore", b".env\nsecret/\n")
    env = work.write(".env", b"KEY=1")
    snapshots = await work.open()
    first = await snapshots.snapshot()
    await snapshots.ready()
    assert snapshots.entry(b".env") is None
    image = await snapshots.note_edit(b".env")
    assert image == holding(b"KEY=1", env.stat().st_mode)
    assert await snapshots.note_edit(b"secret/new") is None
    env.write_bytes(b"KEY=2")
    work.write("secret/new", b"made")
    work.write("secret/other", b"not ours")
    second = await snapshots.snapshot()
    found = await kinds(snapshots, first, second)
    assert found == {b".env": "edited", b"secret/new": "created"}
    assert await work.store.outputs.read(image.hash) == b"KEY=1"
    await snapshots.close()

    env.write_bytes(b"KEY=3")
    shutil.rmtree(work.root / "secret")
    again = await work.open()
    third = await again.snapshot()
    found = await kinds(again, second, third)
    assert found == {b".env": "edited", b"secret/new": "deleted"}


async def test_a_pre_image_is_kept_of_what_is_too_large_or_not_read_yet(work: Work) -> None:
    large = os.urandom(3000)
    work.write("large", large)
    work.write("small", b"small")
    snapshots = await work.open(limits=SMALL)
    first = await snapshots.snapshot()
    for path, data in (("large", large), ("small", b"small")):
        image = await snapshots.note_edit(path.encode())
        assert image is not None
        assert await work.store.outputs.read(image.hash) == data
        work.write(path, b"changed")
    second = await snapshots.snapshot()
    delta = await snapshots.delta(first, second)
    assert delta is not None
    assert [change.old.restorable for change in delta if change.old] == [True, True]
    assert await snapshots.note_edit(b".git/config") is None


async def test_other_rules_show_without_a_change_and_hide_nothing_that_is_known(
    work: Work,
) -> None:
    rules = work.write(".gitignore", b"out/\n")
    work.write("out/deep/a", b"built")
    work.write("notes", b"mine")
    work.write("sub/c", b"c")
    snapshots = await work.open()
    first = await snapshots.snapshot()
    await snapshots.ready()
    rules.write_bytes(b"notes\nsub/\n*.new\n")
    work.write("new", b"new")
    work.write("sub/c", b"changed and hidden at once")
    second = await snapshots.snapshot()
    assert await kinds(snapshots, first, second) == {
        b".gitignore": "edited",
        b"out": "seen",
        b"out/deep": "seen",
        b"out/deep/a": "seen",
        b"new": "created",
        b"sub/c": "edited",
    }
    await snapshots.close()
    snapshots = await work.open()
    work.write("out/deep/b", b"built")
    work.write("notes", b"still mine")
    work.write("sub/d", b"ignored")
    work.write("x.new", b"ignored")
    (work.root / "sub/c").unlink()
    third = await snapshots.snapshot()
    assert await kinds(snapshots, second, third) == {
        b"out/deep/b": "created",
        b"notes": "edited",
        b"sub/c": "deleted",
    }
    work.write("sub/c", b"back, and new by now")
    assert await snapshots.snapshot() == third
    assert b"sub" in snapshots.entries()


@pytest.mark.parametrize("watch", [EVENTS, RESCAN])
async def test_rules_hold_for_what_comes_with_them_and_after_them(work: Work, watch: Watch) -> None:
    work.write("back/a")
    snapshots = await work.open(watch)
    await snapshots.ready()
    shutil.rmtree(work.root / "back")
    await snapshots.snapshot()
    work.write("with/x.log")
    work.write("with/y")
    work.write(".gitignore", b"*.log\n")
    await snapshots.snapshot()
    work.write("back/x.log")
    work.write("back/y")
    await snapshots.snapshot()
    assert set(snapshots.entries()) == {b".gitignore", b"with", b"with/y", b"back", b"back/y"}


async def test_two_processes_share_one_chain(work: Work) -> None:
    work.write("a", b"1")
    one = await work.open()
    first = await one.snapshot()
    await one.ready()
    other_store = Store.open(work.data, now=now)
    other = await Snapshots.open(work.root, other_store.snapshots, data_dir=work.data, now=now)
    assert await other.snapshot() == first
    work.write("b/c", b"2")
    second = await one.snapshot()
    assert await other.snapshot() == second
    work.write("b/d", b"3")
    third = await other.snapshot()
    work.write("b/c", b"4")
    fourth = await one.snapshot()
    assert await kinds(one, second, third) == {b"b/d": "created"}
    assert await kinds(one, third, fourth) == {b"b/c": "edited"}
    assert await other.snapshot() == fourth
    assert one.entries() == other.entries() == plain(work.root)
    await other.close()
    await other_store.close()


async def test_of_two_processes_that_begin_at_once_one_tells_what_there_was(work: Work) -> None:
    for number in range(1200):
        work.write(f"{number % 7}/{number}", b"%d" % number)
    other_store = Store.open(work.data, now=now)
    one = await work.open()
    other = await Snapshots.open(work.root, other_store.snapshots, data_dir=work.data, now=now)
    await asyncio.gather(one.ready(), other.ready())
    (held,) = await other_store.snapshots.held()
    assert held.snapshots == 2
    assert await one.snapshot() == await other.snapshot()
    assert one.entries() == other.entries() == plain(work.root)
    await other.close()
    await other_store.close()


async def test_who_comes_while_a_beginning_is_told_takes_nothing_from_who_tells_it(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sidecar.workspace.snapshots.snapshots.BRIEFLY", 50)
    for number in range(1200):
        work.write(f"{number % 7}/{number}", b"%d" % number)
    one = await work.open()
    first = await one.snapshot()
    await one.note_edit(b"3/3")
    work.write("3/3", b"by a tool")
    telling = asyncio.ensure_future(one.ready())
    other = await work.open()
    assert await other.snapshot() == await one.snapshot()
    assert await kinds(one, first, await one.snapshot()) == {b"3/3": "edited"}
    assert one.entries() == other.entries() == plain(work.root)
    await telling


async def test_who_began_and_was_killed_is_not_waited_for_long(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chain, "PATIENCE", 2)
    work.write("a")
    one = await work.open()
    first = await one.snapshot()
    await work.store.snapshots.begin(os.fsencode(one.root), now())
    await one.ready()
    assert one.entries() == plain(work.root)
    assert await one.delta(first, await one.snapshot()) is None


async def test_git_is_never_read_as_content_nor_touched(work: Work) -> None:
    git = ["git", "init", "-q", str(work.root)]
    await asyncio.to_thread(subprocess.run, git, check=True, timeout=30)
    work.write("nested/.git/HEAD", b"x")
    work.write("nested/file")
    work.write("module/.git", b"gitdir: /nowhere")
    work.write("module/file")
    before = {path: path.lstat() for path in work.root.rglob("*") if ".git" in path.parts}
    snapshots = await work.open()
    await snapshots.ready()
    assert set(snapshots.entries()) == {b"nested", b"nested/file", b"module", b"module/file"}
    assert snapshots.entries() == plain(work.root)
    after = {path: path.lstat() for path in work.root.rglob("*") if ".git" in path.parts}
    assert {p: (s.st_mtime_ns, s.st_ctime_ns) for p, s in after.items()} == {
        p: (s.st_mtime_ns, s.st_ctime_ns) for p, s in before.items()
    }
