"""Values for states of a folder. Paths are relative bytes."""

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple, NewType, TypeAlias

from sidecar.core.dataclass import dataclass

MIB = 1024 * 1024

SnapshotId = NewType("SnapshotId", int)
"""Of one workspace; later ones are larger."""

EntryKind: TypeAlias = Literal["file", "folder", "link"]
ChangeKind: TypeAlias = Literal["created", "edited", "deleted", "mode", "replaced", "seen", "lost"]
Loss: TypeAlias = Literal[
    "large", "full", "unreadable", "unstable", "unread", "ignored", "withheld"
]
"""Why a content cannot be restored. `large`: over a file's limit. `full`: over a snapshot's or
workspace's. `unreadable`: no right to read. `unstable`: changed whenever read. `unread`: changed
before its first reading. `ignored`: by the rules of that time. `withheld`: it did
not come along from another machine."""

_FORMAT = 0o170000
_FOLDER = 0o040000


class TreeEntry(NamedTuple):
    """One path of a tree.

    `mode`: whole `st_mode`; `size`: bytes; `hash`: `core/text/digest.digest` of the bytes or link's
    target, empty for folders and if `lost`; `version` (ns) tells contents without hash apart.
    """

    mode: int
    hash: str = ""
    size: int = 0
    lost: Loss | None = None
    version: int = 0

    @property
    def kind(self) -> EntryKind:
        match self.mode & _FORMAT:
            case 0o040000:
                return "folder"
            case 0o120000:
                return "link"
            case _:
                return "file"

    @property
    def is_folder(self) -> bool:
        return self.mode & _FORMAT == _FOLDER

    @property
    def restorable(self) -> bool:
        return self.lost is None


class TreeChange(NamedTuple):
    """A path's change; `None`: no entry; `old` and `new` always differ."""

    path: bytes
    old: TreeEntry | None
    new: TreeEntry | None

    @property
    def kind(self) -> ChangeKind:
        """`replaced`: another kind of entry now.

        `seen` and `lost`: ignore rules changed, the file perhaps not.
        """
        old, new = self.old, self.new
        if old is None:
            return "created"
        if new is None:
            return "deleted"
        if old.lost == "ignored":
            return "seen"
        if new.lost == "ignored":
            return "lost"
        if old.kind != new.kind:
            return "replaced"
        return "edited" if content(old) != content(new) else "mode"


Delta: TypeAlias = tuple[TreeChange, ...]
"""Changes between two states, sorted by path, each path once."""


@dataclass(frozen=True, slots=True)
class Rename:
    """A moved file or link."""

    old: bytes
    new: bytes


class SeenEntry(NamedTuple):
    """An entry and its stat (ns); a tuple, for speed.

    `racy`: read within its time stamp's grain, so the stat proves nothing. `followed`: ignored, but
    written by our tool.
    """

    entry: TreeEntry
    mtime: int
    ctime: int
    inode: int
    racy: bool = False
    followed: bool = False


def content(entry: TreeEntry) -> tuple[str, int, int]:
    return entry.hash, entry.size, entry.version


def net(deltas: Iterable[Delta]) -> Delta:
    together: dict[bytes, TreeChange] = {}
    for delta in deltas:
        for change in delta:
            before = together.get(change.path)
            old = change.old if before is None else before.old
            together[change.path] = TreeChange(change.path, old, change.new)
    return tuple(sorted((c for c in together.values() if c.old != c.new), key=_path))


def inverse(delta: Delta) -> Delta:
    return tuple(TreeChange(change.path, change.new, change.old) for change in delta)


def renames(delta: Delta) -> tuple[Rename, ...]:
    """Pairs deletions with creations of the same content.

    Pairs with equal names come first; empty files need equal names.
    """
    gone: dict[tuple[str, str], list[bytes]] = {}
    for change in delta:
        if change.new is None and change.old is not None and change.old.hash:
            gone.setdefault((change.old.kind, change.old.hash), []).append(change.path)
    found: list[Rename] = []
    came = [c for c in delta if c.old is None and c.new is not None and c.new.hash]
    for same_name in (True, False):
        rest: list[TreeChange] = []
        for change in came:
            assert change.new is not None
            paths = gone.get((change.new.kind, change.new.hash), [])
            old = _origin(change.path, paths, same_name=same_name or not change.new.size)
            if old is None:
                rest.append(change)
                continue
            paths.remove(old)
            found.append(Rename(old, change.path))
        came = rest
    return tuple(sorted(found, key=lambda rename: rename.new))


def parent(path: bytes) -> bytes:
    return path.rpartition(b"/")[0]


def above(path: bytes) -> Iterator[bytes]:
    while path := parent(path):
        yield path


def name(path: bytes) -> bytes:
    return path.rpartition(b"/")[2]


def _origin(path: bytes, candidates: list[bytes], *, same_name: bool) -> bytes | None:
    fitting = (old for old in candidates if not same_name or name(old) == name(path))
    return next(fitting, None)


def _path(change: TreeChange) -> bytes:
    return change.path
