"""Only what may have changed is read: what is opened is counted, however changes are noticed."""

import os
from collections.abc import Callable

import pytest

from sidecar.workspace.snapshots.snapshots import Snapshots
from sidecar.workspace.snapshots.watch.cookies import CookieWatch
from tests.workspace.opening import OPENING
from tests.workspace.snapshots.work import EVENTS, RESCAN, Watch, Work, now

ALL = {str(number) for number in range(60)}
WAYS = pytest.mark.parametrize(
    "watch", [EVENTS, CookieWatch, RESCAN], ids=["events", "cookies", "rescan"]
)


def later() -> int:
    """A minute later, when the times of files are older than their grain."""
    return now() + 60_000


async def opened(work: Work, watch: Watch, clock: Callable[[], int]) -> Snapshots:
    made = await Snapshots.open(
        work.root, work.store.snapshots, data_dir=work.data, now=clock, watch=watch
    )
    work.open_ones.append(made)
    return made


async def read_by(snapshots: Snapshots) -> set[str]:
    """Take a snapshot with all stored; gives the files that were opened, none of them twice."""
    with OPENING.counted() as counted:
        await snapshots.snapshot()
        await snapshots.ready()
    folder = bytes(snapshots.root) + b"/s/"
    read = [path for given in counted.paths if (path := os.fsencode(given)).startswith(folder)]
    assert len(read) == len(set(read))
    return {path.removeprefix(folder).decode() for path in read}


@WAYS
async def test_after_one_change_one_file_is_read(work: Work, watch: Watch) -> None:
    for name in ALL:
        work.write(f"s/{name}", name.encode())
    snapshots = await opened(work, watch, later)
    assert await read_by(snapshots) == ALL
    assert await read_by(snapshots) == set()
    work.write("s/7", b"other")
    assert await read_by(snapshots) == {"7"}
    work.write("s/new", b"new")
    (work.root / "s/8").unlink()
    assert await read_by(snapshots) == {"new"}
    assert await read_by(snapshots) == set()


@WAYS
async def test_after_a_restart_only_what_is_not_proven_is_read(work: Work, watch: Watch) -> None:
    ahead = 60_000
    for name in ALL:
        work.write(f"s/{name}", name.encode())
    snapshots = await opened(work, watch, later)
    assert await read_by(snapshots) == ALL
    await snapshots.close()
    again = await opened(work, watch, lambda: now() + ahead)
    assert await read_by(again) == set()
    # Read within the grain of its time: it may have been written again without a trace.
    ahead = 0
    work.write("s/7", b"other")
    assert await read_by(again) == {"7"}
    await again.close()
    assert await read_by(await opened(work, watch, later)) == {"7"}
