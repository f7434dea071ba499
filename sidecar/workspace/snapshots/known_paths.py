"""What is known of a workspace: every path with its stat, by folder."""

import gc
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

from sidecar.core.files.tree import Loss, SeenEntry, TreeEntry
from sidecar.workspace.snapshots.stat_table import StatTable, stat_table

COARSE_NS = 2_000_000_000
"""The coarsest time stamps that file systems have, so within it two writes may look like one."""
FINE_NS = 200_000_000
"""The same where a stamp tells less than milliseconds: there it is the tick of the clock, at most
10 ms, and how far a file server's clock may be off."""
POSIX = os.name == "posix"
KINDS = frozenset({stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK})


class KnownPaths:
    """Paths and what was seen there; `folders` has the names in each folder. The root is empty.

    A path may be known although its folder is not, where a tool of ours wrote what is ignored.
    """

    def __init__(self) -> None:
        self.folders: dict[bytes, dict[bytes, SeenEntry]] = {b"": {}}
        self.root: os.stat_result | None = None
        self._table: StatTable | None = None

    def get(self, path: bytes) -> SeenEntry | None:
        """Give what is known at a path."""
        folder, _, name = path.rpartition(b"/")
        names = self.folders.get(folder)
        return None if names is None else names.get(name)

    def is_folder(self, path: bytes) -> bool:
        """Tell whether a path is known as a folder that is looked into."""
        seen = self.get(path) if path else None
        return not path or (seen is not None and seen.entry.is_folder)

    def put(self, path: bytes, seen: SeenEntry | None) -> None:
        """Know something else at a path from now on; what was below a folder stays known."""
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
        """Know what is in folders of which nothing was known."""
        self.folders |= folders
        self._table = None

    def below(self, path: bytes) -> Iterator[bytes]:
        """Yield what is known below a folder, the inner paths after the outer ones."""
        pending = [path]
        while pending:
            folder = pending.pop()
            for name in self.folders.get(folder, ()):
                inner = join(folder, name)
                yield inner
                if inner in self.folders:
                    pending.append(inner)

    def items(self) -> Iterator[tuple[bytes, SeenEntry]]:
        """Yield all paths."""
        for folder, names in self.folders.items():
            for name, seen in names.items():
                yield join(folder, name), seen

    def table(self, base: bytes) -> StatTable | None:
        """Give the stats that prove what is known, made when they are first asked for.

        `base`: the root's path. Made anew where more is gone than is left.
        """
        known = len(self)
        if self._table is None or len(self._table) > 2 * known + 1000:
            self._table = stat_table(base)
            if self._table is not None:
                for folder, names in self.folders.items():
                    for name in names:
                        self._table.doubt(join(folder, name), known=True)
        return self._table

    def copy(self) -> "KnownPaths":
        """Give what is known now, to be looked through while this one goes on."""
        other = KnownPaths()
        other.folders = {folder: names.copy() for folder, names in self.folders.items()}
        other.root = self.root
        return other

    def __len__(self) -> int:
        return sum(map(len, self.folders.values()))


@contextmanager
def lasting() -> Iterator[None]:
    """Make many objects that stay, without a search for garbage among them, now or later.

    In a workspace of 28,000 files each such search would stop everything for a tenth of a second.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        if was_on:
            gc.enable()


def join(folder: bytes, name: bytes) -> bytes:
    """Give the path of a name in a folder."""
    return folder + b"/" + name if folder else name


def ancestors(path: bytes) -> Iterator[bytes]:
    """Yield the folders that lead to a path, the outermost first, without the root."""
    at = path.find(b"/")
    while at >= 0:
        yield path[:at]
        at = path.find(b"/", at + 1)


def unchanged(seen: SeenEntry, found: os.stat_result) -> bool:
    """Tell whether a stat proves that what was seen is still there.

    What nobody has read yet is as it was seen however young its time stamp is.
    """
    return (
        seen.ctime == found.st_ctime_ns
        and seen.mtime == found.st_mtime_ns
        and seen.inode == found.st_ino
        and seen.entry.mode == found.st_mode
        and (not seen.racy or seen.entry.lost == "unread")
        and (seen.entry.size == found.st_size or stat.S_ISDIR(found.st_mode))
    )


def same_stat(one: os.stat_result, other: os.stat_result) -> bool:
    """Tell whether nothing was written between two stats of a path."""
    return (
        one.st_ctime_ns == other.st_ctime_ns
        and one.st_mtime_ns == other.st_mtime_ns
        and one.st_ino == other.st_ino
        and one.st_mode == other.st_mode
        and one.st_size == other.st_size
    )


def is_tracked_kind(mode: int) -> bool:
    """Tell whether a kind of file is one that can be put back: no pipes, sockets, devices."""
    return mode & 0o170000 in KINDS


def seen_of(
    entry: TreeEntry, found: os.stat_result, read_ms: int, *, followed: bool = False
) -> SeenEntry:
    """Remember what was read at a time (ms) with the stat that it had then."""
    racy = is_racy(found, read_ms)
    return SeenEntry(entry, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, racy, followed)


def unread_of(found: os.stat_result, at: int) -> SeenEntry:
    """Take what was found at a time (ms) as it is, to be read later."""
    mode, mtime = found.st_mode, found.st_mtime_ns
    is_folder = mode & 0o170000 == 0o040000
    # Every file of a workspace comes by here before its first turn: tuples are made without the
    # constructors that name what is in them, which takes half of the time. What nobody has read
    # is never racy.
    new = tuple.__new__
    entry = (mode, "", 0, None, 0) if is_folder else (mode, "", found.st_size, "unread", mtime)
    racy = is_folder and is_racy(found, at)
    return new(
        SeenEntry, (new(TreeEntry, entry), mtime, found.st_ctime_ns, found.st_ino, racy, False)
    )


def is_racy(found: os.stat_result, read_ms: int) -> bool:
    """Tell whether what was read at a time (ms) may be written again within its time stamp."""
    stamp = found.st_ctime_ns if POSIX else found.st_mtime_ns
    return stamp >= read_ms * 1_000_000 - (FINE_NS if stamp % 1_000_000 else COARSE_NS)


def lost(found: os.stat_result, why: Loss) -> TreeEntry:
    """Give the entry of something whose content is not stored."""
    return TreeEntry(found.st_mode, "", found.st_size, why, found.st_mtime_ns)


def left_out(mode: int, size: int) -> TreeEntry:
    """Give the entry of something that the rules ignore: nothing is known of its content."""
    return TreeEntry(mode, "", size, "ignored")
