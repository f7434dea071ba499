"""Tells whether time stamps prove that nothing changed."""

import os

COARSE_NS = 2_000_000_000
"""Nanoseconds of the coarsest time stamps: two writes within may look like one."""
FINE_NS = 200_000_000
"""The same for stamps finer than milliseconds: a clock's tick, at most 10 ms, and a file server's
error."""


def is_racy(found: os.stat_result, read_ms: int) -> bool:
    """Whether a file may have changed, under the same time stamp, since `read_ms`."""
    stamp = found.st_ctime_ns
    return stamp >= read_ms * 1_000_000 - (FINE_NS if stamp % 1_000_000 else COARSE_NS)
