"""Lets one request write a cold prefix for a daemon's sessions.

Else each would pay for writing.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from sidecar.core.parts import Millis
from sidecar.core.prompt.prefix import Chain, link
from sidecar.core.prompt.prompt import Prompt, Static

LIMIT = 30.0
"""Seconds after which a request goes on, though the first one's answer has not begun."""


def static_key(static: Static) -> str:
    prompt = Prompt(static.tools, static.system, ())
    return link(static.model, prompt, lambda _: 0, Chain()).hashes[-1]


class ColdGate:
    """Holds back requests with a cold prefix, at most `limit` seconds."""

    def __init__(self, now: Callable[[], Millis], limit: float = LIMIT) -> None:
        self._now = now
        self._limit = limit
        self._expires: dict[str, Millis] = {}
        self._first: dict[str, asyncio.Event] = {}
        self.waiting = 0

    @asynccontextmanager
    async def request(self, key: str, life: Millis) -> AsyncIterator[Callable[[], None]]:
        """Encloses a request; waits while another warms the prefix.

        Call the yielded function once the response begins: then the prefix is warm until `life` ms
        after the start. Ending earlier lets another try.
        """
        await self._wait(key)
        started = self._now()
        mine: asyncio.Event | None = None
        if not self._warm(key, started) and key not in self._first:
            mine = self._first[key] = asyncio.Event()

        def leave() -> None:
            if mine is not None and self._first.get(key) is mine:
                del self._first[key]
                mine.set()

        def begun() -> None:
            self._expires = {k: until for k, until in self._expires.items() if until >= started}
            self._expires[key] = max(self._expires.get(key, 0), started + life)
            leave()

        try:
            yield begun
        finally:
            leave()

    async def _wait(self, key: str) -> None:
        self.waiting += 1
        try:
            async with asyncio.timeout(self._limit):
                # Whoever wakes first becomes the first itself, so that the others wait again.
                while (first := self._first.get(key)) and not self._warm(key, self._now()):
                    await first.wait()
        except TimeoutError:
            pass
        finally:
            self.waiting -= 1

    def _warm(self, key: str, at: Millis) -> bool:
        return at <= self._expires.get(key, -1)
