"""Reads what a scan found: lstat, read, lstat, and again where it changed in between. Blocks."""

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass, field

from sidecar.config import SnapshotSizes
from sidecar.core.digest import digest
from sidecar.core.tree import Entry, Loss, Seen
from sidecar.store.blobs import PressedBlob, press
from sidecar.workspace.snapshots.state import is_racy, lost, same_stat, seen_of

MIB = 1024 * 1024
TRIES = 3
_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Limits:
    """Bytes: of one file, untracked or tracked by git; new ones in one snapshot; of a workspace.

    The last counts what is stored, compressed; the others what is read.
    """

    untracked: int = 2 * MIB
    tracked: int = 16 * MIB
    snapshot: int = 64 * MIB
    workspace: int = 1024 * MIB

    @classmethod
    def of(cls, sizes: SnapshotSizes) -> "Limits":
        """Give the limits that are configured."""
        return cls(
            sizes.file_mib * MIB,
            max(sizes.file_mib, sizes.tracked_file_mib) * MIB,
            sizes.step_mib * MIB,
            sizes.workspace_mib * MIB,
        )


@dataclass(slots=True)
class Budget:
    """What one snapshot may still take: bytes to read, bytes to store."""

    read: int
    store: int


@dataclass(slots=True)
class Looked:
    """What was found at some paths: `None` for what is not there. `restless` kept changing."""

    seen: dict[bytes, Seen | None] = field(default_factory=dict)
    blobs: list[PressedBlob] = field(default_factory=list)
    restless: set[bytes] = field(default_factory=set)


def read(
    base: bytes, path: bytes, found: os.stat_result, limit: int
) -> tuple[os.stat_result, bytes] | Loss | None:
    """Read a file, or a link's target, with the stat that belongs to its bytes.

    `None` where it is gone or has become a folder or a pipe meanwhile.
    """
    real = base + b"/" + path
    for _ in range(TRIES):
        if not (stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode)):
            return None
        if found.st_size > limit:
            return "large"
        try:
            data = (
                os.readlink(real) if stat.S_ISLNK(found.st_mode) else _content(real, found.st_size)
            )
        except FileNotFoundError:
            return None
        except PermissionError:
            return "unreadable"
        except OSError:
            data = None
        try:
            after = os.lstat(real)
        except OSError:
            return None
        if data is not None and same_stat(found, after) and len(data) == found.st_size:
            return after, data
        found = after
    return "unstable"


def look(
    base: bytes,
    stats: dict[bytes, os.stat_result],
    known: Callable[[bytes], Seen | None],
    limit: Callable[[bytes, int], int],
    budget: Budget,
    now: Callable[[], int],
) -> Looked:
    """Read paths, the small ones first, as far as the budget goes.

    `limit` gives the bytes that a file of some size at a path may have; `now` ms since 1970.
    """
    looked = Looked()
    for path in sorted(stats, key=lambda path: stats[path].st_size) if len(stats) > 1 else stats:
        found, seen = stats[path], known(path)
        at = now()
        if stat.S_ISDIR(found.st_mode):
            looked.seen[path] = seen_of(Entry(found.st_mode), found, at)
            continue
        most = limit(path, found.st_size)
        if most >= found.st_size > budget.read:
            entry = lost(found, "full")
            looked.seen[path] = seen_of(entry, found, at)
            continue
        got = read(base, path, found, most)
        if got is None:
            looked.seen[path] = None
            looked.restless.add(path)
        elif isinstance(got, str):
            looked.seen[path] = seen_of(lost(found, got), found, at)
            if got == "unstable":
                looked.restless.add(path)
        else:
            _take(path, seen, got, at, budget, looked)
    return looked


def pending(stats: dict[bytes, os.stat_result], now: Callable[[], int]) -> Looked:
    """Take what was found as it is, to be read later."""
    at = now()
    looked: dict[bytes, Seen | None] = {}
    # Every file of a workspace comes by here before its first turn: tuples are made without the
    # constructors that name what is in them, which takes half of the time.
    make = tuple.__new__
    for path, found in stats.items():
        mode, mtime, ctime = found.st_mode, found.st_mtime_ns, found.st_ctime_ns
        entry = (
            Entry(mode)
            if stat.S_ISDIR(mode)
            else make(Entry, (mode, "", found.st_size, "unread", mtime))
        )
        racy = is_racy(found, at)
        looked[path] = make(Seen, (entry, mtime, ctime, found.st_ino, racy, False))
    return Looked(looked)


def _take(
    path: bytes,
    seen: Seen | None,
    got: tuple[os.stat_result, bytes],
    at: int,
    budget: Budget,
    looked: Looked,
) -> None:
    found, data = got
    if seen is not None and seen.entry.hash and seen.entry.size == len(data):
        name = digest(data)
        if name == seen.entry.hash:
            entry = Entry(found.st_mode, name, len(data))
            looked.seen[path] = seen_of(entry, found, at)
            return
    blob = press(data)
    if len(blob.data) > budget.store:
        entry = lost(found, "full")
    else:
        entry = Entry(found.st_mode, blob.hash, len(data))
        looked.blobs.append(blob)
        budget.store -= len(blob.data)
        budget.read -= len(data)
    looked.seen[path] = seen_of(entry, found, at)


def _content(real: bytes, size: int) -> bytes | None:
    """Read a regular file that should have so many bytes; `None` where it is another now."""
    descriptor = os.open(real, _FLAGS)
    try:
        data = os.read(descriptor, size + 1)
        if len(data) == size:
            # A pipe, or a file that is being written, may give less at once.
            return data
        while len(data) < size and (more := os.read(descriptor, size + 1 - len(data))):
            data += more
        return data
    finally:
        os.close(descriptor)
