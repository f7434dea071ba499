"""Choices read from bytes, so that any bytes are an input and a smaller input is a simpler one.

When the bytes are used up every choice is the first one, which each target makes the tame one.
"""

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """Reads choices from bytes, front to back."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def left(self) -> int:
        """How many bytes have not been used."""
        return max(0, len(self._data) - self._at)

    def below(self, count: int) -> int:
        """Give a number from 0 to count - 1; takes as few bytes as that needs."""
        size = 1 if count <= 1 << 8 else 2 if count <= 1 << 16 else 4
        return int.from_bytes(self.take(size), "little") % max(1, count)

    def pick(self, options: Sequence[T]) -> T:
        """Give one of several."""
        return options[self.below(len(options))]

    def chance(self, one_in: int) -> bool:
        """Say yes once in so many times, and never when nothing is left."""
        return self.below(one_in) == one_in - 1

    def take(self, size: int) -> bytes:
        """Give so many bytes, fewer at the end."""
        found = self._data[self._at : self._at + size]
        self._at += size
        return found

    def rest(self) -> bytes:
        """Give all that is left."""
        return self.take(self.left)
