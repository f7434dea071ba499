"""Folds views from records."""

from collections.abc import Iterable, Sequence
from dataclasses import field
from weakref import ReferenceType, ref

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import MessageId, Millis, PartId
from sidecar.core.prompt.visibility import Note, Rewrite, View, fold_rewrites
from sidecar.session.log.rewrite_records import Recorded, recorded_in
from sidecar.session.view.kept_notes import KeptNotes
from sidecar.store.format.record_codec import LogRecord
from sidecar.store.format.view_records import (
    PinRecord,
    RewriteRecord,
    TalkRestoredRecord,
    UndoneRecord,
    ViewRecord,
)

SHARE = 16
"""Rewrites, at most, from a view that is held to that of an epoch."""


@dataclass(frozen=True, slots=True)
class Epoch:
    """A view from a time on, which that time's thinking is bound to.

    `newest` is the change, in effect then, that last began an epoch of the cache, at `opened`.
    `later` rewrites made the view from `base`, which other epochs share; `known` holds the view
    while anybody does.
    """

    since: Millis
    base: View
    newest: Recorded | None = None
    opened: Millis = 0
    later: tuple[Rewrite, ...] = ()
    known: list[ReferenceType[View]] = field(default_factory=list, compare=False)

    @property
    def view(self) -> View:
        """Folded on request: each lists all that ever left the prompt."""
        if not self.later:
            return self.base
        found = self.known[0]() if self.known else None
        if found is None:
            found = fold_rewrites(self.later, self.base)
            self.known[:] = [ref(found)]
        return found


class Views:
    """Follows records of the view, reading each once."""

    def __init__(self, records: Sequence[LogRecord]) -> None:
        self._records = records
        self.forget()

    def forget(self) -> None:
        self._read = 0
        self._made: dict[str, Recorded] = {}
        self._by_revision: dict[int, Recorded] = {}
        self._stood: list[tuple[int, tuple[Recorded, ...]]] = [(0, ())]
        self._pinned: frozenset[PartId] = frozenset()
        self._view = View()
        self._epochs: list[Epoch] = [Epoch(0, self._view)]
        self._opened: tuple[Millis, Recorded] | None = None
        self._in_view: list[KeptNotes] = []

    def take_rest(self) -> list[tuple[View, View]]:
        """Reads all, not only a window; returns pairs of narrow and whole views."""
        before = self._epochs
        self.forget()
        return [(one.view, other.view) for one, other in zip(before, self.epochs(), strict=False)]

    def standing(self) -> tuple[Recorded, ...]:
        """Lists rewrites in effect, and undos, in order."""
        self._follow()
        return self._stood[-1][1]

    def standing_at(self, revision: int) -> tuple[int, ...]:
        self._follow()
        stood = next(s for since, s in reversed(self._stood) if since < max(1, revision))
        known = {id(recorded): number for number, recorded in self._by_revision.items()}
        return tuple(known[id(recorded)] for recorded in stood)

    def of(self, revisions: Iterable[int]) -> tuple[Recorded, ...]:
        self._follow()
        return tuple(self._by_revision[revision] for revision in revisions)

    def view(self) -> View:
        self._follow()
        return self._view

    def epochs(self) -> tuple[Epoch, ...]:
        self._follow()
        return tuple(self._epochs)

    def newest_epoch(self) -> Recorded | None:
        self._follow()
        return self._epochs[-1].newest

    @property
    def anchor(self) -> MessageId | None:
        newest = self.newest_epoch()
        return None if newest is None else newest.anchor

    @property
    def opened(self) -> tuple[Millis, Recorded] | None:
        """The newest change beginning an epoch, in effect or not."""
        self._follow()
        return self._opened

    @property
    def pinned(self) -> frozenset[PartId]:
        self._follow()
        return self._pinned

    def find(self, compaction_id: str) -> Recorded | None:
        self._follow()
        return self._made.get(compaction_id)

    def is_undone(self, compaction_id: str) -> bool:
        self._follow()
        return not any(_is(recorded, compaction_id) for recorded in self._stood[-1][1])

    def left_out(self, compaction_id: str) -> frozenset[PartId] | None:
        """Lists parts that a rewrite omitted or shortened; `None` if unknown.

        Those of earlier rewrites count, if it retired their notes.
        """
        found = self.find(compaction_id)
        if found is None:
            return None
        gone = {part_id for part_id, how in found.rewrite.shown.items() if how is not None}
        retired = set(found.rewrite.retired)
        for other in self._made.values():
            if retired & {note.id for note in other.rewrite.notes}:
                gone |= self.left_out(other.rewrite.id) or frozenset()
        return frozenset(gone)

    @property
    def made(self) -> int:
        self._follow()
        return len(self._made)

    def _follow(self) -> None:
        for record in self._records[self._read :]:
            self._read += 1
            if isinstance(record, PinRecord):
                part = {record.part_id}
                self._pinned = self._pinned | part if record.pinned else self._pinned - part
            elif isinstance(record, ViewRecord):
                self._take(record)

    def _take(self, record: ViewRecord) -> None:
        recorded = recorded_in(record)
        self._by_revision[record.revision] = recorded
        stood = self._stood[-1][1]
        if isinstance(record, TalkRestoredRecord):
            stood = tuple(self._by_revision[revision] for revision in record.standing)
        elif isinstance(record, UndoneRecord):
            stood = tuple(r for r in stood if not _is(r, recorded.rewrite.id))
        else:
            self._made[recorded.rewrite.id] = recorded
        stand = (*stood, recorded)
        self._stood.append((record.revision, stand))
        if recorded.opens:
            self._opened = (record.at, recorded)
        newest = next((r for r in reversed(stand) if r.opens), None)
        last = self._epochs[-1]
        opened = record.at if recorded.opens else last.opened
        later: tuple[Rewrite, ...] = ()
        if isinstance(record, RewriteRecord):
            # A long session has hundreds of them: what stood before is folded already.
            self._view = fold_rewrites((recorded.rewrite,), self._view)
            later = (*last.later, recorded.rewrite) if len(last.later) < SHARE else ()
        else:
            self._view = fold_rewrites(r.rewrite for r in stand)
        self._pack(recorded.rewrite.notes)
        base = last.base if later else self._view
        self._epochs.append(Epoch(record.at, base, newest, opened, later, [ref(self._view)]))

    def _pack(self, newest: Sequence[Note]) -> None:
        """Packs the notes of rewrites with none left in view."""
        added = [newest] if isinstance(newest, KeptNotes) else []
        kept, self._in_view = [*self._in_view, *added], []
        for notes in kept:
            if any(note.id in self._view.notes for note in notes):
                self._in_view.append(notes)
            else:
                notes.pack()


def _is(recorded: Recorded, compaction_id: str) -> bool:
    return recorded.rewrite.id == compaction_id and recorded.rewrite.cause not in (
        "undo",
        "restore",
    )
