"""Changes between two snapshots, per path, each with an author.

The agent's are writes of tools and those stated in its commands. Other changes while a command ran
are unknown; the rest is the user's.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Literal, TypeAlias

from sidecar.core.dataclass import dataclass
from sidecar.core.files.tree import Delta, SnapshotId, TreeChange, TreeEntry, above, renames

Author: TypeAlias = Literal["tool", "shell", "user", "unknown", "restore", "merge"]
"""`tool` and `shell` are the agent's. `unknown` came while a command ran, by anybody. `restore`
undid the agent's part, or did it again. `merge` is a restore that left others' later changes."""
PathChangeKind: TypeAlias = Literal["created", "modified", "deleted", "renamed", "mode"]


@dataclass(frozen=True, slots=True)
class PathChange:
    """A path's change; `old` or `new` is `None` without an entry.

    A rename stands at the new path; `source` is the path before, `old` the new path's former entry.
    """

    path: bytes
    change: PathChangeKind
    author: Author
    old: TreeEntry | None
    new: TreeEntry | None
    source: bytes | None = None


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """Changes sorted by path and time; a path has one per author in turn."""

    before: SnapshotId
    after: SnapshotId
    changes: tuple[PathChange, ...]


@dataclass(frozen=True, slots=True)
class ToolWrite:
    """A write of our tool, with the path's entries just `before` and `after`."""

    path: bytes
    before: TreeEntry | None
    after: TreeEntry | None


@dataclass(frozen=True, slots=True)
class _Step:
    change: TreeChange
    author: Author


def attribute(
    changes: Delta,
    *,
    tools: Sequence[ToolWrite],
    shell: bool,
    saved: Collection[bytes],
    between_steps: bool,
    vouched: Callable[[TreeChange], bool] = lambda _: True,
) -> tuple[PathChange, ...]:
    """Finds the authors of an interval's changes.

    `tools`: writes in order. `shell`: a command ran; `vouched` tests whether a command states a
    change. `saved`: paths saved by the editor. `between_steps`: all is the user's. Omits paths that
    ignore rules merely hide or show.
    """
    writes: dict[bytes, list[ToolWrite]] = {}
    for write in () if between_steps else tools:
        writes.setdefault(write.path, []).append(write)
    around = {folder for path in writes for folder in above(path)}

    def other(change: TreeChange) -> Author:
        if between_steps or change.path in saved:
            return "user"
        if change.path in around and change.kind == "created":
            return "tool"
        if not shell:
            return "user"
        # A folder comes and goes with its contents; nobody's work is lost with the folder alone.
        known = change.path not in writes and only_folders(change)
        return "shell" if known or vouched(change) else "unknown"

    steps: list[_Step] = []
    for change in changes:
        own = writes.get(change.path)
        if own is not None:
            steps += _steps(change, own, other(change))
        elif _tells(change):
            steps.append(_Step(change, other(change)))
    return tuple(_told(steps))


def same(one: TreeEntry | None, other: TreeEntry | None) -> bool:
    if one is None or other is None:
        return one is other
    return one.mode == other.mode and same_content(one, other)


def state(entry: TreeEntry | None) -> Hashable:
    """Equal for states that are `same`."""
    if entry is None:
        return None
    return entry.mode, entry.hash or (entry.size, entry.version)


def same_content(one: TreeEntry, other: TreeEntry) -> bool:
    if one.kind != other.kind:
        return False
    if one.hash or other.hash:
        return one.hash == other.hash
    return (one.size, one.version) == (other.size, other.version)


def only_folders(change: TreeChange | PathChange) -> bool:
    return all(entry is None or entry.is_folder for entry in (change.old, change.new))


def _steps(change: TreeChange, writes: Iterable[ToolWrite], other: Author) -> Iterator[_Step]:
    at = change.old
    for write in writes:
        if not same(at, write.before):
            yield from _step(change.path, at, write.before, other)
        yield from _step(change.path, write.before, write.after, "tool")
        at = write.after
    if not same(at, change.new):
        yield from _step(change.path, at, change.new, other)


def _step(
    path: bytes, old: TreeEntry | None, new: TreeEntry | None, author: Author
) -> Iterator[_Step]:
    change = TreeChange(path, old, new)
    if _tells(change):
        yield _Step(change, author)


def _tells(change: TreeChange) -> bool:
    return not same(change.old, change.new) and change.kind not in ("seen", "lost")


def _told(steps: Sequence[_Step]) -> Iterator[PathChange]:
    if len({step.change.path for step in steps}) == len(steps):
        joined = steps
    else:
        every = groupby(steps, lambda step: step.change.path)
        joined = [step for _, own in every for step in _joined(own)]
    times: dict[bytes, int] = {}
    for step in joined:
        times[step.change.path] = times.get(step.change.path, 0) + 1
    moved: dict[bytes, bytes] = {}
    for author in {step.author for step in joined}:
        whole = [s.change for s in joined if s.author == author and times[s.change.path] == 1]
        moved.update((rename.new, rename.old) for rename in renames(tuple(whole)))
    gone = set(moved.values())
    left = {step.change.path: step.change.old for step in joined if step.change.path in gone}
    for step in joined:
        path = step.change.path
        if path in moved:
            source = moved[path]
            yield PathChange(path, "renamed", step.author, left[source], step.change.new, source)
        elif path not in left:
            yield _plain(step)


def _joined(steps: Iterable[_Step]) -> Iterator[_Step]:
    for author, own in groupby(steps, lambda step: step.author):
        row = list(own)
        first, last = row[0].change, row[-1].change
        change = first if first is last else TreeChange(first.path, first.old, last.new)
        if not same(change.old, change.new):
            yield _Step(change, author)


def _plain(step: _Step) -> PathChange:
    change = step.change
    match change.kind:
        case "created" | "deleted" | "mode" as kind:
            told: PathChangeKind = kind
        case _:
            told = "modified"
    return PathChange(change.path, told, step.author, change.old, change.new)
