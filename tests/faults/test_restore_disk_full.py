"""A disk that is full, or fails, at any moment of a restore: nothing is touched, or all stands."""

import errno
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from sidecar.core.errors import StorageFailed
from sidecar.workspace.restore.recovery import recover
from sidecar.workspace.restore.restore_outcome import FilesRestored, RestoreOutcome
from tests.faults.restorer import CALLS
from tests.faults.test_restore_killed import change
from tests.workspace.restore.site import SES, Site, Tree, plan, record, recording


class Failing:
    """Lets system calls fail from a number on: one of them, or all that follow.

    It listens where Python tells of its system calls, and cannot be taken off, only turned off.
    """

    def __init__(self) -> None:
        self.at = 0
        self.more = False
        self.count = 0
        sys.addaudithook(self._listen)

    @contextmanager
    def from_call(self, number: int, *, more: bool) -> Iterator[None]:
        self.count, self.at, self.more = 0, number, more
        try:
            yield
        finally:
            self.at = 0

    def _listen(self, event: str, arguments: tuple[object, ...]) -> None:
        # What opens by name and for reading needs no room.
        if not self.at or event not in CALLS:
            return
        if event == "open" and not (isinstance(arguments[2], int) and arguments[2] & 0o100):
            return
        self.count += 1
        if self.count == self.at or (self.more and self.count > self.at):
            raise OSError(errno.ENOSPC, "No space left on device", arguments[0])


FAILING = Failing()


async def two_states(site: Site, files: int) -> tuple[Tree, Tree]:
    dice = random.Random(1)
    for number in range(files):
        path = f"package{number // 40}/module{number // 8}/file{number}.py"
        site.write(path, dice.randbytes(3000))
    before = await site.remember()
    change(site, dice, files)
    await site.store.write(*record(1, "after"))
    return before, await site.remember()


@pytest.mark.parametrize("more", [False, True])
async def test_a_restore_ends_whole_whichever_call_fails(site: Site, more: bool) -> None:
    before, after = await two_states(site, 8)
    names = {"before": before, "after": after}
    stands, revision = "after", 1
    ends: Counter[str] = Counter()
    for at in range(1, 400):
        to = "before" if stands == "after" else "after"
        revision += 1
        with FAILING.from_call(at, more=more):
            outcome = await attempt(site, names[stands], names[to], revision, to)
            calls = FAILING.count
        if isinstance(outcome, FilesRestored):
            stands = to
        elif not more:
            assert site.tree() == names[stands]
        await recover(site.root, site.store)
        assert site.tree() == names[stands]
        assert (await site.store.logs.load(SES)).records[-1].body["to"] == stands
        assert await site.store.restores.roots() == ()
        ends[type(outcome).__name__] += 1
        if calls < at:
            break
    assert ends["StorageFailed"] > 20
    assert ends["FilesRestored"] >= 1


async def attempt(
    site: Site, state: Tree, other: Tree, revision: int, to: str
) -> RestoreOutcome | StorageFailed:
    try:
        return await site.restore(plan(state, other), record=recording(revision, to))
    except StorageFailed as error:
        return error


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[None]:
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True, check=False, timeout=30).returncode:
        pytest.skip("this user cannot mount a small disk")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True, timeout=30)


def fill(folder: Path) -> Path:
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))
    assert os.statvfs(folder).f_bfree == 0
    return filler


async def test_the_disk_of_the_files_is_full(tmp_path: Path) -> None:
    with small_disk(tmp_path / "work", "2m"):
        site = Site(tmp_path)
        path = site.write("a", b"one" * 50_000)
        before = await site.remember()
        path.write_bytes(b"two" * 50_000)
        after = await site.remember()
        filler = fill(site.root)
        with pytest.raises(StorageFailed, match="disk is full, so nothing was restored") as failed:
            await site.go(after, before)
        assert failed.value.failure == "full"
        assert path.read_bytes() == b"two" * 50_000
        filler.unlink()
        assert site.tree() == after
        assert await site.go(after, before) == FilesRestored()
        assert site.tree() == before
        await site.store.close()


@pytest.mark.parametrize("when", ["at once", "while moving"])
async def test_the_disk_of_the_store_is_full(tmp_path: Path, when: str) -> None:
    with small_disk(tmp_path / "data", "2m"):
        site = Site(tmp_path)
        before, after = await two_states(site, 16)
        filler = [fill(site.data)] if when == "at once" else []

        def progress(done: int, total: int) -> None:
            if not filler and done > total // 2:
                filler.append(fill(site.data))

        with pytest.raises(StorageFailed) as failed:
            await site.restore(
                plan(after, before),
                progress=progress,
                record=recording(2, "before" + "x" * 100_000),
            )
        assert failed.value.failure == "full"
        assert "this was not stored" in failed.value.message
        assert {p: e for p, e in site.tree().items() if not p.startswith(b".sidecar")} == after
        filler[0].unlink()
        await recover(site.root, site.store)
        assert site.tree() == after
        assert len((await site.store.logs.load(SES)).records) == 1
        assert await site.go(after, before) == FilesRestored()
        assert site.tree() == before
        await site.store.close()
