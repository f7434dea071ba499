"""A log in memory, shared by readers and the writer."""

from collections.abc import Iterable
from dataclasses import field

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Message, MessageId, PartId
from sidecar.store.format.record_codec import LogRecord, read_all
from sidecar.store.format.values import SessionRow, Stored
from sidecar.store.format.view_records import RestoreRecord


@dataclass(slots=True, eq=False)
class HeldLog:
    """A session's row, unstored changes included, records and messages, oldest first.

    `left` are messages out of the conversation, `aside` records without effect, not yet numbered.
    """

    row: SessionRow
    records: list[LogRecord]
    by_id: dict[MessageId, Message]
    left: frozenset[MessageId] = frozenset()
    aside: list[LogRecord] = field(default_factory=list)
    _places: tuple[MessageId | None, dict[PartId, int]] = (None, {})

    def hold(self, other: "HeldLog") -> None:
        """Takes another log's content into the same list of records."""
        self.row, self.by_id, self.left = other.row, other.by_id, other.left
        self.records[:], self.aside = other.records, other.aside

    def position(self, message: Message, part_id: PartId) -> int:
        """Finds a part's place, or the place behind the last; quick for one message's parts."""
        name, places = self._places
        known = places.get(part_id, -1) if name == message.id else -1
        if 0 <= known < len(message.parts) and message.parts[known].id == part_id:
            return known
        places = {part.id: position for position, part in enumerate(message.parts)}
        self._places = message.id, places
        return places.setdefault(part_id, len(message.parts))

    def look_again(self) -> None:
        self.left = left_behind(self.records)


def held_of(stored: Stored) -> HeldLog:
    records, messages = list(read_all(stored.records)), {m.id: m for m in stored.messages}
    return HeldLog(stored.session, records, messages, left_behind(records))


def left_behind(records: Iterable[LogRecord]) -> frozenset[MessageId]:
    gone: set[MessageId] = set()
    for record in records:
        if isinstance(record, RestoreRecord):
            gone = (gone | {*record.left}) - {*record.back}
    return frozenset(gone)
