"""Streams that drip: each event must come whole in time, however many single bytes come.

A transport's timeout is for the next byte, so a byte a minute would keep a turn waiting for days.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Protocol


class Event(Protocol):
    """What the SDK's decoder makes of bytes; pings are events too."""


class Cut(Protocol):
    """The SDK's decoder: cuts a stream of bytes into events."""

    def aiter_bytes(self, iterator: AsyncIterator[bytes]) -> AsyncIterator[Event]:
        """Give the events."""
        ...


class Stalled(Exception):
    """No event came whole within `seconds`."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"the model sent nothing whole for {seconds:g} seconds")


class InTime:
    """A decoder around another that raises `Stalled` where an event takes too long."""

    def __init__(self, inner: Cut, seconds: float) -> None:
        self._inner = inner
        self._seconds = seconds

    async def aiter_bytes(self, iterator: AsyncIterator[bytes]) -> AsyncIterator[Event]:
        """Give the events."""
        async with aclosing(self._inner.aiter_bytes(iterator)) as events:  # type: ignore[type-var] # a generator
            while True:
                try:
                    async with asyncio.timeout(self._seconds):
                        event = await anext(events)
                except StopAsyncIteration:
                    return
                except TimeoutError:
                    raise Stalled(self._seconds) from None
                yield event
