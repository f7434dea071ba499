"""No test of the store waits for ever."""

from tests.limit import limit
from tests.memory import path_on_disk

__all__ = ["limit", "path_on_disk"]
