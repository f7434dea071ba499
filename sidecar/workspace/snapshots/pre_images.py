"""Stores contents before the agent's changes. Blocks."""

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from sidecar.core.dataclass import dataclass
from sidecar.core.files.tree import SeenEntry, TreeEntry
from sidecar.store.content.blobs import PressedBlob, press
from sidecar.workspace.snapshots.known_paths import (
    KnownPaths,
    is_tracked_kind,
    lost,
    seen_of,
    unchanged,
)
from sidecar.workspace.snapshots.steady_read import Limits, Looked, SnapshotBudget, look, read
from sidecar.workspace.unlinked_open import stat_straight

SLICE_FILES = 256
SLICE_BYTES = 4 * 1024 * 1024
"""Limits of one read: snapshots never wait for long."""

Batch: TypeAlias = dict[bytes, SeenEntry]


class Beginning:
    """Keeps files until their first content is stored."""

    def __init__(self) -> None:
        self._left: Batch | None = {}

    def begin(self) -> None:
        self._left = None

    def left(self, state: KnownPaths) -> Batch:
        if self._left is None:
            self._left = dict(state.items())
        return self._left

    def count(self, state: KnownPaths) -> int:
        return len(state if self._left is None else self._left)

    def told(self, paths: Iterable[bytes]) -> None:
        if self._left is not None:
            for path in paths:
                self._left.pop(path, None)


@dataclass(frozen=True, slots=True)
class PreImage:
    """A file before a change; `same`: as in the newest snapshot."""

    seen: SeenEntry
    blob: PressedBlob | None
    same: bool

    def followed(self, follow: bool) -> SeenEntry:
        """`follow`: checked at each snapshot, even if ignored."""
        return self.seen._replace(followed=follow)

    def looked(self, path: bytes, seen: SeenEntry) -> Looked:
        return Looked({path: seen}, [] if self.blob is None else [self.blob])


def slice_of(unread: Mapping[bytes, SeenEntry]) -> Batch:
    """Up to `SLICE_FILES` or `SLICE_BYTES`."""
    batch: Batch = {}
    size = 0
    for path, seen in unread.items():
        batch[path] = seen
        size += seen.entry.size
        if len(batch) >= SLICE_FILES or size >= SLICE_BYTES:
            break
    return batch


def read_batch(
    base: bytes,
    batch: Batch,
    limit: Callable[[bytes, int], int],
    room: int,
    now: Callable[[], int],
) -> Looked:
    stats: dict[bytes, os.stat_result] = {}
    restless: set[bytes] = set()
    for path, seen in batch.items():
        if seen.entry.lost != "unread":
            continue
        try:
            found = os.lstat(base + b"/" + path)
        except OSError:
            restless.add(path)
            continue
        if unchanged(seen, found):
            stats[path] = found
        else:
            restless.add(path)
    looked = look(base, stats, lambda _: None, limit, SnapshotBudget(2**62, room), now, now())
    for path, found in stats.items():
        seen_now = looked.seen[path]
        if seen_now is None or seen_now.ctime != found.st_ctime_ns:
            del looked.seen[path]
            restless.add(path)
    looked.restless |= restless
    return looked


def pre_image(
    base: bytes, path: bytes, known: SeenEntry | None, limits: Limits, now: Callable[[], int]
) -> PreImage | None:
    at = now()
    try:
        found = stat_straight(base + b"/" + path)
    except OSError:
        return None
    if not is_tracked_kind(found.st_mode):
        return None
    same = known is not None and unchanged(known, found)
    if known is not None and same and known.entry.restorable:
        return PreImage(known, None, same)
    got = read(base, path, found, limits.tracked)
    if got is None:
        return None
    after, data = got
    same = same and after.st_ctime_ns == found.st_ctime_ns
    if not isinstance(data, bytes):
        return PreImage(seen_of(lost(after, data), after, at), None, same)
    blob = press(data)
    entry = TreeEntry(after.st_mode, blob.hash, len(data))
    same = same or (known is not None and known.entry == entry)
    return PreImage(seen_of(entry, after, at), blob, same)
