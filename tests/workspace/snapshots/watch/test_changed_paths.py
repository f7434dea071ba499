"""How changes are noticed: by events, without them, and where no event comes."""

import asyncio
import errno
import os
import tempfile
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from sidecar.core.errors import BadRequest
from sidecar.workspace.snapshots.roots import check_root
from sidecar.workspace.snapshots.scan.scan import Scan
from sidecar.workspace.snapshots.snapshots import Snapshots
from sidecar.workspace.snapshots.watch import inotify
from sidecar.workspace.snapshots.watch.cookies import CookieWatch
from sidecar.workspace.snapshots.watch.watch_choice import why_no_events
from tests.workspace.snapshots.upheaval import plain
from tests.workspace.snapshots.work import Work

LIMIT = 30.0


def longest_queue() -> int:
    return int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())


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


async def everything_is_looked_at(work: Work, snapshots: Snapshots, why: str) -> None:
    """See that it is said why, and that what changes is found."""
    status = snapshots.status()
    assert status["mode"] == "rescan"
    assert why in str(status["reason"])
    work.write("a/b", b"changed")
    work.write("a/c", b"new")
    await snapshots.snapshot()
    assert snapshots.entries() == plain(work.root)


OTHERS = Path("/dev/shm"), Path(tempfile.gettempdir())
"""On Linux one in memory, and most often one on a disk."""


def is_elsewhere(folder: Path, other: Path) -> bool:
    return folder.is_dir() and folder.stat().st_dev != other.stat().st_dev


async def test_a_cookie_on_another_file_system_says_nothing_so_everything_is_looked_at(
    work: Work,
) -> None:
    other = next((one for one in OTHERS if is_elsewhere(one, work.data)), None)
    if other is None:
        pytest.skip(f"none of {OTHERS} is another file system")
    with tempfile.TemporaryDirectory(dir=other) as folder:
        work.root = Path(folder)
        work.write("a/b", b"old")
        snapshots = await work.open(CookieWatch)
        await snapshots.ready()
        await everything_is_looked_at(work, snapshots, "another disk or share")


async def test_without_watches_everything_is_looked_at_and_it_is_said_why(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    work.write("a/b")
    snapshots = await work.open()
    await snapshots.ready()
    assert snapshots.status()["mode"] == "inotify"

    # The kernel refuses to watch for nothing, and says why in another way than here.
    monkeypatch.setattr("ctypes.get_errno", lambda: errno.ENOSPC)
    monkeypatch.setattr(inotify, "WANTED", 0)
    work.write("d/e")
    await snapshots.snapshot()
    await everything_is_looked_at(work, snapshots, "max_user_watches")


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


@asynccontextmanager
async def rechecking(
    snapshots: Snapshots, monkeypatch: pytest.MonkeyPatch, *, after: bool
) -> AsyncIterator[asyncio.Task[tuple[bytes, ...]]]:
    """Be in the middle of a recheck: it has looked at all files (`after`), or is about to."""
    there, go = threading.Event(), threading.Event()
    look = Scan.everything

    def slowly(self: Scan, *, deep: bool, rules: bool = False) -> None:
        if after:
            look(self, deep=deep, rules=rules)
        there.set()
        assert go.wait(LIMIT)
        if not after:
            look(self, deep=deep, rules=rules)

    with monkeypatch.context() as patch:
        patch.setattr(Scan, "everything", slowly)
        task = asyncio.create_task(snapshots.recheck())
        try:
            assert await asyncio.to_thread(there.wait, LIMIT)
            yield task
        finally:
            go.set()
            await asyncio.wait([task], timeout=LIMIT)


@pytest.mark.parametrize("after", [False, True])
async def test_a_snapshot_never_waits_for_a_recheck_nor_confuses_it(
    work: Work, monkeypatch: pytest.MonkeyPatch, after: bool
) -> None:
    for name in ("a", "b", "sub/c", "gone/d"):
        work.write(name, b"one")
    snapshots = await work.open()
    await snapshots.ready()
    async with rechecking(snapshots, monkeypatch, after=after) as task, asyncio.timeout(LIMIT):
        work.write("a", b"two")
        work.write("new/e", b"new")
        work.write(".gitignore", b"*.log\n")
        (work.root / "gone").rename(work.root / "went")
        await snapshots.snapshot()
        await snapshots.note_edit(b"sub/c")
        assert snapshots.entries() == plain(work.root)
        assert not task.done()
        work.write("b", b"three")
        work.write("new/f", b"newer")
        (work.root / "new/e").unlink()
    assert task.result() == ()
    assert snapshots.status()["mode"] == "inotify"
    await snapshots.snapshot()
    assert snapshots.entries() == plain(work.root)


async def test_what_no_event_told_during_a_recheck_is_found_by_it(
    work: Work, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    work.write("a", b"one")
    path = work.write("b", b"one")
    snapshots = await work.open()
    await snapshots.ready()
    async with rechecking(snapshots, monkeypatch, after=False) as task:
        os.link(path, tmp_path / "b")
        (tmp_path / "b").write_bytes(b"two")
        work.write("a", b"two")
    assert task.result() == (b"b",)
    await snapshots.snapshot()
    assert snapshots.entries() == plain(work.root)


async def test_a_folder_may_be_closed_while_it_is_rechecked(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    work.write("a", b"one")
    snapshots = await work.open()
    await snapshots.ready()
    async with rechecking(snapshots, monkeypatch, after=False) as task, asyncio.timeout(LIMIT):
        work.write("a", b"two")
        await snapshots.close()
    assert task.result() == ()


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
