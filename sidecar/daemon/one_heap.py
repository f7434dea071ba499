"""Shares one heap among threads, and returns free memory to the system.

Only with glibc.
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
    """Keeps later threads from making their own heaps; call before any thread begins.

    Memory freed in one thread's heap serves no other thread, and the interpreter's lock keeps
    threads from waiting for a shared heap. Large blocks get a fixed limit, or else bodies of
    requests would leave holes.
    """
    if _has("mallopt"):
        _libc().mallopt(M_ARENA_MAX, 1)
        _libc().mallopt(M_MMAP_THRESHOLD, LARGE)


async def give_back() -> None:
    """Returns free pages between used ones, which would otherwise stay in memory."""
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
