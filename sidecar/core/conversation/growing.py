"""Follows sequences that grow at the end, making each member's value once."""

from array import array
from collections.abc import Callable, Iterable, Sequence
from operator import is_
from typing import Generic, TypeVar

NEWEST = 8
"""At the end that may change, such as a message being written and one before it."""

M = TypeVar("M")
T = TypeVar("T")


def unchanged(before: Sequence[object], now: Sequence[object]) -> int:
    """Returns the shared beginning's length, by identity; quick if only the newest differ."""
    length = min(len(before), len(now))
    same = max(0, length - NEWEST)
    # Identical members are equal at once, so that this is a walk in C.
    if before[:same] != now[:same]:
        same = 0
    while same < length and before[same] is now[same]:
        same += 1
    return same


def identical(before: Sequence[object], now: Sequence[object]) -> int:
    """Returns the shared beginning's length, by identity alone; a walk in C."""
    alike = [*map(is_, before, now)]
    return alike.index(False) if False in alike else len(alike)


class Growing(Generic[M, T]):
    """Keeps the values made of one log's messages or records, in order."""

    def __init__(self, make: Callable[[M], Iterable[T]]) -> None:
        self._make = make
        self._members: list[M] = []
        self._made: list[T] = []
        self._ends = array("L", (0,))

    def of(self, members: Iterable[M]) -> Sequence[T]:
        """The returned list is good until the next call."""
        now = list(members)
        same = unchanged(self._members, now)
        del self._made[self._ends[same] :], self._ends[same + 1 :]
        for member in now[same:]:
            self._made.extend(self._make(member))
            self._ends.append(len(self._made))
        self._members = now
        return self._made
