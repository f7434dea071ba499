"""stdin and stdout in threads."""

import asyncio
import os
import queue
import sys
import threading
from collections.abc import Awaitable, Callable
from typing import TypeAlias

CHUNK = 64 * 1024
AHEAD = 16
"""Chunks read ahead; then the thread and the client wait."""

ReadBytes: TypeAlias = Callable[[], Awaitable[bytes]]
WriteBytes: TypeAlias = Callable[[bytes], Awaitable[None]]


def take_stdio() -> tuple[int, int]:
    """Reserves stdin and stdout for the protocol; returns their descriptors.

    Later prints go to stderr; children inherit neither.
    """
    read, write = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    devnull = os.open(os.devnull, os.O_RDONLY)
    os.dup2(devnull, 0)
    os.close(devnull)
    sys.stdout = sys.stderr
    return read, write


def reader(descriptor: int, before: bytes = b"") -> ReadBytes:
    """Reads in a thread, after what was read `before`; gives `b""` at the end."""
    loop = asyncio.get_running_loop()
    chunks: asyncio.Queue[bytes] = asyncio.Queue(AHEAD)
    if before:
        chunks.put_nowait(before)

    def pump() -> None:
        while True:
            try:
                data = os.read(descriptor, CHUNK)
            except OSError:
                data = b""
            try:
                asyncio.run_coroutine_threadsafe(chunks.put(data), loop).result()
            except RuntimeError:
                return  # The loop is closed: nobody reads any more.
            if not data:
                return

    threading.Thread(target=pump, name="stdin", daemon=True).start()
    return chunks.get


def writer(descriptor: int) -> WriteBytes:
    """Writes in a thread; the call awaits the write."""
    loop = asyncio.get_running_loop()
    jobs: queue.SimpleQueue[tuple[bytes, asyncio.Future[None]]] = queue.SimpleQueue()

    def pump() -> None:
        while True:
            data, done = jobs.get()
            error: OSError | None = None
            try:
                left = memoryview(data)
                while left:
                    left = left[os.write(descriptor, left) :]
            except OSError as failed:
                error = failed
            try:
                loop.call_soon_threadsafe(_resolve, done, error)
            except RuntimeError:
                return

    async def write(data: bytes) -> None:
        done: asyncio.Future[None] = loop.create_future()
        jobs.put((data, done))
        await done

    threading.Thread(target=pump, name="stdout", daemon=True).start()
    return write


def _resolve(done: "asyncio.Future[None]", error: OSError | None) -> None:
    if done.done():
        return
    if error is None:
        done.set_result(None)
    else:
        done.set_exception(error)
