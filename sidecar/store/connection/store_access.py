"""The types of functions that write and read content."""

import sqlite3
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

T = TypeVar("T")
Run = Callable[[sqlite3.Connection], T]

SLICE_SECONDS = 0.005
"""Of a piece of upkeep: turns wait for one at most."""


class Submit(Protocol):
    """Runs a unit of about `size` bytes in the writer's thread."""

    def __call__(
        self, run: Run[T], size: int = 0, /, *, synced: bool = True, small: bool = False
    ) -> Awaitable[T]:
        """Returns after the commit; raises StorageFailed.

        Unless `synced`, durable only with the next synced unit. A `small` unit may be committed
        before returning.
        """


class StoreRead(Protocol):
    """Read one consistent state."""

    def __call__(self, look: Run[T], /) -> Awaitable[T]:
        """Raises StorageFailed."""
