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
    """Lie in memory, where there is room."""
    yield from _laid(request, in_memory=_has_room())


@pytest.fixture(name="tmp_path")
def path_on_disk(request: pytest.FixtureRequest) -> Iterator[Path]:
    """Wait for a real disk in all but the short run."""
    short = request.config.option.markexpr == "not long"
    yield from _laid(request, in_memory=short and _has_room())


def _laid(request: pytest.FixtureRequest, *, in_memory: bool) -> Iterator[Path]:
    if not in_memory:
        yield request.getfixturevalue("tmp_path")
        return
    with TemporaryDirectory(dir=MEMORY, prefix="sidecar-", ignore_cleanup_errors=True) as name:
        yield Path(name)


def _has_room() -> bool:
    """Whether memory may be written to, has much room, and runs programs."""
    if not os.access(MEMORY, os.W_OK) or shutil.disk_usage(MEMORY).free < ROOM:
        return False
    return not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC
