"""Change sets as patch parts of the log, and back.

A user message's patch has the snapshot at the turn's start, and the user's changes before; an
answer's has changes during its calls.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

from sidecar.core.dataclass import dataclass
from sidecar.core.files.changeset import Author, ChangeSet, PathChange, PathChangeKind
from sidecar.core.files.tree import Loss, SnapshotId, TreeEntry
from sidecar.core.parts import Json, JsonObject, Message, PartId, PatchPart, ToolError, ToolPart
from sidecar.store.format.view_records import (
    ReachedRecord,
    RestoreRecord,
)

if TYPE_CHECKING:
    from sidecar.session.log.session_log import SessionLog

MOST_KNOWN = 10_000
"""Path changes kept decoded: some 6 MB."""

ReadSets: TypeAlias = Callable[[Json], tuple[ChangeSet, ...]]


@dataclass(frozen=True, slots=True)
class Patch:
    """Change sets, oldest first, and the snapshot after.

    `beside` names what all snapshots leave out, such as `.git`; `None` if unknown.
    """

    at: SnapshotId
    sets: tuple[ChangeSet, ...] = ()
    beside: tuple[str, ...] | None = None


def part_of(part_id: PartId, patch: Patch) -> PatchPart:
    files = tuple((shown(c.path), c.change) for one in patch.sets for c in one.changes)
    detail: JsonObject = {"at": patch.at, "sets": sets_to_json(patch.sets)}
    if patch.beside is not None:
        detail["beside"] = list(patch.beside)
    return PatchPart(part_id, files, detail)


def patch_of(part: PatchPart, read: ReadSets | None = None) -> Patch:
    at = cast("int", part.detail.get("at", 0))
    beside = cast("list[str] | None", part.detail.get("beside"))
    return Patch(
        SnapshotId(at),
        (read or sets_from_json)(part.detail.get("sets", [])),
        None if beside is None else tuple(beside),
    )


def patches(messages: Iterable[Message]) -> Iterator[tuple[Message, Patch]]:
    for message in messages:
        for part in message.parts:
            if isinstance(part, PatchPart) and part.detail:
                yield message, patch_of(part)


def newest(log: "SessionLog") -> SnapshotId | None:
    # What came from another machine has no number here.
    told = [patch.at for _, patch in patches(log.messages) if patch.at]
    reached = RestoreRecord | ReachedRecord
    known = (record.snapshot for record in log.records if isinstance(record, reached))
    told += [SnapshotId(at) for at in known if at is not None]
    if log.past is not None and log.past.snapshot is not None:
        told.append(SnapshotId(log.past.snapshot))
    return max(told, default=None)


def cut_short(log: "SessionLog") -> bool:
    """Whether the newest calls were interrupted: no patch came after."""
    for message in reversed(log.messages):
        parts = message.parts
        if any(isinstance(part, PatchPart) and part.detail for part in parts):
            return False
        states = (part.state for part in parts if isinstance(part, ToolPart))
        if any(isinstance(s, ToolError) and s.failure == "interrupted" for s in states):
            return True
    return False


def untold(log: "SessionLog") -> tuple[ChangeSet, ...]:
    """Lists others' changes during the newest restore, until a patch covers them."""
    reached = log.last_record(ReachedRecord)
    if reached is None or reached.snapshot is None:
        return ()
    at, sets = reached.snapshot, sets_from_json(reached.sets)
    return () if any(patch.at >= at for _, patch in patches(log.messages)) else sets


def shown(path: bytes) -> str:
    """Escapes bytes outside UTF-8 with backslashes."""
    return path.decode("utf-8", "backslashreplace")


def sets_to_json(sets: Sequence[ChangeSet]) -> list[Json]:
    return [
        {"before": one.before, "after": one.after, "changes": [_change(c) for c in one.changes]}
        for one in sets
    ]


def sets_from_json(body: Json) -> tuple[ChangeSet, ...]:
    return tuple(
        ChangeSet(
            SnapshotId(cast("int", one["before"])),
            SnapshotId(cast("int", one["after"])),
            tuple(_changed(c) for c in cast("list[JsonObject]", one["changes"])),
        )
        for one in cast("list[JsonObject]", body)
    )


class KnownSets:
    """Caches decoded sets by identity: stored bodies never change."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Json, tuple[ChangeSet, ...]]] = {}
        self._changes = 0

    def read(self, body: Json) -> tuple[ChangeSet, ...]:
        if not body:
            return ()
        # The body is kept, so that no other one can have its id.
        known = self._known.get(id(body))
        if known is None:
            known = (body, sets_from_json(body))
            self._changes += sum(len(one.changes) for one in known[1])
            if self._changes > MOST_KNOWN:
                self._known.clear()
                self._changes = 0
            self._known[id(body)] = known
        return known[1]


def _change(change: PathChange) -> JsonObject:
    told: JsonObject = {
        "path": os.fsdecode(change.path),
        "change": change.change,
        "author": change.author,
        "old": _entry(change.old),
        "new": _entry(change.new),
    }
    return told if change.source is None else {**told, "source": os.fsdecode(change.source)}


def _changed(body: JsonObject) -> PathChange:
    source = body.get("source")
    return PathChange(
        os.fsencode(cast("str", body["path"])),
        cast("PathChangeKind", body["change"]),
        cast("Author", body["author"]),
        _entered(body["old"]),
        _entered(body["new"]),
        os.fsencode(source) if isinstance(source, str) else None,
    )


def _entry(entry: TreeEntry | None) -> Json:
    if entry is None:
        return None
    return [entry.mode, entry.hash, entry.size, entry.lost, entry.version]


def _entered(body: Json) -> TreeEntry | None:
    if body is None:
        return None
    mode, name, size, lost, version = cast("tuple[int, str, int, Loss | None, int]", tuple(body))  # type: ignore[arg-type] # a list, as `_entry` wrote it
    return TreeEntry(mode, name, size, lost, version)
