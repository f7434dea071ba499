"""What the settings under `snapshots` do, each: what is over its size is told and not stored."""

import asyncio
import os
import subprocess

from sidecar.config import SnapshotSizes
from sidecar.core.files.tree import MIB
from sidecar.workspace.snapshots.snapshots import Snapshots
from sidecar.workspace.snapshots.steady_read import Limits
from tests.workspace.snapshots.work import Work, held


async def opened(work: Work, sizes: SnapshotSizes) -> Snapshots:
    snapshots = await work.open(limits=Limits.of(sizes))
    await snapshots.snapshot()
    await snapshots.ready()
    return snapshots


async def lost(snapshots: Snapshots) -> dict[bytes, str]:
    """Give why the newest snapshot has no content, of the files of which it has none."""
    await snapshots.snapshot()
    return {path: one.lost for path, one in snapshots.entries().items() if one.lost}


async def test_a_file_is_as_large_as_is_set(work: Work) -> None:
    snapshots = await opened(work, SnapshotSizes(file_mib=1, tracked_file_mib=1))
    work.write("fits", os.urandom(MIB))
    work.write("large", os.urandom(MIB + 1))
    assert await lost(snapshots) == {b"large": "large"}
    wide = await opened(work, SnapshotSizes(file_mib=2, tracked_file_mib=1))
    assert await lost(wide) == {}


async def test_what_git_tracks_is_as_large_as_is_set(work: Work) -> None:
    work.write("tracked")
    for command in (["init", "-q"], ["add", "tracked"]):
        await asyncio.to_thread(
            subprocess.run, ["git", *command], cwd=work.root, check=True, timeout=60
        )
    snapshots = await opened(work, SnapshotSizes(file_mib=1, tracked_file_mib=2))
    work.write("tracked", os.urandom(2 * MIB))
    work.write("untracked", os.urandom(2 * MIB))
    assert await lost(snapshots) == {b"untracked": "large"}
    work.write("tracked", os.urandom(2 * MIB + 1))
    assert await lost(snapshots) == {b"tracked": "large", b"untracked": "large"}


async def test_a_snapshot_reads_as_much_anew_as_is_set(work: Work) -> None:
    snapshots = await opened(work, SnapshotSizes(step_mib=2))
    for number in range(3):
        work.write(f"some{number}", os.urandom(MIB))
    assert await lost(snapshots) == {b"some2": "full"}


async def test_a_workspace_takes_as_much_as_is_set(work: Work) -> None:
    snapshots = await opened(work, SnapshotSizes(workspace_mib=1))
    assert snapshots.status()["limit"] == MIB
    work.write("fits", os.urandom(MIB // 2))
    assert await lost(snapshots) == {}
    work.write("more", os.urandom(MIB - 1))
    assert await lost(snapshots) == {b"more": "full"}
    assert held(snapshots) <= MIB
