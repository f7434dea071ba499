"""A folder that is a link to elsewhere and itself again, as fast as can be."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sidecar.workspace.restore.moves import At, exchange

SECONDS = float(os.environ.get("SIDECAR_RACES", "0.7"))
"""How long each race is run."""


@contextmanager
def swapping(folder: Path, link: Path) -> Iterator[None]:
    """Have a folder be a link to elsewhere and itself again, as fast as can be."""
    done = threading.Event()
    at = os.open(folder.parent, os.O_RDONLY)
    one, other = At(at, os.fsencode(folder.name)), At(at, os.fsencode(link.name))
    if not exchange(one, other):
        os.close(at)
        pytest.skip("this file system cannot exchange two names at once")

    def swap() -> None:
        while not done.is_set():
            exchange(one, other)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join(10)
        os.close(at)
