"""Lists all decisions about a session's context."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from sidecar.core.parts import (
    Json,
    JsonObject,
    Message,
    Output,
    PartId,
    StepFinishPart,
    ToolCompleted,
    ToolError,
    ToolPart,
)
from sidecar.store.format.log_records import (
    AskedRecord,
    DiscardedRecord,
    PingRecord,
    RefusedRecord,
    StepFailedRecord,
    StepRecord,
    ToolRecord,
)
from sidecar.store.format.record_codec import LogRecord, fields_of_record, read_all
from sidecar.store.format.values import Stored
from sidecar.store.format.view_records import (
    EpochRecord,
    FilesRestoredRecord,
    ModelChangedRecord,
    PinRecord,
    RewriteRecord,
    TalkRestoredRecord,
    UndoneRecord,
    ViewRecord,
)

DECISIONS: Mapping[type[LogRecord], str] = {
    EpochRecord: "epoch",
    RewriteRecord: "compaction",
    UndoneRecord: "compaction_undone",
    RefusedRecord: "refused",
    PinRecord: "pin",
    StepRecord: "request",
    StepFailedRecord: "request_failed",
    DiscardedRecord: "retry",
    ToolRecord: "truncation",
    AskedRecord: "asked",
    PingRecord: "ping",
    FilesRestoredRecord: "restored",
    TalkRestoredRecord: "restored",
    ModelChangedRecord: "model_changed",
}
"""A line's `decision` by the record's type."""


def audit(stored: Stored) -> Iterator[JsonObject]:
    """Gives one line per decision, in log order.

    `at`: ISO 8601 UTC; costs: USD as decimal strings or `null`; tokens: the provider's, if
    reported.
    """
    messages = {str(message.id): message for message in stored.messages}
    calls = {
        part.id: part
        for message in stored.messages
        for part in message.parts
        if isinstance(part, ToolPart)
    }
    for record in read_all(stored.records):
        decision = DECISIONS.get(type(record))
        if decision is None:
            continue
        told = _told(record, messages, calls)
        if told is not None:
            head: JsonObject = {
                "at": _iso(record.at),
                "session": stored.session.id,
                "revision": record.revision,
                "decision": decision,
            }
            yield {**head, **told}


def _told(
    record: LogRecord, messages: Mapping[str, Message], calls: Mapping[PartId, ToolPart]
) -> JsonObject | None:
    told = fields_of_record(record)
    match record:
        case RewriteRecord() | UndoneRecord():
            return _rewrite(record, told)
        case EpochRecord():
            return _some(told, "compactionId", "cause", "model")
        case StepRecord(message_id=name):
            return _request(told, messages.get(name))
        case ToolRecord(part_id=part):
            return _truncation(calls.get(part))
        case FilesRestoredRecord(left=left, back=back) | TalkRestoredRecord(left=left, back=back):
            return {**_some(told, "restoreId", "scope"), "left": len(left), "back": len(back)}
        case DiscardedRecord():
            return _some(told, "messageId", "kind")
        case _:
            return told


def _rewrite(record: ViewRecord, fields: JsonObject) -> JsonObject:
    how = Counter(
        "restored" if one is None else str(one.__struct_config__.tag)
        for one in record.shown.values()
    )
    names = (
        "compactionId", "cause", "policy", "reason", "opens", "tokensBefore", "tokensAfter",
        "price", "steps", "factor", "figures",
    )  # fmt: skip
    parts: dict[str, Json] = dict(sorted(how.items()))
    told = {**_some(fields, *names), "parts": parts, "notes": len(record.notes)}
    asked = _some(record.summary, "by", "calls", "cost", "problem", "ways")
    return {**told, "summary": asked} if asked else told


def _request(fields: JsonObject, message: Message | None) -> JsonObject:
    told = _some(fields, "messageId", "predictedRead", "read", "miss", "segment", "reason")
    ends = () if message is None else message.parts
    end = next((part for part in ends if isinstance(part, StepFinishPart)), None)
    if message is None or end is None:
        return told
    usage = end.usage
    counts: JsonObject = {
        "input": usage.input,
        "cacheRead": usage.cache_read,
        "cacheWrite": usage.cache_write_5m + usage.cache_write_1h,
        "output": usage.output,
    }
    return {**told, "model": message.model, "stop": end.stop, "usage": counts, "cost": end.cost}


def _truncation(call: ToolPart | None) -> JsonObject | None:
    if call is None:
        return None
    match call.state:
        case ToolCompleted(output=Output() as output) if output.whole is not None:
            shown = len(output.text.encode("utf-8", "replace"))
        case ToolError(output=Output() as output, message=text) if output.whole is not None:
            shown = len(text.encode("utf-8", "replace"))
        case _:
            return None
    return {
        "partId": call.id,
        "tool": call.name,
        "bytes": output.total_bytes,
        "shown": shown,
        "lines": output.total_lines,
    }


def _some(body: JsonObject, *names: str) -> JsonObject:
    return {name: body[name] for name in names if name in body}


def _iso(at: int) -> str:
    text = datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")
