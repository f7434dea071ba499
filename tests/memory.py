"""Folders of tests in memory: a store waits for the disk with each turn, which takes most of it."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

MEMORY = Path("/dev/shm")
ROOM = 2 << 30
"""Bytes that must be free there."""


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest) -> Iterator[Path]:
    """Lie in memory in the short run, where there is room; all else waits for a real disk."""
    if request.config.option.markexpr != "not long" or not _has_room():
        yield request.getfixturevalue("tmp_path")
        return
    with TemporaryDirectory(dir=MEMORY, prefix="sidecar-", ignore_cleanup_errors=True) as name:
        yield Path(name)


def _has_room() -> bool:
    """Whether memory may be written to, has much room, and runs programs."""
    if not os.access(MEMORY, os.W_OK) or shutil.disk_usage(MEMORY).free < ROOM:
        return False
    return not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC
