"""Plans how to undo the agent's part in files."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from sidecar.core.dataclass import dataclass
from sidecar.core.files.changeset import ChangeSet
from sidecar.core.files.placement import Placing, children, order
from sidecar.core.files.reconcile import Choices
from sidecar.core.files.strands import Strand, strands
from sidecar.core.files.tree import TreeEntry, above
from sidecar.core.files.undo import FateKind, PathVerdict, undo, undo_rename

_UNCHANGED = "Nothing was changed here since then."


@dataclass(frozen=True, slots=True)
class Action:
    """A path's only change in a plan.

    `entry`: the wanted entry, `None` for nothing. Unless `expect` is there now, nothing is done.
    `content`: merged bytes, not stored. Equal contents change the mode only. A new folder gets its
    mode once filled; missing parents are made.
    """

    path: bytes
    entry: TreeEntry | None
    expect: TreeEntry | None
    content: bytes | None = None


@dataclass(frozen=True, slots=True)
class Fate:
    """A path's fate in a restore, and the reason.

    In a conflict, `theirs` is the entry before the agent, `base` after, `mine` now; `unknown`
    (from, to) is possibly the agent's change.
    """

    path: bytes
    fate: FateKind
    reason: str
    mine: TreeEntry | None = None
    base: TreeEntry | None = None
    theirs: TreeEntry | None = None
    unknown: tuple[TreeEntry | None, TreeEntry | None] | None = None


@dataclass(frozen=True, slots=True)
class RestorePlan:
    """Actions in order, none if conflicts are refused, and every path's fate."""

    actions: tuple[Action, ...]
    fates: tuple[Fate, ...]

    @property
    def conflicts(self) -> tuple[Fate, ...]:
        return tuple(fate for fate in self.fates if fate.fate == "conflict")


def plan_restore(
    sets: Sequence[ChangeSet],
    now: Mapping[bytes, TreeEntry],
    choices: Choices,
    paths: Collection[bytes] | None = None,
    inside: Callable[[bytes], Iterable[bytes]] | None = None,
) -> RestorePlan:
    """Plans to undo the agent's part.

    `sets`: all since the target state, oldest first; restores count as the agent's. `now`: entries,
    lost as `ignored` if ignored since. `paths`: only these and below (`b""`: the root), with
    renames' other paths. `inside` returns a folder's paths, ignored ones too.
    """
    known = strands(sets, now, take_unknown=choices.on_conflict == "overwrite")
    paths = None if paths is None else frozenset(paths)
    pairs = [(path, old) for path, old in _renames(known) if _chosen(paths, path, old)]
    asked = {path for path in known if _chosen(paths, path)} | {p for pair in pairs for p in pair}
    emptied = {
        folder
        for path in asked
        for folder in above(path)
        if folder in known and _made(known[folder])
    }
    verdicts = {path: undo(known[path], choices) for path in asked | emptied}
    for new, old in pairs:
        verdicts[new], verdicts[old] = undo_rename(known[new], known[old], choices)
    placing = Placing(known, now, inside or children(now), choices, pairs, verdicts)
    placing.settle()
    emptying = {f for p, v in verdicts.items() if v.acts and v.entry is None for f in above(p)}
    due = asked | (emptied & emptying) | placing.needed.keys()
    told = {p: v for p, v in sorted(verdicts.items()) if p in asked or (p in due and v.acts)}
    acting = [path for path, verdict in told.items() if verdict.acts]
    fates = tuple(_fate(path, verdict, known) for path, verdict in told.items())
    unknown = (path for path in sorted(paths or ()) if not any(_chosen({path}, p) for p in told))
    fates += tuple(Fate(path, "skipped", _UNCHANGED) for path in unknown)
    if choices.on_conflict == "refuse" and any(fate.fate == "conflict" for fate in fates):
        return RestorePlan((), fates)
    ordered = order(acting, now, lambda path: told[path].entry)
    return RestorePlan(tuple(_action(path, told[path], now) for path in ordered), fates)


def plan_redo(
    restore: ChangeSet,
    since: Sequence[ChangeSet],
    now: Mapping[bytes, TreeEntry],
    choices: Choices,
    inside: Callable[[bytes], Iterable[bytes]] | None = None,
) -> RestorePlan:
    ours = tuple(replace(change, author="tool") for change in restore.changes)
    done = {path for change in ours for path in (change.path, change.source) if path is not None}
    sets = (replace(restore, changes=ours), *since)
    return plan_restore(sets, now, replace(choices, restored=done), inside=inside)


def _renames(known: Mapping[bytes, Strand]) -> Iterable[tuple[bytes, bytes]]:
    for path, strand in known.items():
        old = None if strand.source is None else known.get(strand.source)
        if old is not None and strand.parts and old.parts and old.target is not None:
            yield path, old.path


def _made(strand: Strand) -> bool:
    now = strand.now
    return bool(strand.parts) and strand.target is None and now is not None and now.is_folder


def _chosen(paths: Collection[bytes] | None, *these: bytes) -> bool:
    if paths is None:
        return True
    return any(part in paths for path in these for part in (path, *above(path), b""))


def _action(path: bytes, verdict: PathVerdict, now: Mapping[bytes, TreeEntry]) -> Action:
    return Action(path, verdict.entry, now.get(path), verdict.content)


def _fate(path: bytes, verdict: PathVerdict, known: Mapping[bytes, Strand]) -> Fate:
    strand = known.get(path)
    if verdict.fate != "conflict" or strand is None:
        return Fate(path, verdict.fate, verdict.reason)
    found = None if strand.unknown is None else (strand.unknown.old, strand.unknown.new)
    if not strand.parts:
        return Fate(path, verdict.fate, verdict.reason, unknown=found)
    # An unknown change is not listed as the user's as well.
    mine = strand.left if found == (strand.left, strand.now) else strand.now
    return Fate(path, verdict.fate, verdict.reason, mine, strand.left, strand.target, found)
