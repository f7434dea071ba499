"""Reads the tap's frames, and joins its pieces to lines."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator

from sidecar.wrap.link_frames import HEAD

LONGEST_LINE = 32 * 1024 * 1024
"""Bytes of a message that is read; a longer one is left out."""


ENDED = (b"", b"")


class FrameReader:
    """Gives frames as `(kind, content)`, at the end `ENDED`."""

    def __init__(self, read: Callable[[], Awaitable[bytes]], group: asyncio.TaskGroup) -> None:
        self._read, self._group = read, group
        self._held = bytearray()
        self._reading: asyncio.Task[tuple[bytes, bytes]] | None = None

    async def next(self, seconds: float | None) -> tuple[bytes, bytes] | None:
        """`None` if none comes in so many seconds."""
        if self._reading is None:
            self._reading = self._group.create_task(self._frame())
        done, _ = await asyncio.wait({self._reading}, timeout=seconds)
        if not done:
            return None
        frame, self._reading = self._reading.result(), None
        return frame

    async def _frame(self) -> tuple[bytes, bytes]:
        if not await self._has(HEAD.size):
            return ENDED
        kind, size = HEAD.unpack_from(self._held)
        if not await self._has(HEAD.size + size):
            return ENDED
        content = bytes(self._held[HEAD.size : HEAD.size + size])
        del self._held[: HEAD.size + size]
        return kind, content

    async def _has(self, size: int) -> bool:
        while len(self._held) < size:
            data = await self._read()
            if not data:
                return False
            self._held += data
        return True


class LineJoiner:
    """Joins a stream's pieces to whole lines."""

    def __init__(self) -> None:
        self._held: list[bytes] = []
        self._size = 0
        self._skips = False

    def take(self, data: bytes) -> Iterator[bytes]:
        *whole, rest = data.split(b"\n")
        for line in whole:
            if self._skips:
                self._skips = False
            else:
                yield b"".join((*self._held, line))
            self._held, self._size = [], 0
        if rest and not self._skips:
            self._held.append(rest)
            self._size += len(rest)
            if self._size > LONGEST_LINE:
                self.lose()

    def lose(self) -> None:
        """Leaves out what came of a line, and its rest."""
        self._held, self._size, self._skips = [], 0, True
