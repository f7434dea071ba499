"""A workspace to take snapshots of, and a limit for every test."""

import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from types import FrameType

import pytest

from tests.workspace.snapshots.work import Work

LIMIT = 120.0


@pytest.fixture(autouse=True)
def limit() -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"the test took longer than {LIMIT:.0f} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, LIMIT)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
async def work(tmp_path: Path) -> AsyncIterator[Work]:
    made = Work(tmp_path)
    yield made
    for one in made.open_ones:
        await one.close()
    assert (await made.store.verify()).problems == ()
    await made.store.close()
