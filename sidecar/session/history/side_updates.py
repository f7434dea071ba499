"""Makes events from records."""

from typing import TypeAlias

from msgspec import to_builtins

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import JsonObject, MessageId, TurnId, Usage
from sidecar.session.history.turn_outcome import spent
from sidecar.session.log.channel import notice_of
from sidecar.session.log.events import EpochChanged, Notice, TurnEnded
from sidecar.session.log.log_slices import SliceTurn
from sidecar.session.log.session_log import SessionLog
from sidecar.session.meter.asked import asked_of
from sidecar.session.view.view_history import Views
from sidecar.store.format.log_records import (
    AskedRecord,
    NoticeRecord,
    TurnEndedRecord,
    TurnStartedRecord,
)
from sidecar.store.format.record_codec import LogRecord, named_by
from sidecar.store.format.view_records import ModelChangedRecord, UndoneRecord, ViewRecord

Beside: TypeAlias = EpochChanged | Notice | TurnEnded


@dataclass(frozen=True, slots=True)
class Ended:
    """A turn's end, still without the usage of its messages."""

    turn_id: TurnId
    message_id: MessageId
    asked: tuple[tuple[Usage, str | None], ...]
    reason: str
    error: JsonObject | None


class Telling:
    """Turns records, oldest first, into events of the present conversation.

    Skipped are turns left behind, with their rewrites, and records up to revision `since`. The
    caller numbers events.
    """

    def __init__(self, log: SessionLog, views: Views, since: int = 0) -> None:
        self._id, self._since, self._left = log.row.id, since, log.left
        self._standing = frozenset(views.standing_at(log.row.revision + 1))
        self._undone = {
            record.compaction_id
            for record in log.records
            if isinstance(record, UndoneRecord) and record.revision in self._standing
        }
        self._message_id = MessageId("")
        self._asked: list[tuple[Usage, str | None]] = []

    def read(self, record: LogRecord) -> Beside | Ended | None:
        told: Beside | Ended | None = None
        gone = self._message_id in self._left
        match record:
            case TurnStartedRecord(message_id=begun):
                self._turn(begun)
            case AskedRecord():
                self._asked.append(asked_of(record))
            case TurnEndedRecord():
                told = None if gone else self._end(record)
                self._turn(MessageId(""))
            case NoticeRecord():
                told = None if gone else notice_of(self._id, record)
            case ModelChangedRecord():
                told = self._for_a_model(record)
            case ViewRecord(revision=number, compaction_id=name):
                if number in self._standing or name in self._undone:
                    told = self._rewritten(record)
            case _:
                pass
        # What has no revision yet is newer than all that has.
        return None if 0 < record.revision <= self._since else told

    def ended(self, end: Ended, turn: SliceTurn) -> TurnEnded:
        usage, cost = spent(turn.ends, end.asked)
        about = self._id, 0, end.turn_id, end.message_id or turn.first
        return TurnEnded(*about, end.reason, usage, cost, end.error)

    def names(self, record: LogRecord) -> frozenset[MessageId]:
        return frozenset(named_by(record)) - self._left

    def _turn(self, message_id: MessageId) -> None:
        self._message_id, self._asked = message_id, []

    def _end(self, record: TurnEndedRecord) -> Ended:
        error = None if record.error is None else to_builtins(record.error)
        asked = tuple(self._asked)
        return Ended(record.turn_id, self._message_id, asked, record.stop_reason, error)

    def _for_a_model(self, record: ModelChangedRecord) -> EpochChanged | None:
        before, after = record.tokens_before, record.tokens_after
        if before is None or after is None:
            return None
        about = self._id, 0, record.compaction_id
        return EpochChanged(*about, "completed", record.cause, before, after)

    def _rewritten(self, record: ViewRecord) -> EpochChanged | None:
        if not record.opens:
            return None
        return EpochChanged(
            self._id,
            0,
            record.compaction_id,
            "undone" if isinstance(record, UndoneRecord) else "completed",
            record.cause,
            record.tokens_before,
            record.tokens_after,
            record.price,
        )
