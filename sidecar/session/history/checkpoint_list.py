"""Checkpoints of sessions."""

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from sidecar.core.dataclass import dataclass
from sidecar.core.errors import BadRequest
from sidecar.core.files.changeset import ChangeSet, PathChange
from sidecar.core.files.tree import above
from sidecar.core.parts import JsonObject, MessageId, SessionId
from sidecar.session.changes.change_summary import Differences, agents_part, authors, net, paths_of
from sidecar.session.changes.timeline import Checkpoint, Timeline
from sidecar.session.log.change_records import KnownSets
from sidecar.session.log.held_log import held_of
from sidecar.store.format.log_records import ImportedRecord
from sidecar.store.format.record_codec import LogRecord
from sidecar.store.journal import Store

if TYPE_CHECKING:
    from sidecar.session.changes.tracker import Tracking
    from sidecar.session.log.session_log import SessionLog


_TOLD = frozenset({"text", "patch", "restored"})
"""Parts and records that are listed: what was asked for, which files changed, what went back."""


@dataclass(frozen=True, slots=True)
class ListedCheckpoint:
    """A checkpoint with files as the protocol shows them; `left` if out of the conversation."""

    checkpoint: Checkpoint
    files: tuple[JsonObject, ...]
    left: bool


@dataclass(frozen=True, slots=True)
class Listing:
    """All checkpoints, the present one (`head`), and the agent's remaining changes."""

    checkpoints: tuple[ListedCheckpoint, ...]
    head: str | None
    changes: tuple[JsonObject, ...]


class Checkpoints:
    """Lists and compares checkpoints."""

    def __init__(self, log: "SessionLog", tracking: "Tracking", differences: Differences) -> None:
        self._log = log
        self._tracking = tracking
        self.differences = differences
        self._sets = KnownSets()

    def timeline(self) -> Timeline:
        """Needs the whole log in memory."""
        return Timeline(self._log.messages, self._log.records, self._sets.read)

    async def listed(self) -> Listing:
        await self._log.whole()
        return await _listing(self.timeline(), self.differences)

    async def diff(self, start: str, end: str | None, path: str | None) -> list[JsonObject]:
        """Compares two checkpoints, or one with now.

        Raises BadRequest if unknown, or from before files were followed.
        """
        await self._log.whole()
        timeline, records = self.timeline(), self._log.records
        first = _place(timeline, records, start, "params.from")
        backwards = False
        if end is None:
            _, fresh = await self._tracking.since()
            sets: Sequence[ChangeSet] = (*timeline.since(first), fresh)
        else:
            last = _place(timeline, records, end, "params.to")
            backwards = last < first
            between = timeline.events[min(first, last) : max(first, last)]
            sets = [one for event in between for one in event.sets]
        changes = net(_backwards(sets) if backwards else sets)
        if path is not None:
            known = {p for c in changes for p in (c.path, c.source) if p is not None}
            wanted = paths_of(path, known)
            changes = tuple(c for c in changes if _within(c, wanted))
        return await self.differences.shown(changes, authors(sets))


async def stored_listing(store: Store, session_id: SessionId) -> Listing:
    log = held_of(await store.logs.load(session_id, _TOLD))
    timeline = Timeline(tuple(log.by_id.values()), log.records)
    return await _listing(timeline, Differences(store.logs.contents))


async def _listing(timeline: Timeline, differences: Differences) -> Listing:
    stays = {MessageId(""), *timeline.talk(len(timeline.events))}
    # All at once: a read for each checkpoint takes longer than what is read.
    await differences.counted(change for one in timeline.checkpoints for change in _flat(one.sets))
    listed = [
        ListedCheckpoint(
            one, tuple(await differences.counted(_flat(one.sets))), one.message_id not in stays
        )
        for one in timeline.checkpoints
    ]
    changes = await differences.counted(agents_part(timeline.since(0)))
    return Listing(tuple(listed), timeline.head, tuple(changes))


def named(timeline: Timeline, name: str, path: str) -> Checkpoint:
    found = timeline.checkpoint(name)
    if found is None:
        raise BadRequest(
            f"there is no checkpoint {name!r} in this session: checkpoint/list has them", path
        )
    return found


def _place(timeline: Timeline, records: Iterable[LogRecord], name: str, path: str) -> int:
    place = named(timeline, name, path).point.files
    if not timeline.follows_files(place):
        raise not_followed(records, path)
    return place


def not_followed(records: Iterable[LogRecord], path: str) -> BadRequest:
    why = "files were not followed yet at that time"
    if any(isinstance(record, ImportedRecord) for record in records):
        why = "this session was imported, and the files of before the import were not"
    return BadRequest(
        f"{why}, so it is not known what changed since: choose a later checkpoint, or go back "
        "with scope conversation",
        path,
    )


def _flat(sets: Iterable[ChangeSet]) -> list[PathChange]:
    return [change for one in sets for change in one.changes]


def _backwards(sets: Sequence[ChangeSet]) -> list[ChangeSet]:
    return [
        ChangeSet(one.after, one.before, tuple(b for c in reversed(one.changes) for b in _back(c)))
        for one in reversed(sets)
    ]


def _back(change: PathChange) -> tuple[PathChange, ...]:
    if change.source is None:
        return (PathChange(change.path, change.change, change.author, change.new, change.old),)
    return (
        PathChange(change.path, "deleted", change.author, change.new, None),
        PathChange(change.source, "created", change.author, None, change.old),
    )


def _within(change: PathChange, wanted: Collection[bytes]) -> bool:
    paths = (change.path,) if change.source is None else (change.path, change.source)
    return any(part in wanted for path in paths for part in (path, *above(path), b""))
