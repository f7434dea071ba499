"""Limits time and size of a streamed answer.

A transport's timeout covers the next byte only.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Protocol

from sidecar.core.dataclass import dataclass

STALL = 120.0
"""Seconds for one event; providers ping more often."""
PATIENCE = 300.0
"""Seconds for any answer, however short."""
THINKS = 50
"""Tokens per second of the slowest thinking, with pings alone."""
WRITES = 2
"""Tokens per second; slower models are given up."""
PER_TOKEN = 8
"""Bytes; a token of prose or code has three to five. Twice as many still fit into most windows: the
session can continue."""
LEAST = 16 * 1024
"""Bytes allowed even to the shortest answer."""
PIECES = 4
"""Pieces of a token; about as many as from servers of single letters."""
LEAST_PIECES = 1_000
PINGS = frozenset({"ping", "keepalive"})
PER_EVENT = 1024 * 1024
"""Bytes of one event beyond its share: names, signatures, JSON escapes."""

MOST_LINES = 1_000
"""Of one event; for each the SDK's decoder copies those before."""
SLICE = 64 * 1024
"""Bytes decoded at once; a packed answer's piece may have many more."""
_BORDERS = (b"\n\n", b"\r\r", b"\r\n\r\n")
"""What an event ends with for the SDK's decoder, at an end of a line alone."""


class CutEvent(Protocol):
    """An event of the SDK's decoder; pings included."""

    event: str | None


class EventCutter(Protocol):
    """The SDK's decoder, from bytes to events."""

    def aiter_bytes(self, iterator: AsyncIterator[bytes]) -> AsyncIterator[CutEvent]: ...


class Stalled(Exception):
    """No whole event came within `seconds`."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"the model sent nothing whole for {seconds:g} seconds")


class Endless(Exception):
    """The answer was too long for its number of tokens."""


@dataclass(frozen=True, slots=True)
class AnswerLimits:
    """Limits of one answer.

    Seconds for one event (`stall`), without content (`quiet`), in all (`whole`); bytes (`most`);
    `pieces`.
    """

    tokens: int
    stall: float
    quiet: float
    whole: float
    most: int
    pieces: int

    def check(self, size: int, pieces: int) -> None:
        """Raises Endless over `most` bytes or `pieces`."""
        if size > self.most:
            raise self.too_large(f"{self.most >> 10} KiB")
        if pieces > self.pieces:
            raise self.too_large(f"{self.pieces} pieces")

    def too_large(self, size: str) -> Endless:
        return Endless(
            f"the answer was given up after {size}: none of {self.tokens} tokens, which is what "
            "it may have, is so long"
        )


def limits(tokens: int, stall: float = STALL) -> AnswerLimits:
    return AnswerLimits(
        tokens,
        stall,
        PATIENCE + tokens / THINKS,
        PATIENCE + tokens / WRITES,
        LEAST + PER_TOKEN * tokens,
        LEAST_PIECES + PIECES * tokens,
    )


class AnswerSize:
    """Adds up an answer; `add` raises Endless beyond `limits`."""

    def __init__(self, limits: AnswerLimits | None) -> None:
        self._limits = limits
        self._taken = self._pieces = 0

    def add(self, size: int, pieces: int = 1) -> None:
        self._taken += size
        self._pieces += pieces
        if self._limits is not None:
            self._limits.check(self._taken, self._pieces)


class InTime:
    """Applies an answer's limits to the SDK's decoder.

    Raises Stalled without a whole event in time; Endless for pings only, or too large an answer or
    event.
    """

    def __init__(self, inner: EventCutter, limits: AnswerLimits) -> None:
        self._inner = inner
        self._limits = limits
        self._unread = self._unread_lines = 0
        self._tail = b""

    async def aiter_bytes(self, iterator: AsyncIterator[bytes]) -> AsyncIterator[CutEvent]:
        given, now = self._limits, asyncio.get_running_loop().time
        began = content = now()
        counted = self._counted(iterator)
        async with aclosing(self._inner.aiter_bytes(counted)) as events:  # type: ignore[type-var] # a generator
            while True:
                ends = min(began + given.whole, content + given.quiet)
                if now() >= ends:
                    raise self._late(now() - began)
                try:
                    async with asyncio.timeout(min(given.stall, ends - now())):
                        event = await anext(events)
                except StopAsyncIteration:
                    return
                except TimeoutError:
                    if now() >= ends:
                        raise self._late(now() - began) from None
                    raise Stalled(given.stall) from None
                self._unread = self._unread_lines = 0
                if event.event not in PINGS:
                    content = now()
                yield event

    async def _counted(self, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        async for piece in pieces:
            for at in range(0, len(piece), SLICE):
                part = piece[at : at + SLICE]
                self._check(part)
                if at:
                    # Whole events are read without an await.
                    await asyncio.sleep(0)
                yield part

    def _check(self, part: bytes) -> None:
        self._unread += len(part)
        if self._unread > 2 * self._limits.most + PER_EVENT:
            raise self._limits.too_large(f"{self._unread >> 10} KiB of one event")
        for line in part.splitlines(keepends=True):
            self._unread_lines += 1
            self._tail = (self._tail + line)[-4:]
            if self._tail.endswith(_BORDERS):
                self._unread_lines, self._tail = 0, b""
            elif self._unread_lines > MOST_LINES:
                raise self._limits.too_large(f"{MOST_LINES} lines of one event")

    def _late(self, seconds: float) -> Endless:
        given = self._limits
        if seconds >= given.whole:
            return Endless(
                f"the answer was given up after {given.whole:g} seconds: {given.tokens} tokens, "
                "which is what it may have, do not take so long"
            )
        return Endless(f"the model sent nothing but pings for {given.quiet:g} seconds")
