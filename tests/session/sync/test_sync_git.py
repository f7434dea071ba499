"""Runs of git that end otherwise than by an answer."""

import asyncio
import os
from pathlib import Path

import pytest

from sidecar.core.errors import BadRequest
from sidecar.session.sync.sync_git import SyncGit


@pytest.mark.parametrize("size", [5_000, 8_000_000])
async def test_an_answer_that_is_too_large_is_refused_and_git_ended(
    tmp_path: Path, size: int
) -> None:
    folder = tmp_path / "copies.git"
    folder.mkdir()
    git = SyncGit(folder, os.environ, lambda: 0)
    await git.prepare()
    oid = await git.done("hash-object", "-w", "--stdin", given=b"x" * size)
    # What a pipe does not hold may keep git's end from being known.
    async with asyncio.timeout(20):
        for _ in range(10):
            with pytest.raises(BadRequest, match="more of it than is taken"):
                await git.done("cat-file", "blob", oid.decode().strip(), most=size // 8)
    assert await git.done("cat-file", "blob", oid.decode().strip(), most=size) == b"x" * size
