"""Runs of git that end otherwise than by an answer."""

import os
from pathlib import Path

import pytest

from sidecar.core.errors import StorageFailed
from sidecar.session.sync.sync_git import SyncGit


async def test_an_answer_that_is_too_large_is_a_failure_of_the_stores(tmp_path: Path) -> None:
    folder = tmp_path / "copies.git"
    folder.mkdir()
    git = SyncGit(folder, os.environ, lambda: 0)
    await git.prepare()
    oid = await git.done("hash-object", "-w", "--stdin", given=b"x" * 5_000)
    with pytest.raises(StorageFailed, match="more than is taken"):
        await git.done("cat-file", "blob", oid.decode().strip(), most=4_999)
    assert await git.done("cat-file", "blob", oid.decode().strip(), most=5_000) == b"x" * 5_000
