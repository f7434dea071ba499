"""Durable part writes: this store beside one JSON file per part with the same rule of syncing.

Run as `python tests/benchmarks/bench_store.py [FOLDER]`; the folder decides which disk is measured.
Both make a part durable before they say so: the store by a commit with `synchronous=FULL`, the
files by write, fsync, rename and fsync of the folder. Rounds of both alternate.
"""

import asyncio
import json
import os
import tempfile
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from itertools import count
from pathlib import Path
from statistics import median
from time import perf_counter

from sidecar.core.parts import Message, MessageId, PartId, SessionId, TextPart, TurnId
from sidecar.store.format.values import PutMessage, PutPart, PutSession, SessionRow
from sidecar.store.journal import Store

ROUNDS = 7
PARTS = 300
CONCURRENT = 50
TEXT = "The model's answer, as one part of it may be: a few sentences of prose. " * 8
SESSION = SessionId("ses_1")
MESSAGE = MessageId("msg_1")

Write = Callable[[TextPart], Awaitable[None]]


def part(number: int) -> TextPart:
    return TextPart(PartId(f"part_{number:012}"), TEXT, "model")


async def one_by_one(write: Write, numbers: "count[int]") -> None:
    for _ in range(PARTS):
        await write(part(next(numbers)))


async def fifty_at_once(write: Write, numbers: "count[int]") -> None:
    async def stream() -> None:
        for _ in range(PARTS // CONCURRENT):
            await write(part(next(numbers)))

    await asyncio.gather(*(stream() for _ in range(CONCURRENT)))


async def open_session(folder: Path) -> Store:
    store = Store.open(folder, now=lambda: 1)
    row = SessionRow(SESSION, "/w", "", 1, 1, 1, 0, 0, None, {})
    message = Message(MESSAGE, TurnId("turn_1"), "assistant", (), 1)
    await store.write(PutSession(row), PutMessage(SESSION, message))
    return store


def write_file(folder: Path, one: TextPart) -> None:
    data = json.dumps(asdict(one)).encode()
    path = folder / f"{one.id}.json"
    temporary = path.with_suffix(".tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(handle, data)
        os.fsync(handle)
    finally:
        os.close(handle)
    temporary.rename(path)
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


async def measure(folder: Path) -> dict[str, list[float]]:
    """Give seconds per part of each round, by name."""
    store = await open_session(folder / "store")
    files = folder / "files"
    files.mkdir()
    loop = asyncio.get_running_loop()
    pool = ThreadPoolExecutor(CONCURRENT)

    async def to_store(one: TextPart) -> None:
        await store.write(PutPart(SESSION, MESSAGE, 0, one))

    async def to_file(one: TextPart) -> None:
        write_file(files, one)

    async def to_file_in_thread(one: TextPart) -> None:
        await loop.run_in_executor(pool, write_file, files, one)

    cases = {
        "store, one awaited": (one_by_one, to_store),
        "files, one awaited": (one_by_one, to_file),
        "store, 50 awaited": (fifty_at_once, to_store),
        "files, 50 awaited": (fifty_at_once, to_file_in_thread),
    }
    numbers = count()
    seconds: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(ROUNDS):
        for name, (how, write) in cases.items():
            start = perf_counter()
            await how(write, numbers)
            seconds[name].append((perf_counter() - start) / PARTS)
    await store.close()
    pool.shutdown()
    return seconds


def main() -> None:
    """Print one table."""
    with tempfile.TemporaryDirectory() as name:
        seconds = asyncio.run(measure(Path(name)))
    medians = {case: median(rounds) for case, rounds in seconds.items()}
    print(f"Durable writes of a part of {len(TEXT)} bytes; medians of {ROUNDS} rounds of {PARTS}")
    print(f"{'case':24}{'ms a part':>12}{'parts a second':>18}{'slowest round':>16}")
    for case, value in medians.items():
        slowest = max(seconds[case]) * 1000
        print(f"{case:24}{value * 1000:12.3f}{1 / value:18,.0f}{slowest:13.3f} ms")
    single = medians["store, one awaited"] / medians["files, one awaited"]
    at_once = medians["store, 50 awaited"] / medians["files, one awaited"]
    threads = medians["store, 50 awaited"] / medians["files, 50 awaited"]
    print(f"store / files, one awaited                    {single:6.3f}")
    print(f"store, 50 awaited / files, one at a time      {at_once:6.3f}   (aim: at most 0.100)")
    print(f"store, 50 awaited / files, 50 at once         {threads:6.3f}   (aim: at most 0.100)")


if __name__ == "__main__":
    main()
