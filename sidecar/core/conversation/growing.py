"""Values of growing messages, made once for each."""

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

from sidecar.core.parts import Message

NEWEST = 8
"""At the end that may change, such as a message being written and one before it."""

T = TypeVar("T")


def unchanged(before: Sequence[object], now: Sequence[object]) -> int:
    """Length of the shared beginning, by identity; quick where only the newest differ."""
    length = min(len(before), len(now))
    same = max(0, length - NEWEST)
    # Identical members are equal at once, so that this is a walk in C.
    if before[:same] != now[:same]:
        same = 0
    while same < length and before[same] is now[same]:
        same += 1
    return same


class Growing(Generic[T]):
    """Follows one log's messages."""

    def __init__(self, make: Callable[[Message], T]) -> None:
        self._make = make
        self._messages: list[Message] = []
        self._made: list[T] = []

    def of(self, messages: Iterable[Message]) -> Sequence[T]:
        """In order; good until the next call."""
        now = list(messages)
        same = unchanged(self._messages, now)
        self._made[same:] = map(self._make, now[same:])
        self._messages = now
        return self._made
