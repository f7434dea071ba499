"""Results and records of finished turns."""

from collections.abc import Sequence

from msgspec import convert, structs

from sidecar.core.errors import StorageFailed
from sidecar.core.parts import MessageId, SessionId, StepFinishPart, TurnId, Usage
from sidecar.core.prompt.meter import Meter
from sidecar.core.prompt.pricing import total
from sidecar.session.interface import PromptResult
from sidecar.session.log.events import TurnEnded
from sidecar.session.log.session_log import SessionLog
from sidecar.session.meter.asked import asked_since
from sidecar.session.turn.turn import TurnEnd, unstored
from sidecar.session.view.view_history import Views
from sidecar.store.format.log_records import FailureShape, TurnEndedRecord


def result_of(
    log: SessionLog, turn_id: TurnId, message_id: MessageId, end: TurnEnd, meter: Meter
) -> PromptResult:
    parts = (p for m in log if m.turn_id == turn_id for p in m.parts)
    ends = [part for part in parts if isinstance(part, StepFinishPart)]
    usage, cost = spent(ends, asked_since(log.records, turn_id))
    return PromptResult(
        end.stop_reason,
        turn_id,
        message_id,
        log.row.revision,
        usage,
        cost,
        meter,
        end.error,
    )


def spent(
    ends: Sequence[StepFinishPart], asked: Sequence[tuple[Usage, str | None]]
) -> tuple[Usage, str | None]:
    each = [*((end.usage, end.cost) for end in ends), *asked]
    return sum((usage for usage, _ in each), Usage()), total(cost for _, cost in each)


async def record_end(log: SessionLog, views: Views, turn_id: TurnId, end: TurnEnd) -> TurnEnd:
    """On failure, returns a failed end, owed to the next commit."""
    shape = None if end.error is None else convert(end.error, FailureShape)
    record = TurnEndedRecord(turn_id=turn_id, stop_reason=end.stop_reason, error=shape)
    try:
        await log.writer.commit(record)
    except StorageFailed as error:
        end = unstored(end, error)
        shape = convert(end.error, FailureShape)
        log.writer.owe(structs.replace(record, stop_reason=end.stop_reason, error=shape))
        views.forget()
    return end


def ended_event(session_id: SessionId, seq: int, result: PromptResult) -> TurnEnded:
    return TurnEnded(
        session_id,
        seq,
        result.turn_id,
        result.message_id,
        result.stop_reason,
        result.usage,
        result.cost,
        result.error,
    )
