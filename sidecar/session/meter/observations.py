"""What a session's records let be seen: each, once it is durable, as an observation.

Nothing anybody wrote is in it: names of models and tools, numbers, and kinds of failures.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeAlias, cast

from sidecar.core.parts import (
    JsonObject,
    Message,
    MessageId,
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
    Retried,
    ToolDone,
    TurnBegun,
    ViewRewritten,
)
from sidecar.core.prompt.pricing import ModelInfo, price
from sidecar.session.log.rewrite_records import REWRITE
from sidecar.session.log.session_log import SessionLog
from sidecar.session.meter.pings import PING
from sidecar.session.meter.side_request import ASKED, asked_of
from sidecar.session.state import State
from sidecar.store.format.values import Record

SHOWN = {
    "placeholder": "evicted",
    "dropped": "dropped",
    "truncated": "truncated",
    "excerpt": "excerpt",
    "quoted": "excerpt",
}
"""How a part is shown otherwise, by the word of a rewrite's record."""


def observe_record(state: State, log: SessionLog, record: Record) -> None:
    """Tell the daemon's observer of a record, if it says anything of how things go.

    It is read when the observer has time: a step does not wait for it.
    """
    reader = _READERS.get(record.kind)
    if reader is not None:
        environment = state.environment
        environment.observe(partial(reader, log, record, environment.info))


_PLACE = re.compile(r"^message \d+, block \d+ \((.*)\)$")


Info: TypeAlias = Callable[[str], ModelInfo]


def _turn_begun(log: SessionLog, record: Record, _: Info) -> Observation:
    return TurnBegun(log.row.id, TurnId(str(record.body["turnId"])), record.at)


def _step(log: SessionLog, record: Record, info: Info) -> Observation | None:
    message = log.message(MessageId(str(record.body["messageId"])))
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
        foreseen=_whole(record.body.get("predictedRead")),
        break_=_break(record.body),
    )


def _step_failed(log: SessionLog, record: Record, _: Info) -> Observation:
    message = log.message(MessageId(str(record.body["messageId"])))
    return _failed(log, message, record, str(record.body["kind"]))


def _failed(log: SessionLog, message: Message, record: Record, error: str) -> ModelAsked:
    begun, model = message.created, message.model
    usage = Usage(requests=1)
    return ModelAsked(
        log.row.id, message.turn_id, record.at, begun, model, "turn", usage, error=error
    )


def _discarded(log: SessionLog, record: Record, _: Info) -> Observation:
    message = log.message(MessageId(str(record.body["messageId"])))
    # Without a kind it is the request whose length was refused, which has failed already.
    kind = str(record.body.get("kind", "context_overflow"))
    return Retried(log.row.id, record.at, message.model, kind)


def _asked(log: SessionLog, record: Record, info: Info) -> Observation | None:
    # What a subtask asks, its own session tells.
    purpose, model = str(record.body.get("purpose", "")), str(record.body.get("model", ""))
    if purpose == "subtask":
        return None
    usage, cost = asked_of(record)
    began = _whole(record.body.get("started")) or record.at
    return ModelAsked(
        log.row.id,
        TurnId(""),
        record.at,
        began,
        model,
        purpose,
        usage,
        _number(cost),
        _uncached(info(model), usage),
    )


def _pinged(log: SessionLog, record: Record, info: Info) -> Observation:
    body = record.body
    usage = Usage(
        _whole(body.get("uncached")),
        _whole(body.get("read")),
        _whole(body.get("write5m")),
        _whole(body.get("write1h")),
        requests=1,
    )
    message = log.message(MessageId(str(body["messageId"])))
    model = message.model
    return ModelAsked(
        log.row.id,
        TurnId(""),
        record.at,
        _whole(body.get("started")),
        model,
        "ping",
        usage,
        _number(body.get("cost")),
        _uncached(info(model), usage),
        foreseen=_whole(body.get("predictedRead")),
        break_=_break(body),
    )


def _tool(log: SessionLog, record: Record, _: Info) -> Observation | None:
    found = _call(log, record.body.get("partId"))
    if found is None:
        return None
    message, part = found
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


def _call(log: SessionLog, part_id: object) -> tuple[Message, ToolPart] | None:
    for message in log.newest_first():
        for part in message.parts:
            if part.id == part_id and isinstance(part, ToolPart):
                return message, part
    return None


def _rewritten(log: SessionLog, record: Record, _: Info) -> Observation:
    body = record.body
    shown = cast("Mapping[str, JsonObject | None]", body["shown"])
    counts = Counter(SHOWN[str(how["kind"])] for how in shown.values() if how is not None)
    figures = cast("Mapping[str, float]", body["figures"])
    return ViewRewritten(
        log.row.id,
        record.at,
        _whole(figures.get("took")),
        str(body["cause"]),
        str(body["policy"]),
        body["opens"] is True,
        _whole(body["tokensBefore"]),
        _whole(body["tokensAfter"]),
        _number(body["price"]),
        tuple(sorted(counts.items())),
        figures.get("compression"),
        figures.get("fidelity"),
    )


def _break(body: JsonObject) -> tuple[str, str] | None:
    miss = body.get("miss")
    return None if miss is None else (str(miss), _kind(str(body.get("segment", ""))))


def _kind(segment: str) -> str:
    """Give what a segment is, without its place: a metric has few values, a session many places."""
    what = _PLACE.search(segment)
    return segment.rstrip("0123456789 ") if what is None else what[1]


def _uncached(info: ModelInfo, usage: Usage) -> float | None:
    whole = price(info, Usage(input=usage.prompt, output=usage.output))
    return None if whole is None else float(whole)


def _number(value: object) -> float | None:
    return None if value is None else float(str(value))


def _whole(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


_READERS: Mapping[str, Callable[[SessionLog, Record, Info], Observation | None]] = {
    "turn_started": _turn_begun,
    "step": _step,
    "step_failed": _step_failed,
    "discarded": _discarded,
    "tool": _tool,
    ASKED: _asked,
    PING: _pinged,
    REWRITE: _rewritten,
}
"""By the record's kind."""
