"""Bundles taken into a real store: refused, or a session that does all that sessions do."""

import asyncio
import tempfile
from contextlib import AsyncExitStack, suppress
from pathlib import Path

from sidecar.core.errors import BadRequest, StorageFailed
from tests.fuzz import Unanswered
from tests.fuzz.bundle import THINGS, twisted, world
from tests.fuzz.dice import Dice
from tests.session.conftest import Desk
from tests.session.stories import look_at, take

SHARE = 1

LIMIT = 15.0
OFTEN = 200
"""Inputs after which the whole store is verified."""


class _Place:
    """A daemon's sessions on a loop of their own, from the first input to `close`."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.inputs = 0
        self._folder = tempfile.TemporaryDirectory(prefix="sidecar-fuzz-")
        self._over = asyncio.Event()
        self._ready: asyncio.Future[Desk] = self.loop.create_future()
        self._running = self.loop.create_task(self._run())
        self.desk = self.loop.run_until_complete(self._ready)
        # A provider may refuse what stands there; that is an error that people are told of.
        self.desk.model.observe = lambda _: None

    async def _run(self) -> None:
        async with AsyncExitStack() as stack:
            daemon = world(Path(self._folder.name)).daemon()
            self._ready.set_result(await stack.enter_async_context(daemon))
            await self._over.wait()

    def close(self) -> None:
        self._over.set()
        self.loop.run_until_complete(self._running)
        self.loop.run_until_complete(self.loop.shutdown_default_executor())
        self.loop.close()
        self._folder.cleanup()


_places: list[_Place] = []


def run(data: bytes) -> None:
    """Change a bundle and import it."""
    if not _places:
        _places.append(_Place())
    place = _places[0]
    place.loop.run_until_complete(_one(place, Dice(data)))


def close() -> None:
    """End what the first input began."""
    while _places:
        _places.pop().close()


async def _one(place: _Place, dice: Dice) -> None:
    desk = place.desk
    place.inputs += 1
    try:
        async with asyncio.timeout(LIMIT):
            with suppress(BadRequest):
                made = await take(desk, twisted(THINGS, dice))
                await look_at(desk, made)
                await desk.sessions.delete(made.id)
    except TimeoutError:
        raise Unanswered("an import, or what is done with it, took too long") from None
    except StorageFailed as failed:
        raise AssertionError(f"the store could not keep what was taken: {failed}") from failed
    if place.inputs % OFTEN == 0:
        report = await desk.store.verify()
        assert (report.sessions, report.problems) == (0, ())
