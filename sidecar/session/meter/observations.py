"""Observes durable records: names and numbers, never texts."""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeAlias

from sidecar.core.parts import (
    Message,
    Millis,
    StepFinishPart,
    ToolCompleted,
    ToolError,
    ToolPart,
    TurnId,
    Usage,
)
from sidecar.core.prompt.observation import (
    ModelAsked,
    Observation,
    Observe,
    Retried,
    ToolDone,
    TurnBegun,
    ViewRewritten,
)
from sidecar.core.prompt.pricing import ModelInfo, price
from sidecar.session.log.session_log import SessionLog
from sidecar.session.meter.asked import asked_of
from sidecar.session.meter.kept_cache import usage_of
from sidecar.store.format.log_records import (
    AskedRecord,
    DiscardedRecord,
    PingRecord,
    StepFailedRecord,
    StepRecord,
    ToolRecord,
    TurnStartedRecord,
)
from sidecar.store.format.record_codec import LogRecord
from sidecar.store.format.view_records import (
    DroppedShape,
    ExcerptShape,
    PlaceholderShape,
    QuotedShape,
    RewriteRecord,
    ShownShape,
    TruncatedShape,
)

SHOWN: Mapping[type[ShownShape], str] = {
    PlaceholderShape: "evicted",
    DroppedShape: "dropped",
    TruncatedShape: "truncated",
    ExcerptShape: "excerpt",
    QuotedShape: "excerpt",
}
"""Presentations of parts, in the words of metrics."""


_PLACE = re.compile(r"^message \d+, block \d+ \((.*)\)$")


Info: TypeAlias = Callable[[str], ModelInfo]
_Observed: TypeAlias = (
    TurnStartedRecord
    | StepRecord
    | StepFailedRecord
    | DiscardedRecord
    | ToolRecord
    | AskedRecord
    | PingRecord
    | RewriteRecord
)
"""Records of interest to the observer."""


def observe_record(observe: Observe, info: Info, log: SessionLog, record: LogRecord) -> None:
    """Queues an observation: a step does not wait."""
    if isinstance(record, _Observed):
        observe(partial(_observation, log, record, info))


def _observation(log: SessionLog, record: _Observed, info: Info) -> Observation | None:
    match record:
        case TurnStartedRecord():
            return TurnBegun(log.row.id, record.turn_id, record.at)
        case StepRecord():
            return _step(log, record, info)
        case StepFailedRecord():
            return _step_failed(log, record)
        case DiscardedRecord():
            return _discarded(log, record)
        case ToolRecord():
            return _tool(log, record)
        case AskedRecord():
            return _asked(log, record, info)
        case PingRecord():
            return _pinged(log, record, info)
        case RewriteRecord():
            return _rewritten(log, record)


def _step(log: SessionLog, record: StepRecord, info: Info) -> Observation | None:
    message = log.by_id[record.message_id]
    found = (p for p in reversed(message.parts) if isinstance(p, StepFinishPart))
    end = next(found, None)
    if end is None:
        return None
    model = message.model
    return ModelAsked(
        log.row.id,
        message.turn_id,
        record.at,
        end.started,
        model,
        "turn",
        end.usage,
        _number(end.cost),
        _uncached(info(model), end.usage),
        stop=end.stop,
        foreseen=record.predicted_read or 0,
        break_=break_of(record),
    )


def _step_failed(log: SessionLog, record: StepFailedRecord) -> Observation:
    message = log.by_id[record.message_id]
    return _failed(log, message, record.at, record.failure)


def _failed(log: SessionLog, message: Message, at: Millis, error: str) -> ModelAsked:
    begun, model = message.created, message.model
    usage = Usage(requests=1)
    return ModelAsked(log.row.id, message.turn_id, at, begun, model, "turn", usage, error=error)


def _discarded(log: SessionLog, record: DiscardedRecord) -> Observation:
    message = log.by_id[record.message_id]
    # Without a kind it is the request whose length was refused, which has failed already.
    kind = "context_overflow" if record.failure is None else record.failure
    return Retried(log.row.id, record.at, message.model, kind)


def _asked(log: SessionLog, record: AskedRecord, info: Info) -> Observation | None:
    # What a subtask asks, its own session tells.
    if record.purpose == "subtask":
        return None
    usage, cost = asked_of(record)
    return ModelAsked(
        log.row.id,
        TurnId(""),
        record.at,
        record.started or record.at,
        record.model,
        record.purpose,
        usage,
        _number(cost),
        _uncached(info(record.model), usage),
    )


def _pinged(log: SessionLog, record: PingRecord, info: Info) -> Observation:
    usage, model = usage_of(record), log.by_id[record.message_id].model
    return ModelAsked(
        log.row.id,
        TurnId(""),
        record.at,
        record.started,
        model,
        "ping",
        usage,
        _number(record.cost),
        _uncached(info(model), usage),
        foreseen=record.predicted_read or 0,
        break_=break_of(record),
    )


def _tool(log: SessionLog, record: ToolRecord) -> Observation | None:
    places = ((m, log.position(m, record.part_id)) for m in reversed(log.by_id.values()))
    found = next(((m, m.parts[at]) for m, at in places if at < len(m.parts)), None)
    if found is None:
        return None
    message, part = found
    if not isinstance(part, ToolPart):
        return None
    left_out, failure = 0, ""
    match part.state:
        case ToolCompleted(started=started, output=output):
            if output.whole is not None:
                left_out = max(0, output.total_bytes - len(output.text.encode("utf-8", "replace")))
        case ToolError(started=started, failure=failure, message=text, output=whole):
            if whole is not None and whole.whole is not None:
                left_out = max(0, whole.total_bytes - len(text.encode("utf-8", "replace")))
        case _:
            return None
    return ToolDone(
        log.row.id,
        message.turn_id,
        record.at,
        started,
        part.name,
        part.call_id,
        failure,
        left_out,
    )


def _rewritten(log: SessionLog, record: RewriteRecord) -> Observation:
    counts = Counter(SHOWN[type(how)] for how in record.shown.values() if how is not None)
    figures = record.figures
    return ViewRewritten(
        log.row.id,
        record.at,
        _whole(figures.get("took")),
        record.cause,
        record.policy,
        record.opens,
        record.tokens_before,
        record.tokens_after,
        _number(record.price),
        tuple(sorted(counts.items())),
        figures.get("compression"),
        figures.get("fidelity"),
    )


def break_of(record: StepRecord | PingRecord) -> tuple[str, str] | None:
    """Returns a miss's cause and kind of segment; no place: metrics have few values."""
    if record.miss is None:
        return None
    segment = record.segment or ""
    what = _PLACE.search(segment)
    return record.miss, segment.rstrip("0123456789 ") if what is None else what[1]


def _uncached(info: ModelInfo, usage: Usage) -> float | None:
    whole = price(info, Usage(input=usage.prompt, output=usage.output))
    return None if whole is None else float(whole)


def _number(value: str | None) -> float | None:
    return None if value is None else float(value)


def _whole(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
