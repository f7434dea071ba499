"""All decisions about a session's context, from the log.

Lines hold names, numbers and reasons, no conversation.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import cast

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
from sidecar.store.format.values import Record, Stored

DECISIONS: Mapping[str, str] = {
    "epoch": "epoch",
    "rewrite": "compaction",
    "rewrite_undone": "compaction_undone",
    "refused": "refused",
    "pin": "pin",
    "step": "request",
    "step_failed": "request_failed",
    "discarded": "retry",
    "tool": "truncation",
    "asked": "asked",
    "ping": "ping",
    "restored": "restored",
    "epoch_changed": "model_changed",
}
"""A line's `decision` by the record's kind."""


def audit(stored: Stored) -> Iterator[JsonObject]:
    """Yield one line per decision, in log order.

    `at` is ISO 8601 UTC, costs are USD as decimal strings or `null`; tokens are the provider's, if
    reported.
    """
    messages = {str(message.id): message for message in stored.messages}
    calls = {
        part.id: part
        for message in stored.messages
        for part in message.parts
        if isinstance(part, ToolPart)
    }
    for record in stored.records:
        decision = DECISIONS.get(record.kind)
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
    record: Record, messages: Mapping[str, Message], calls: Mapping[PartId, ToolPart]
) -> JsonObject | None:
    body = record.body
    match record.kind:
        case "rewrite" | "rewrite_undone":
            return _rewrite(body)
        case "epoch":
            return _some(body, "compactionId", "cause", "model")
        case "step":
            return _request(body, messages.get(str(body.get("messageId"))))
        case "tool":
            return _truncation(calls.get(PartId(str(body.get("partId")))))
        case "restored":
            return {**_some(body, "restoreId", "scope"), "left": _size(body, "left"),
                    "back": _size(body, "back")}  # fmt: skip
        case "discarded":
            return _some(body, "messageId", "kind")
        case _:
            return body


def _rewrite(body: JsonObject) -> JsonObject:
    shown = cast("Mapping[str, JsonObject | None]", body.get("shown") or {})
    how = Counter("restored" if one is None else str(one.get("kind")) for one in shown.values())
    summary = cast("JsonObject", body.get("summary") or {})
    names = (
        "compactionId", "cause", "policy", "reason", "opens", "tokensBefore", "tokensAfter",
        "price", "steps", "factor", "figures",
    )  # fmt: skip
    parts: dict[str, Json] = dict(sorted(how.items()))
    told = {**_some(body, *names), "parts": parts, "notes": _size(body, "notes")}
    asked = _some(summary, "by", "calls", "cost", "problem", "ways")
    return {**told, "summary": asked} if asked else told


def _request(body: JsonObject, message: Message | None) -> JsonObject:
    told = _some(body, "messageId", "predictedRead", "read", "miss", "segment", "reason")
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


def _size(body: JsonObject, name: str) -> int:
    found = body.get(name)
    return len(found) if isinstance(found, list) else 0


def _iso(at: int) -> str:
    text = datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")
