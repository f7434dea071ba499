"""Processes that began with this one, orphans among them: Linux gives those to it."""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
"""Of `<linux/prctl.h>`."""


@contextmanager
def given_orphans() -> Iterator[None]:
    """Be the parent of what descendants of this process leave."""
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    try:
        yield
    finally:
        libc.prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def descendants() -> dict[int, str]:
    """Command lines of the living, by number."""
    parents: dict[int, int] = {}
    dead: set[int] = set()
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            pid = int(entry.name)
            state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
            parents[pid] = int(parent)
            dead |= {pid} if state == "Z" else set()
    own, found = os.getpid(), {}
    for pid in parents.keys() - dead:
        above = pid
        while above not in (own, 0):
            above = parents.get(above, 0)
        if above == own != pid:
            with suppress(OSError):
                found[pid] = Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    return found


def reap() -> None:
    """Forget the dead: no other part of this process may be waiting for one."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
