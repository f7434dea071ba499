"""No test of the store waits for ever."""

from tests.limit import limit

__all__ = ["limit"]
