"""A workspace's known paths, with stats, by folder."""

import gc
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

from sidecar.core.files.tree import Loss, SeenEntry, TreeEntry
from sidecar.workspace.snapshots.stat_table import StatTable, stat_table
from sidecar.workspace.snapshots.time_stamps import is_racy

KINDS = frozenset({stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK})


class KnownPaths:
    """Known paths; `folders` maps each folder to its names (root: empty).

    A tool's ignored file may be known without its folder.
    """

    def __init__(self) -> None:
        self.folders: dict[bytes, dict[bytes, SeenEntry]] = {b"": {}}
        self.root: os.stat_result | None = None
        self._table: StatTable | None = None

    def get(self, path: bytes) -> SeenEntry | None:
        folder, _, name = path.rpartition(b"/")
        names = self.folders.get(folder)
        return None if names is None else names.get(name)

    def is_folder(self, path: bytes) -> bool:
        seen = self.get(path) if path else None
        return not path or (seen is not None and seen.entry.is_folder)

    def put(self, path: bytes, seen: SeenEntry | None) -> None:
        """`None` removes; entries below a folder stay."""
        if self._table is not None:
            self._table.doubt(path, known=seen is not None)
        folder, _, name = path.rpartition(b"/")
        if seen is not None:
            self.folders.setdefault(folder, {})[name] = seen
            if seen.entry.is_folder:
                self.folders.setdefault(path, {})
            elif self.folders.get(path) == {}:
                del self.folders[path]
            return
        names = self.folders.get(folder, {})
        names.pop(name, None)
        if not names and folder and not self.is_folder(folder):
            self.folders.pop(folder, None)
        if not self.folders.get(path, True):
            del self.folders[path]

    def begin(self, folders: dict[bytes, dict[bytes, SeenEntry]]) -> None:
        self.folders |= folders
        self._table = None

    def below(self, path: bytes) -> Iterator[bytes]:
        """Outer before inner."""
        pending = [path]
        while pending:
            folder = pending.pop()
            for name in self.folders.get(folder, ()):
                inner = join(folder, name)
                yield inner
                if inner in self.folders:
                    pending.append(inner)

    def items(self) -> Iterator[tuple[bytes, SeenEntry]]:
        for folder, names in self.folders.items():
            for name, seen in names.items():
                yield join(folder, name), seen

    def table(self, base: bytes) -> StatTable | None:
        known = len(self)
        if self._table is None or len(self._table) > 2 * known + 1000:
            self._table = stat_table(base)
            if self._table is not None:
                for folder, names in self.folders.items():
                    for name in names:
                        self._table.doubt(join(folder, name), known=True)
        return self._table

    def copy(self) -> "KnownPaths":
        other = KnownPaths()
        other.folders = {folder: names.copy() for folder, names in self.folders.items()}
        other.root = self.root
        return other

    def __len__(self) -> int:
        return sum(map(len, self.folders.values()))


@contextmanager
def lasting() -> Iterator[None]:
    """Builds many lasting objects without garbage collection, now or later."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        if was_on:
            gc.enable()


def join(folder: bytes, name: bytes) -> bytes:
    return folder + b"/" + name if folder else name


def ancestors(path: bytes) -> Iterator[bytes]:
    """Outermost first, no root."""
    at = path.find(b"/")
    while at >= 0:
        yield path[:at]
        at = path.find(b"/", at + 1)


def unchanged(seen: SeenEntry, found: os.stat_result) -> bool:
    """Whether a stat proves the entry unchanged, or an unread one as first seen."""
    return (
        seen.ctime == found.st_ctime_ns
        and seen.mtime == found.st_mtime_ns
        and seen.inode == found.st_ino
        and seen.entry.mode == found.st_mode
        and (not seen.racy or seen.entry.lost == "unread")
        and (seen.entry.size == found.st_size or stat.S_ISDIR(found.st_mode))
    )


def same_stat(one: os.stat_result, other: os.stat_result) -> bool:
    return (
        one.st_ctime_ns == other.st_ctime_ns
        and one.st_mtime_ns == other.st_mtime_ns
        and one.st_ino == other.st_ino
        and one.st_mode == other.st_mode
        and one.st_size == other.st_size
    )


def is_tracked_kind(mode: int) -> bool:
    return mode & 0o170000 in KINDS


def seen_of(
    entry: TreeEntry, found: os.stat_result, read_ms: int, *, followed: bool = False
) -> SeenEntry:
    racy = is_racy(found, read_ms)
    return SeenEntry(entry, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, racy, followed)


def unread_of(found: os.stat_result, at: int) -> SeenEntry:
    mode, mtime = found.st_mode, found.st_mtime_ns
    is_folder = mode & 0o170000 == 0o040000
    # Every file passes here before the first turn: skipping the named constructors of tuples saves
    # half of the time. Unread entries are never racy.
    new = tuple.__new__
    entry = (mode, "", 0, None, 0) if is_folder else (mode, "", found.st_size, "unread", mtime)
    racy = is_folder and is_racy(found, at)
    return new(
        SeenEntry, (new(TreeEntry, entry), mtime, found.st_ctime_ns, found.st_ino, racy, False)
    )


def lost(found: os.stat_result, why: Loss) -> TreeEntry:
    return TreeEntry(found.st_mode, "", found.st_size, why, found.st_mtime_ns)


def left_out(mode: int, size: int) -> TreeEntry:
    return TreeEntry(mode, "", size, "ignored")
