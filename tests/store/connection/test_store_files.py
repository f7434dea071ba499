"""Who may read the store's files, and what can be done where they cannot be written."""

import asyncio
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from sidecar.core.parts import SessionId
from sidecar.store.connection import store_files
from tests.store.samples import base, open_store


@pytest.mark.parametrize("umask", [0o000, 0o277])
async def test_files_are_for_their_owner_alone(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        store = open_store(tmp_path / "data" / "sidecar")
        await store.write(*base())
        await store.logs.load(SessionId("ses_1"))
    finally:
        os.umask(before)
    folder = tmp_path / "data" / "sidecar"
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()}
    assert modes == {"store.db": 0o600, "store.db-wal": 0o600, "store.db-shm": 0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o700
    await store.close()


def test_files_that_others_could_read_are_tightened(tmp_path: Path) -> None:
    store_files.prepare(tmp_path)
    (tmp_path / store_files.NAME).chmod(0o644)
    tmp_path.chmod(0o755)
    store_files.prepare(tmp_path)
    assert stat.S_IMODE((tmp_path / store_files.NAME).stat().st_mode) == 0o600
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("mode", "inside", "becomes"),
    [(0o755, "", 0o700), (0o755, "others.txt", 0o755), (0o1777, "", 0o1777)],
)
def test_a_folder_that_was_there_is_closed_only_where_it_is_ours_alone(
    tmp_path: Path, mode: int, inside: str, becomes: int
) -> None:
    """Somebody may have named a folder that they share: it must not be taken from others."""
    if inside:
        (tmp_path / inside).write_text("")
    tmp_path.chmod(mode)
    store_files.prepare(tmp_path)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == becomes
    assert stat.S_IMODE((tmp_path / store_files.NAME).stat().st_mode) == 0o600


READ_ONLY = """
import asyncio, os, sys, urllib.parse, urllib.request
from pathlib import Path
from sidecar.core.errors import StorageFailed
from sidecar.store.journal import Store

async def main(folder):
    try:
        store = Store.open(folder, now=lambda: 1)
    except StorageFailed as failed:
        print("open", failed.kind)
        return
    page = await store.sessions.page(cwd=None, before=None, limit=9)
    print(store.read_only, [row.id for row in page.rows])
    try:
        await store.write()
    except StorageFailed as failed:
        print("write", failed.kind)
    await store.close()

if os.geteuid() == 0:
    # Nothing is read-only for root, so this becomes somebody else once everything is imported.
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
asyncio.run(main(Path(sys.argv[1])))
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that another user can reach; pytest's own are closed to them."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)
        Path(name).chmod(0o755)


def as_nobody(folder: Path) -> str:
    run = subprocess.run(
        [sys.executable, "-c", READ_ONLY, folder],
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    return run.stdout + run.stderr


@pytest.mark.parametrize("open_elsewhere", [False, True])
def test_a_read_only_folder_is_read(folder: Path, open_elsewhere: bool) -> None:
    async def look() -> None:
        store = open_store(folder)
        await store.write(*base())
        if not open_elsewhere:
            await store.close()
        _make_read_only(folder)
        said = await asyncio.to_thread(as_nobody, folder)
        assert said == "True ['ses_1']\nwrite read_only\n"
        await store.close()

    asyncio.run(look())


def _make_read_only(folder: Path) -> None:
    for file in folder.iterdir():
        file.chmod(0o444)
    folder.chmod(0o555)


def test_a_read_only_folder_without_a_store_is_an_error(folder: Path) -> None:
    folder.chmod(0o555)
    assert as_nobody(folder) == "open read_only\n"
    assert as_nobody(folder / "inner") == "open read_only\n"
