"""What a log holds in memory: for those who read the log, and for the one who writes."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from sidecar.core.parts import Message, MessageId
from sidecar.store.format.record_codec import LogRecord
from sidecar.store.format.values import SessionRow
from sidecar.store.format.view_records import FilesRestoredRecord, TalkRestoredRecord


@dataclass(slots=True)
class HeldLog:
    """The session's row, its records, and its messages by id, all oldest first.

    `left` are the messages that the conversation left behind. `aside` are records that change
    nothing and have no revision yet.
    """

    row: SessionRow
    records: list[LogRecord]
    messages: dict[MessageId, Message]
    left: frozenset[MessageId] = frozenset()
    aside: list[LogRecord] = field(default_factory=list)

    def look_again(self) -> None:
        """Find out which messages are left behind: the conversation went back, or forth again."""
        self.left = left_behind(self.records)


def left_behind(records: Iterable[LogRecord]) -> frozenset[MessageId]:
    """Return the messages that are not in the conversation any more, because it went back."""
    gone: set[MessageId] = set()
    for record in records:
        if isinstance(record, FilesRestoredRecord | TalkRestoredRecord):
            gone = (gone | {*record.left}) - {*record.back}
    return frozenset(gone)
