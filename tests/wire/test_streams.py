"""stdin and stdout are the protocol's alone, and are read no further ahead than stated."""

import asyncio
import os
import select
import subprocess
import sys

from sidecar.wire.streams import reader

PROGRAM = r"""
import os, subprocess, sys
from sidecar.wire.streams import take_stdio
read, write = take_stdio()
print("printed", flush=True)
os.write(1, b"written\n")
subprocess.run(["sh", "-c", "cat; echo by a child"], check=True, timeout=20)
os.write(write, b"answered: " + os.read(read, 100))
"""
MIB = 1024 * 1024


def test_whoever_prints_or_reads_meets_neither_protocol_nor_client() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], input=b"asked", capture_output=True, timeout=30, check=True
    )
    assert done.stdout == b"answered: asked"
    assert done.stderr == b"printed\nwritten\nby a child\n"


def sent_until_it_waits(descriptor: int, most: int) -> int:
    """Write until nobody takes more; gives the bytes that were written."""
    sent = 0
    while sent < most and select.select([], [descriptor], [], 0.5)[1]:
        sent += os.write(descriptor, bytes(64 * 1024))
    return sent


async def test_a_client_that_sends_more_than_is_handled_has_to_wait() -> None:
    inward, outward = os.pipe()
    os.set_blocking(outward, False)
    read = reader(inward)
    sent = await asyncio.to_thread(sent_until_it_waits, outward, 8 * MIB)
    assert sent <= 1.25 * MIB
    os.close(outward)
    taken = 0
    async with asyncio.timeout(20):
        while data := await read():
            taken += len(data)
    assert taken == sent
    os.close(inward)
