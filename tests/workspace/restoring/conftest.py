"""A folder to restore files in, and a limit for every test."""

import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from types import FrameType

import pytest

from sidecar.workspace.restoring import restore as carrying_out
from tests.workspace.restoring.site import Site

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


@pytest.fixture(params=[False, True], ids=["threads", "quick"])
async def site(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Site]:
    monkeypatch.setattr(carrying_out, "INLINE_PATHS", 1000)
    made = Site(tmp_path, quick=request.param)
    yield made
    assert (await made.store.verify()).problems == ()
    await made.store.close()
