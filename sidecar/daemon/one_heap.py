"""Heaps that threads of this process share, of which the system gets back what is free.

Elsewhere than in glibc nothing happens.
"""

import asyncio
import sys
from importlib import import_module
from time import process_time
from typing import Any

M_ARENA_MAX, M_MMAP_THRESHOLD = -8, -3
"""Of glibc's `<malloc.h>`."""
LARGE = 128 * 1024
"""Bytes from which a block lies outside the heap, and is the system's again once it is free."""
LOOK = 15.0
"""Seconds between looks at whether there was work."""
WORKED = 0.5
"""Seconds of CPU, about a turn's, after which it is worth a look through the heap: 1 to 5 ms."""


def share_one_heap() -> None:
    """Threads begun from now on make no heap of their own: with none before, there is one.

    What is freed in a heap of one thread no other uses. The interpreter's lock keeps threads from
    waiting for each other's heap. Where nobody says what is large, glibc takes the largest block
    freed so far: bodies of requests would leave holes between what stays.
    """
    if _has("mallopt"):
        _libc().mallopt(M_ARENA_MAX, 1)
        _libc().mallopt(M_MMAP_THRESHOLD, LARGE)


async def give_back() -> None:
    """Free pages between used ones stay in memory otherwise, for as long as the process lives."""
    if not await asyncio.to_thread(_has, "malloc_trim"):
        return
    given = process_time()
    while True:
        await asyncio.sleep(LOOK)
        if process_time() - given >= WORKED:
            await asyncio.to_thread(_libc().malloc_trim, 0)
            given = process_time()


def _has(function: str) -> bool:
    return sys.platform == "linux" and hasattr(_libc(), function)


def _libc() -> Any:  # noqa: ANN401 - `ctypes` knows no types of what it finds
    return import_module("ctypes").CDLL(None)
