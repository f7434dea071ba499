"""What a log tells beside its messages: how turns ended, rewrites of the context, notices.

Clients were told of each as it happened; who opens the session later is told the same.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, cast

from sidecar.core.parts import JsonObject, Message, MessageId, Millis, Usage
from sidecar.session.asking import ASKED, asked_of
from sidecar.session.epochs import CHANGED
from sidecar.session.events import EpochChanged, Notice, TurnEnded
from sidecar.session.notices import NOTICE, from_record
from sidecar.session.outcome import spent
from sidecar.session.rewrites import REWRITE, UNDONE, Recorded, from_json
from sidecar.session.state import State
from sidecar.session.views import is_turn
from sidecar.store.values import Record

Beside: TypeAlias = EpochChanged | Notice | TurnEnded


@dataclass(frozen=True, slots=True)
class Told:
    """An event of `at`, told when so many records were written; its `seq` is of that time."""

    records: int
    at: Millis
    event: Beside


@dataclass(slots=True)
class _Turn:
    """A turn, as far as its records were read."""

    message_id: MessageId
    asked: list[tuple[Usage, str | None]] = field(default_factory=list)


def told(state: State) -> Iterator[Told]:
    """Give what the conversation as it stands was accompanied by, oldest first.

    What belongs to turns that it left behind is left out, and so is a rewrite that went out of
    effect with them.
    """
    log, left = state.log, state.log.left
    standing = frozenset(state.views.standing_at(log.row.revision + 1))
    undone = {
        record.body["compactionId"]
        for record in log.records
        if record.kind == UNDONE and record.revision in standing
    }
    by_turn: dict[str, list[Message]] = {}
    for message in log:
        by_turn.setdefault(message.turn_id, []).append(message)
    turn = _Turn(MessageId(""))
    for number, record in enumerate((*log.records, *log.waiting)):
        event: Beside | None = None
        gone = turn.message_id in left
        if record.kind == "turn_started":
            turn = _Turn(MessageId(str(record.body["messageId"])))
        elif record.kind == ASKED:
            turn.asked.append(asked_of(record))
        elif record.kind == "turn_ended":
            messages = by_turn.get(str(record.body["turnId"]))
            event = None if gone or not messages else _ended(state, record, turn, messages)
            turn = _Turn(MessageId(""))
        elif record.kind == NOTICE:
            event = None if gone else from_record(log.row.id, record)
        elif record.kind == CHANGED:
            event = _for_a_model(state, record)
        elif record.revision in standing or record.body.get("compactionId") in undone:
            event = _rewritten(state, record)
        if event is not None:
            yield Told(number, record.at, event)


def written(records: Sequence[Record]) -> dict[MessageId, int]:
    """Say of messages how many records there were before the first that names them."""
    found: dict[MessageId, int] = {}
    for number, record in enumerate(records):
        many = record.body.get("messageIds")
        for name in many if isinstance(many, list) else [record.body.get("messageId")]:
            if isinstance(name, str):
                found.setdefault(MessageId(name), number)
    return found


def _ended(state: State, record: Record, turn: _Turn, messages: Sequence[Message]) -> TurnEnded:
    turn_id = messages[0].turn_id
    usage, cost = spent(state, messages, turn.asked)
    reason = str(record.body["stopReason"])
    error = cast("JsonObject | None", record.body.get("error"))
    about = state.log.row.id, 0, turn_id, turn.message_id or messages[0].id
    return TurnEnded(*about, reason, usage, cost, error)


def _for_a_model(state: State, record: Record) -> EpochChanged | None:
    body = record.body
    if "tokensBefore" not in body:
        return None
    sizes = cast("int", body["tokensBefore"]), cast("int", body["tokensAfter"])
    name = str(body["compactionId"])
    return EpochChanged(state.log.row.id, 0, name, "completed", str(body["cause"]), *sizes)


def _rewritten(state: State, record: Record) -> EpochChanged | None:
    if not (record.kind in (REWRITE, UNDONE) or is_turn(record)):
        return None
    recorded: Recorded = from_json(record.body)
    return (
        EpochChanged(
            state.log.row.id,
            0,
            recorded.rewrite.id,
            "undone" if record.kind == UNDONE else "completed",
            recorded.rewrite.cause,
            recorded.tokens_before,
            recorded.tokens_after,
            recorded.price,
        )
        if recorded.opens
        else None
    )
