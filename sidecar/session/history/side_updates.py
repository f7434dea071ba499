"""What a log tells beside its messages: how turns ended, rewrites of the context, notices.

Clients were told of each as it happened; who opens the session later is told the same.
"""

from dataclasses import dataclass
from typing import TypeAlias, cast

from sidecar.core.parts import JsonObject, MessageId, TurnId, Usage
from sidecar.session.epochs.epochs import CHANGED
from sidecar.session.history.turn_outcome import spent
from sidecar.session.log.events import EpochChanged, Notice, TurnEnded
from sidecar.session.log.log_slices import SliceTurn, named_by
from sidecar.session.log.notices import NOTICE, from_record
from sidecar.session.log.rewrite_records import REWRITE, UNDONE, Recorded, from_json
from sidecar.session.meter.side_request import ASKED, asked_of
from sidecar.session.state import State
from sidecar.session.view.view_history import is_turn
from sidecar.store.format.values import Record

Beside: TypeAlias = EpochChanged | Notice | TurnEnded


@dataclass(frozen=True, slots=True)
class Ended:
    """That a turn ended; what it used is known once its messages are."""

    turn_id: TurnId
    message_id: MessageId
    asked: tuple[tuple[Usage, str | None], ...]
    reason: str
    error: JsonObject | None


class Telling:
    """Goes through records, oldest first, for what the conversation as it stands now tells.

    What belongs to turns that it left behind is left out, and so is a rewrite that went out of
    effect with them. Nothing is told of records up to revision `since`. The `seq` of what is told
    is of the time when it happened.
    """

    def __init__(self, state: State, since: int = 0) -> None:
        log = state.log
        self._state, self._since, self._left = state, since, log.left
        self._standing = frozenset(state.views.standing_at(log.row.revision + 1))
        self._undone = {
            record.body["compactionId"]
            for record in log.records
            if record.kind == UNDONE and record.revision in self._standing
        }
        self._message_id = MessageId("")
        self._asked: list[tuple[Usage, str | None]] = []

    def read(self, record: Record) -> Beside | Ended | None:
        """Read the next record."""
        told: Beside | Ended | None = None
        gone = self._message_id in self._left
        if record.kind == "turn_started":
            self._turn(MessageId(str(record.body["messageId"])))
        elif record.kind == ASKED:
            self._asked.append(asked_of(record))
        elif record.kind == "turn_ended":
            told = None if gone else self._end(record)
            self._turn(MessageId(""))
        elif record.kind == NOTICE:
            told = None if gone else from_record(self._state.log.row.id, record)
        elif record.kind == CHANGED:
            told = self._for_a_model(record)
        elif record.revision in self._standing or record.body.get("compactionId") in self._undone:
            told = self._rewritten(record)
        # What has no revision yet is newer than all that has.
        return None if 0 < record.revision <= self._since else told

    def ended(self, end: Ended, turn: SliceTurn) -> TurnEnded:
        """Say how a turn ended, given all of its messages."""
        usage, cost = spent(self._state, turn.ends, end.asked)
        about = self._state.log.row.id, 0, end.turn_id, end.message_id or turn.first
        return TurnEnded(*about, end.reason, usage, cost, end.error)

    def names(self, record: Record) -> set[MessageId]:
        """Give the messages of the conversation that a record names."""
        return named_by(record) - self._left

    def _turn(self, message_id: MessageId) -> None:
        self._message_id, self._asked = message_id, []

    def _end(self, record: Record) -> Ended:
        body = record.body
        error = cast("JsonObject | None", body.get("error"))
        turn_id = TurnId(str(body["turnId"]))
        return Ended(turn_id, self._message_id, tuple(self._asked), str(body["stopReason"]), error)

    def _for_a_model(self, record: Record) -> EpochChanged | None:
        body = record.body
        if "tokensBefore" not in body:
            return None
        sizes = cast("int", body["tokensBefore"]), cast("int", body["tokensAfter"])
        about = self._state.log.row.id, 0, str(body["compactionId"])
        return EpochChanged(*about, "completed", str(body["cause"]), *sizes)

    def _rewritten(self, record: Record) -> EpochChanged | None:
        if not (record.kind in (REWRITE, UNDONE) or is_turn(record)):
            return None
        recorded: Recorded = from_json(record.body)
        if not recorded.opens:
            return None
        return EpochChanged(
            self._state.log.row.id,
            0,
            recorded.rewrite.id,
            "undone" if record.kind == UNDONE else "completed",
            recorded.rewrite.cause,
            recorded.tokens_before,
            recorded.tokens_after,
            recorded.price,
        )
