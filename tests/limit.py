"""No test waits for ever: a fixture for those that wait for threads, which asyncio cannot stop."""

import signal
from collections.abc import Iterator
from types import FrameType

import pytest

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
