"""What a snapshot holds, what it leaves out, and how it goes on after a restart."""

import asyncio
import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sidecar.core.digest import digest
from sidecar.core.errors import BadRequest
from sidecar.core.tree import Entry
from sidecar.store.journal import Store
from sidecar.workspace.snapshots import inotify
from sidecar.workspace.snapshots.choosing import Choose, choose, why_no_events
from sidecar.workspace.snapshots.cookies import CookieWatch
from sidecar.workspace.snapshots.inotify import InotifyWatch
from sidecar.workspace.snapshots.reading import Limits
from sidecar.workspace.snapshots.roots import check_root
from sidecar.workspace.snapshots.snapshots import Snapshots
from tests.workspace.snapshots.test_any_change import now
from tests.workspace.snapshots.upheaval import plain

SMALL = Limits(untracked=1000, tracked=4000, snapshot=5000, workspace=100_000)


class Work:
    """A folder with snapshots that are closed and opened again."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "work"
        self.data = folder / "data"
        self.root.mkdir()
        self.store = Store.open(self.data, now=now)
        self.open_ones: list[Snapshots] = []

    async def open(self, watch: Choose | None = choose, limits: Limits | None = None) -> Snapshots:
        one = await Snapshots.open(
            self.root,
            self.store.snapshots,
            data_dir=self.data,
            now=now,
            limits=limits,
            watch=watch,
        )
        self.open_ones.append(one)
        return one

    def write(self, path: str | bytes, data: bytes = b"text\n") -> Path:
        real = self.root / os.fsdecode(path)
        real.parent.mkdir(parents=True, exist_ok=True)
        real.write_bytes(data)
        return real


@pytest.fixture
async def work(tmp_path: Path) -> AsyncIterator[Work]:
    made = Work(tmp_path)
    yield made
    for one in made.open_ones:
        await one.close()
    assert (await made.store.verify()).problems == ()
    await made.store.close()


def longest_queue() -> int:
    return int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())


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
    assert entries[b"empty"] == Entry(0o040700)
    for path, data in ((b"a", b"one" * 500), (b"link", b"caf\xe9")):
        assert await work.store.blob(entries[path].hash) == data
    work.write("a", b"two")
    second = await snapshots.snapshot()
    assert await kinds(snapshots, first, second) == {b"a": "edited"}
    delta = await snapshots.delta(second, first)
    assert delta is not None
    assert delta[0].new == entries[b"a"]
    assert await work.store.blob(entries[b"a"].hash) == b"one" * 500


async def test_nothing_new_is_the_same_snapshot(work: Work) -> None:
    path = work.write("a")
    snapshots = await work.open()
    first = await snapshots.snapshot()
    await snapshots.ready()
    os.utime(path, (1, 1))
    path.write_bytes(b"other")
    path.write_bytes(b"text\n")
    assert await snapshots.snapshot() == first


@pytest.mark.parametrize("watch", [choose, None], ids=["events", "rescan"])
async def test_a_restart_goes_on_where_it_was(work: Work, watch: Choose | None) -> None:
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
    assert change.new == Entry(path.stat().st_mode, digest(b"two!"), 4)
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
            held = snapshots.status()["bytes"]
            assert isinstance(held, int)
            assert held <= 60_000
        # Nothing tells when a sweep is done.
        while snapshots.status()["bytes"] > 48_000:  # type: ignore[operator] # noqa: ASYNC110 - see above
            await asyncio.sleep(0)
        running.cancel()
    assert snapshots.entries() == plain(work.root)


async def test_what_a_tool_writes_is_covered_where_it_is_ignored(work: Work) -> None:
    work.write(".gitignore", b".env\nsecret/\n")
    env = work.write(".env", b"KEY=1")
    snapshots = await work.open()
    first = await snapshots.snapshot()
    await snapshots.ready()
    assert snapshots.entry(b".env") is None
    image = await snapshots.note_edit(b".env")
    assert image == Entry(env.stat().st_mode, digest(b"KEY=1"), 5)
    assert await snapshots.note_edit(b"secret/new") is None
    env.write_bytes(b"KEY=2")
    work.write("secret/new", b"made")
    work.write("secret/other", b"not ours")
    second = await snapshots.snapshot()
    found = await kinds(snapshots, first, second)
    assert found == {b".env": "edited", b"secret/new": "created"}
    assert await work.store.blob(image.hash) == b"KEY=1"
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
        assert await work.store.blob(image.hash) == data
        work.write(path, b"changed")
    second = await snapshots.snapshot()
    delta = await snapshots.delta(first, second)
    assert delta is not None
    assert [change.old.restorable for change in delta if change.old] == [True, True]
    assert await snapshots.note_edit(b".git/config") is None


async def test_other_rules_hide_and_show_without_a_change(work: Work) -> None:
    rules = work.write(".gitignore", b"out/\n")
    work.write("out/deep/a", b"built")
    work.write("notes", b"mine")
    snapshots = await work.open()
    first = await snapshots.snapshot()
    await snapshots.ready()
    rules.write_bytes(b"notes\n")
    work.write("new", b"new")
    second = await snapshots.snapshot()
    assert await kinds(snapshots, first, second) == {
        b".gitignore": "edited",
        b"out": "seen",
        b"out/deep": "seen",
        b"out/deep/a": "seen",
        b"new": "created",
        b"notes": "lost",
    }
    work.write("out/deep/b", b"built")
    work.write("notes", b"still mine")
    third = await snapshots.snapshot()
    assert await kinds(snapshots, second, third) == {b"out/deep/b": "created"}


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


async def test_the_root_may_be_replaced_by_another_folder(work: Work) -> None:
    work.write("a/b", b"old")
    snapshots = await work.open()
    await snapshots.ready()
    work.root.rename(work.root.with_name("moved"))
    work.root.mkdir()
    work.write("a/c", b"new")
    await snapshots.snapshot()
    assert snapshots.entries() == plain(work.root)
    work.write("a/d", b"newer")
    await snapshots.snapshot()
    assert snapshots.entries() == plain(work.root)


async def test_without_watches_everything_is_looked_at_and_it_is_said_why(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    work.write("a/b/c")
    snapshots = await work.open()
    await snapshots.ready()
    assert snapshots.status()["mode"] == "inotify"

    def full(*_: object) -> None:
        raise inotify.WatchFailed(inotify._reason(28))

    monkeypatch.setattr(InotifyWatch, "add", full)
    work.write("d/e")
    await snapshots.snapshot()
    status = snapshots.status()
    assert status["mode"] == "rescan"
    assert "max_user_watches" in str(status["reason"])
    work.write("a/b/c", b"changed")
    await snapshots.snapshot()
    assert snapshots.entries() == plain(work.root)


async def test_a_queue_that_overflows_loses_nothing(work: Work) -> None:
    most = longest_queue()
    snapshots = await work.open()
    await snapshots.ready()
    work.write("a/b", b"first")
    await snapshots.snapshot()
    one, two = work.write("x"), work.write("y")
    # Two files in turn, because equal events one after the other count once.
    for number in range(most // 2 + 100):
        os.utime((one, two)[number % 2], (number, number))
    work.write("a/b", b"second")
    work.write("a/n/e/w", b"third")
    await snapshots.snapshot()
    assert snapshots.entries() == plain(work.root)
    work.write("a/n/e/w", b"fourth")
    await snapshots.snapshot()
    assert snapshots.entries() == plain(work.root)
    assert snapshots.status()["mode"] == "inotify"


async def test_a_cookie_watch_that_ends_is_replaced_by_looking(work: Work) -> None:
    work.write("a")
    snapshots = await work.open(CookieWatch)
    await snapshots.ready()
    work.write("b/c")
    await snapshots.snapshot()
    assert snapshots.status()["mode"] == "watchfiles"
    work.write(b"caf\xe9")
    await snapshots.snapshot()
    assert snapshots.entries() == plain(work.root)
    assert snapshots.status()["mode"] == "rescan"


async def test_a_recheck_finds_what_no_event_told(work: Work, tmp_path: Path) -> None:
    path = work.write("a", b"one")
    snapshots = await work.open()
    await snapshots.ready()
    assert await snapshots.recheck() == ()
    os.link(path, tmp_path / "outside")
    (tmp_path / "outside").write_bytes(b"two")
    assert await snapshots.recheck() == (b"a",)
    assert snapshots.status()["mode"] == "rescan"
    await snapshots.snapshot()
    assert snapshots.entries() == plain(work.root)


def test_some_folders_are_refused(tmp_path: Path) -> None:
    home, data, project = tmp_path / "home", tmp_path / "home/data", tmp_path / "home/project"
    for folder in (data / "inner", project):
        folder.mkdir(parents=True)
    assert check_root(project, data, home) == project
    for folder in (Path("/"), home, tmp_path, data, data / "inner", tmp_path / "missing"):
        with pytest.raises(BadRequest):
            check_root(folder, data, home)
    with pytest.raises(BadRequest, match="own data"):
        check_root(tmp_path / "home", data, tmp_path / "elsewhere")


def test_file_systems_without_events_are_known() -> None:
    local = "22 1 0:1 / / rw - ext4 /dev/sda rw\n30 22 0:2 / /mnt/my\\040disk rw - nfs4 host rw\n"
    assert why_no_events(b"/home/dev", local) == ""
    assert "nfs4" in why_no_events(b"/mnt/my disk/app", local)
    assert "nfs4" in why_no_events(b"/mnt", local)
    assert why_no_events(b"/mnt/my", local) == ""
    assert "fuse.sshfs" in why_no_events(b"/x", "22 1 0:1 / /x rw - fuse.sshfs host rw\n")
