"""Both ends of any output, in bounded memory."""

from collections import deque

MAX_KEPT = 10 * 1024 * 1024
_PIECE = 64 * 1024


class OutputEnds:
    """Keeps the first and the last `limit / 2` bytes."""

    def __init__(self, limit: int = MAX_KEPT) -> None:
        self._half = limit // 2
        self._head = bytearray()
        self._tail: deque[bytearray] = deque()
        self._tail_size = 0
        self.dropped = 0

    def add(self, piece: bytes) -> None:
        room = self._half - len(self._head)
        self._head += piece[:room]
        rest = piece[room:]
        if not rest:
            return
        # Joined, because a million tiny pieces would take far more memory than their bytes.
        if self._tail and len(self._tail[-1]) < _PIECE:
            self._tail[-1] += rest
        else:
            self._tail.append(bytearray(rest))
        self._tail_size += len(rest)
        while self._tail_size - len(self._tail[0]) >= self._half:
            gone = len(self._tail.popleft())
            self._tail_size -= gone
            self.dropped += gone

    def text(self) -> str:
        tail = b"".join(self._tail)
        if not self.dropped:
            return (bytes(self._head) + tail).decode("utf-8", "replace")
        note = f"\n[… {self.dropped:,} bytes were not kept …]\n"
        return self._head.decode("utf-8", "replace") + note + tail.decode("utf-8", "replace")
