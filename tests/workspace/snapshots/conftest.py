"""A workspace to take snapshots of, and a limit for every test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.limit import limit
from tests.workspace.snapshots.work import Work

__all__ = ["limit", "work"]


@pytest.fixture
async def work(tmp_path: Path) -> AsyncIterator[Work]:
    made = Work(tmp_path)
    yield made
    for one in made.open_ones:
        await one.close()
    assert (await made.store.verify()).problems == ()
    await made.store.close()
