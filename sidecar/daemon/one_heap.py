"""One heap for all threads of this process."""

import sys
from contextlib import suppress
from importlib import import_module

M_ARENA_MAX = -8
"""Of glibc's `<malloc.h>`."""


def share_one_heap() -> None:
    """Threads begun from now on allocate from one heap; elsewhere than in glibc nothing changes.

    What is freed in a heap of one thread no other uses. The interpreter's lock keeps threads from
    waiting for each other's heap.
    """
    if sys.platform == "linux":
        with suppress(AttributeError):
            import_module("ctypes").CDLL(None).mallopt(M_ARENA_MAX, 1)
