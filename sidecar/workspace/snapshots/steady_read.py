"""Reads scanned files between two equal stats. Blocks.

A path may be a link since the scan.
"""

import os
import stat
from collections.abc import Callable
from dataclasses import field

from sidecar.config import SnapshotSizes
from sidecar.core.dataclass import dataclass
from sidecar.core.files.tree import MIB, Loss, SeenEntry, TreeEntry
from sidecar.core.text.digest import digest
from sidecar.store.content.blobs import PressedBlob, press
from sidecar.workspace.snapshots.known_paths import lost, same_stat, seen_of
from sidecar.workspace.unlinked_open import link_straight, open_straight, stat_straight
from sidecar.workspace.unlinked_path import WAY, PathMoved

TRIES = 3
_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Limits:
    """Bytes: of an untracked or tracked file, read per snapshot, stored per workspace (packed)."""

    untracked: int
    tracked: int
    snapshot: int
    workspace: int

    @classmethod
    def of(cls, sizes: SnapshotSizes) -> "Limits":
        return cls(
            sizes.file_mib * MIB,
            max(sizes.file_mib, sizes.tracked_file_mib) * MIB,
            sizes.step_mib * MIB,
            sizes.workspace_mib * MIB,
        )


USUAL = Limits.of(SnapshotSizes())


@dataclass(slots=True)
class SnapshotBudget:
    """The bytes that may still be read and stored."""

    read: int
    store: int


@dataclass(slots=True)
class Looked:
    """Files read, by path, `None` if missing; `restless` paths kept changing."""

    seen: dict[bytes, SeenEntry | None] = field(default_factory=dict)
    blobs: list[PressedBlob] = field(default_factory=list)
    restless: set[bytes] = field(default_factory=set)

    def miss(self, path: bytes) -> None:
        self.seen[path] = None
        self.restless.add(path)


def read(
    base: bytes, path: bytes, found: os.stat_result, limit: int
) -> tuple[os.stat_result, bytes | Loss] | None:
    """Returns stat and bytes of a file or a link's target, or why not read.

    `None` if unreachable without a link, or a folder or pipe.
    """
    real = base + b"/" + path
    for _ in range(TRIES):
        link = stat.S_ISLNK(found.st_mode)
        if not (link or stat.S_ISREG(found.st_mode)):
            return None
        large, refused = found.st_size > limit, False
        if not large:
            try:
                after, data = link_straight(real) if link else _content(real, found.st_size)
                if same_stat(found, after) and len(data) == found.st_size:
                    return after, data
            except FileNotFoundError:
                return None
            except OSError as error:
                refused = isinstance(error, PermissionError) and not isinstance(error, PathMoved)
        here = standing(base, path, found)
        if here is None:
            return None
        if large and here.st_size > limit and stat.S_ISREG(here.st_mode):
            return here, "large"
        if refused and same_stat(found, here):
            return here, "unreadable"
        found = here
    return found, "unstable"


def standing(base: bytes, path: bytes, found: os.stat_result) -> os.stat_result | None:
    """Stats again; returns `None` if unreachable without a link.

    Returns `found` if unknown: no descriptors left, or the root moved.
    """
    try:
        return stat_straight(base + b"/" + path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except PathMoved:
        return None if _stands(base) else found
    except OSError:
        return found


def look(
    base: bytes,
    stats: dict[bytes, os.stat_result],
    known: Callable[[bytes], SeenEntry | None],
    limit: Callable[[bytes, int], int],
    budget: SnapshotBudget,
    now: Callable[[], int],
    scanned: int,
) -> Looked:
    """Reads scanned files, small ones first, within the budget.

    `limit`: most bytes, by path and size. `now`, and `scanned` (before any folder was listed), in
    ms.
    """
    looked = Looked()
    for path in sorted(stats, key=lambda path: stats[path].st_size) if len(stats) > 1 else stats:
        found, seen = stats[path], known(path)
        at = now()
        if stat.S_ISDIR(found.st_mode):
            here = standing(base, path, found)
            if here is None or not stat.S_ISDIR(here.st_mode):
                looked.miss(path)
            else:
                # Its names were listed after the stat `found`, maybe before `here`.
                looked.seen[path] = seen_of(TreeEntry(here.st_mode), found, scanned)
            continue
        most = limit(path, found.st_size)
        got: tuple[os.stat_result, bytes | Loss] | None
        if most >= found.st_size > budget.read:
            here = standing(base, path, found)
            got = None if here is None or here.st_mode != found.st_mode else (here, "full")
        else:
            got = read(base, path, found, most)
        if got is None:
            looked.miss(path)
            continue
        after, data = got
        if isinstance(data, bytes):
            _take(path, seen, after, data, at, budget, looked)
            continue
        looked.seen[path] = seen_of(lost(after, data), after, at)
        if data == "unstable":
            looked.restless.add(path)
    return looked


def _take(
    path: bytes,
    seen: SeenEntry | None,
    found: os.stat_result,
    data: bytes,
    at: int,
    budget: SnapshotBudget,
    looked: Looked,
) -> None:
    if seen is not None and seen.entry.hash and seen.entry.size == len(data):
        name = digest(data)
        if name == seen.entry.hash:
            entry = TreeEntry(found.st_mode, name, len(data))
            looked.seen[path] = seen_of(entry, found, at)
            return
    blob = press(data)
    if len(blob.data) > budget.store:
        entry = lost(found, "full")
    else:
        entry = TreeEntry(found.st_mode, blob.hash, len(data))
        looked.blobs.append(blob)
        budget.store -= len(blob.data)
        budget.read -= len(data)
    looked.seen[path] = seen_of(entry, found, at)


def _content(real: bytes, size: int) -> tuple[os.stat_result, bytes]:
    descriptor = open_straight(real, _FLAGS)
    try:
        data = os.read(descriptor, size + 1)
        # A file that is being written, or lies far away, may give less at once.
        while len(data) < size and (more := os.read(descriptor, size + 1 - len(data))):
            data += more
        return os.fstat(descriptor), data
    finally:
        os.close(descriptor)


def _stands(base: bytes) -> bool:
    try:
        os.close(open_straight(base, WAY))
    except OSError:
        return False
    return True
