"""Follows each path through change sets."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from sidecar.core.dataclass import dataclass
from sidecar.core.files.changeset import ChangeSet, PathChange, same, state
from sidecar.core.files.tree import TreeEntry


@dataclass(frozen=True, slots=True)
class StrandPart:
    """A stretch of a path's history by one side; `None`: no file.

    `unknown`: by the agent or by others. `restoring`: done by a restore.
    """

    agent: bool
    old: TreeEntry | None
    new: TreeEntry | None
    unknown: bool = False
    restoring: bool = False


@dataclass(frozen=True, slots=True)
class Strand:
    """A path's history since the target state.

    `parts`: changes left to undo, the agent's first, then others' and the agent's in turn. `ever`:
    the agent had a part. `source`: path before the agent's move. `unknown`: a change possibly the
    agent's; in `parts` it is others', or, if `taken`, the agent's.
    """

    path: bytes
    now: TreeEntry | None
    parts: tuple[StrandPart, ...]
    ever: bool
    source: bytes | None = None
    unknown: StrandPart | None = None
    taken: bool = False

    @property
    def target(self) -> TreeEntry | None:
        """The state before `parts`, which must not be empty; `None`: no file."""
        return self.parts[0].old

    @property
    def changed(self) -> bool:
        return len(self.parts) > 1

    @property
    def left(self) -> TreeEntry | None:
        """The state left by the agent, before others' last change."""
        theirs = [at for at, part in enumerate(self.parts) if not part.agent]
        return self.parts[theirs[-1] - 1 if theirs else -1].new


def strands(
    sets: Sequence[ChangeSet], now: Mapping[bytes, TreeEntry], *, take_unknown: bool = False
) -> dict[bytes, Strand]:
    """Returns strands by path; `sets`: oldest first.

    Changes in no set are others', and so are unknown ones beside others', or without
    `take_unknown`.
    """
    parts: dict[bytes, list[StrandPart]] = {}
    sources: dict[bytes, bytes] = {}
    merged: dict[bytes, list[StrandPart]] = {}
    ever: set[bytes] = set()
    for change in (change for one in sets for change in one.changes):
        for path, part in _parts(change):
            own = parts.setdefault(path, [])
            own.append(part)
            if part.agent and not part.unknown:
                ever.add(path)
            if change.author == "merge":
                # The merge took the agent's part out; the rest is others'.
                merged[path], parts[path] = own, [StrandPart(False, None, part.new)]
            elif change.author == "restore" and path in merged:
                *until, taken_out = merged[path]
                if same(part.new, taken_out.old):
                    parts[path] = until
                    del merged[path]
        _follow(change, sources)
    return {
        path: _strand(
            Strand(path, now.get(path), (), path in ever, sources.get(path)), own, take_unknown
        )
        for path, own in sorted(parts.items())
    }


def _strand(strand: Strand, own: Iterable[StrandPart], take_unknown: bool) -> Strand:
    connected = list(_connected(own, strand.now))
    if not any(part.unknown for part in connected):
        return replace(strand, parts=tuple(_runs(_outstanding(_circles_cut(connected)))))
    claimed = _claimed(connected)
    cut = _circles_cut(claimed)
    if take_unknown:
        known = [replace(part, unknown=False) for part in claimed]
        left = tuple(_runs(_outstanding(_circles_cut(known))))
        return replace(strand, parts=left, unknown=_unknown(cut), taken=True)
    known = [replace(part, agent=part.agent and not part.unknown, unknown=False) for part in cut]
    left = tuple(_runs(_outstanding(known)))
    return replace(strand, parts=left, unknown=_unknown(cut))


def _claimed(parts: Sequence[StrandPart]) -> list[StrandPart]:
    """Marks unknown parts as others' if just before or after others' changes."""
    found: list[StrandPart] = []
    before = False
    for unknown, own in groupby(parts, lambda part: part.unknown):
        row = list(own)
        at = len(found) + len(row)
        after = at < len(parts) and not parts[at].agent
        if unknown and (before or after):
            row = [replace(part, agent=False, unknown=False) for part in row]
        found += row
        before = not row[-1].agent
    return found


def _unknown(parts: Sequence[StrandPart]) -> StrandPart | None:
    for at, part in enumerate(parts):
        back = (one for one in parts[at:] if same(one.new, part.old))
        if part.unknown and all(one.agent and not (one.restoring or one.unknown) for one in back):
            (row, *_) = (list(own) for _, own in groupby(parts[at:], lambda p: p.unknown))
            return StrandPart(True, part.old, row[-1].new, unknown=True)
    return None


def _parts(change: PathChange) -> Iterator[tuple[bytes, StrandPart]]:
    known = StrandPart(
        change.author != "user",
        change.old,
        change.new,
        unknown=change.author == "unknown",
        restoring=change.author == "restore",
    )
    if change.source is None:
        yield change.path, known
        return
    yield change.source, replace(known, new=None)
    yield change.path, replace(known, old=None)


def _follow(change: PathChange, sources: dict[bytes, bytes]) -> None:
    if change.source is not None:
        first = sources.pop(change.source, change.source)
        if change.author != "user" and first != change.path:
            sources[change.path] = first
    elif change.old is None or change.new is None:
        sources.pop(change.path, None)


def _connected(parts: Iterable[StrandPart], now: TreeEntry | None) -> Iterator[StrandPart]:
    """Fills gaps between parts, and up to `now`, with parts of others."""
    at: TreeEntry | None = None
    for count, part in enumerate(parts):
        if count and not same(at, part.old):
            yield StrandPart(False, at, part.old)
        yield part
        at = part.new
    if not same(at, now):
        yield StrandPart(False, at, now)


def _circles_cut(parts: Iterable[StrandPart]) -> list[StrandPart]:
    """Drops changes that one side took back before the other side's next."""
    rows: list[tuple[bool, list[StrandPart], dict[Hashable, int]]] = []
    for part in parts:
        if not rows or rows[-1][0] != part.agent:
            rows.append((part.agent, [], {}))
        _, row, places = rows[-1]
        places[state(part.old)] = len(row)
        row.append(part)
        back = places.get(state(part.new))
        if back is not None and _closes(row[back:]):
            for cut in row[back:]:
                places.pop(state(cut.old), None)
            del row[back:]
            if not row:
                rows.pop()
    return [part for _, row, _ in rows for part in row]


def _closes(circle: Sequence[StrandPart]) -> bool:
    return circle[-1].restoring or len({part.unknown for part in circle}) == 1


def _outstanding(parts: list[StrandPart]) -> list[StrandPart]:
    while True:
        first = next((at for at, part in enumerate(parts) if part.agent), len(parts))
        parts = parts[first:]
        if not parts:
            return parts
        target = parts[0].old
        back = next((at for at, part in enumerate(parts) if same(part.new, target)), None)
        if back is None:
            return parts
        parts = parts[back + 1 :]


def _runs(parts: Sequence[StrandPart]) -> Iterator[StrandPart]:
    for agent, own in groupby(parts, lambda part: part.agent):
        row = list(own)
        yield StrandPart(agent, row[0].old, row[-1].new)
