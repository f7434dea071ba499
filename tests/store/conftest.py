"""No test of the store waits for ever."""

from tests.limit import limit
from tests.memory import tmp_path

__all__ = ["limit", "tmp_path"]
