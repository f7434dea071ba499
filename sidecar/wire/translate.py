"""Writes session values as wire messages: camelCase, ACP's shapes where possible."""

from sidecar.core.parts import Json, JsonObject, Usage
from sidecar.core.prompt.meter import Meter
from sidecar.core.text.visible import visible_message
from sidecar.session.desk.session_search import SessionHits
from sidecar.session.history.found_words import TextHit
from sidecar.session.interface import Opened, PromptResult, SessionSummary
from sidecar.session.log.events import (
    AlertChanged,
    ContentChunk,
    EpochChanged,
    Event,
    EventOrigin,
    MeterChanged,
    Notice,
    OptionsChanged,
    PlanChanged,
    Progressed,
    Retrying,
    SessionChanged,
    StatusChanged,
    TextChunk,
    TitleChanged,
    ToolChanged,
    ToolInputChunk,
    ToolOutputChunk,
    TurnEnded,
)
from sidecar.session.turn.clock import iso
from sidecar.wire.error_codes import code_of_turn

SPEAKERS = {
    "user": "user_message_chunk",
    "agent": "agent_message_chunk",
    "thought": "agent_thought_chunk",
}


def notification(event: Event) -> JsonObject:
    match event:
        case MeterChanged(meter=measured):
            return _notify("context/meterChanged", meter(measured))
        case SessionChanged(session_id=session_id, revision=revision, cause=cause):
            changed: JsonObject = {"sessionId": session_id, "revision": revision, "cause": cause}
            return _notify("session/changed", changed)
        case StatusChanged(busy=busy, message=message):
            status: JsonObject = {
                "busy": busy,
                "kind": "working" if busy else "idle",
                "message": message,
            }
            return _notify("daemon/statusChanged", status)
        case AlertChanged():
            return _notify("daemon/alert", _alert(event))
        case Progressed(token=token):
            return _notify("$/progress", {"token": token, "value": _progress(event)})
        case Retrying():
            return _notify("session/retrying", _retrying(event))
        case (
            TextChunk(origin=origin)
            | ContentChunk(origin=origin)
            | ToolChanged(origin=origin)
            | ToolInputChunk(origin=origin)
            | ToolOutputChunk(origin=origin)
            | PlanChanged(origin=origin)
        ):
            return _update(origin.session_id, {**part_update(event), "_meta": _meta(origin, event)})
        case TurnEnded():
            about: JsonObject = {
                "sidecar": {
                    "messageId": event.message_id,
                    "turnId": event.turn_id,
                    "seq": event.seq,
                }
            }
            return _update(event.session_id, {**_turn_ended(event), "_meta": about})
        case Notice() | EpochChanged() | TitleChanged() | OptionsChanged():
            meta: JsonObject = {"sidecar": {"seq": event.seq}}
            return _update(event.session_id, {**_session_update(event), "_meta": meta})


def _progress(event: Progressed) -> JsonObject:
    done: JsonObject = {} if event.percentage is None else {"percentage": event.percentage}
    text = visible_message(event.text)
    if event.kind == "begin":
        return {"kind": "begin", "title": text, "cancellable": True, **done}
    return {"kind": event.kind, **({"message": text} if text else {}), **done}


def part_update(
    event: TextChunk | ContentChunk | ToolChanged | ToolInputChunk | ToolOutputChunk | PlanChanged,
) -> JsonObject:
    match event:
        case TextChunk(speaker=speaker, text=text):
            return {"sessionUpdate": SPEAKERS[speaker], "content": {"type": "text", "text": text}}
        case ContentChunk(speaker=speaker, content=content):
            return {"sessionUpdate": SPEAKERS[speaker], "content": content}
        case ToolChanged():
            return _tool(event)
        case ToolInputChunk(call_id=call_id) | ToolOutputChunk(call_id=call_id):
            return {"sessionUpdate": "tool_call_update", "toolCallId": call_id}
        case PlanChanged(entries=entries):
            listed: list[Json] = [
                {"content": content, "priority": "medium", "status": status}
                for content, status in entries
            ]
            return {"sessionUpdate": "plan", "entries": listed}


def meter(measured: Meter) -> JsonObject:
    cache, cost = measured.cache, measured.cost
    told_cache: JsonObject = {"warm": cache.warm, "hitRate": cache.hit_rate}
    if cache.expires_at is not None:
        told_cache["expiresAt"] = iso(cache.expires_at)
    if cache.last_break is not None:
        told_cache["lastBreak"] = {"segment": cache.last_break[0], "reason": cache.last_break[1]}
    return {
        "sessionId": measured.session_id,
        "revision": measured.revision,
        "window": measured.window,
        "used": measured.used,
        "reservedOutput": measured.reserved_output,
        "free": measured.free,
        "compactAt": measured.compact_at,
        "percent": measured.percent,
        "zone": measured.zone,
        "accuracy": measured.accuracy,
        "reason": measured.reason,
        "velocity": measured.velocity,
        "spike": measured.spike,
        "burnRate": measured.burn_rate,
        "overSoftLimit": list(measured.over_soft_limit),
        "turnsUntilCompaction": measured.turns_until_compaction,
        "regions": {str(region): tokens for region, tokens in measured.regions.items()},
        "toolsByServer": {**measured.tools_by_server},
        "cache": told_cache,
        "cost": {
            "session": cost.session,
            "lastTurn": cost.last_turn,
            "nextRequest": cost.next_request,
            "compactNow": cost.compact_now,
        },
    }


def prompt_result(result: PromptResult) -> JsonObject:
    told: JsonObject = {
        "stopReason": result.stop_reason,
        "turnId": result.turn_id,
        "messageId": result.message_id,
        "revision": result.revision,
        "usage": usage(result.usage),
        "cost": result.cost,
        "meter": meter(result.meter),
    }
    if result.error is not None:
        told["error"] = _turn_error(result.error)
    return told


def usage(used: Usage) -> JsonObject:
    """`inputTokens` excludes cached ones."""
    written = used.cache_write_5m + used.cache_write_1h
    return {
        "inputTokens": used.input,
        "outputTokens": used.output,
        "cachedReadTokens": used.cache_read,
        "cachedWriteTokens": written,
        "thoughtTokens": used.thinking,
        "totalTokens": used.prompt + used.output,
        "requests": used.requests,
    }


def opened(session: Opened) -> JsonObject:
    options: list[Json] = list(session.config_options)
    return {
        "sessionId": session.session_id,
        "revision": session.revision,
        "configOptions": options,
    }


def loaded(session: Opened) -> JsonObject:
    return {**opened(session), "readOnly": session.read_only}


def summary(session: SessionSummary) -> JsonObject:
    told: JsonObject = {
        "sessionId": session.session_id,
        "title": session.title,
        "cwd": session.cwd,
        "updatedAt": iso(session.updated),
        "turns": session.turns,
        "cost": session.cost,
    }
    return told if session.parent is None else {**told, "parent": session.parent}


def found_session(found: SessionHits) -> JsonObject:
    hits: list[Json] = [_hit(hit) for hit in found.hits]
    return {"session": summary(found.session), "hits": hits, "more": found.more}


def _hit(hit: TextHit) -> JsonObject:
    around = hit.found
    told: JsonObject = {
        "speaker": hit.speaker,
        "before": around.before,
        "match": around.match,
        "after": around.after,
    }
    if hit.message_id is None or hit.part_id is None:
        return told
    return {**told, "messageId": hit.message_id, "partId": hit.part_id}


def _notify(method: str, params: JsonObject) -> JsonObject:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def _update(session_id: str, update: JsonObject) -> JsonObject:
    return _notify("session/update", {"sessionId": session_id, "update": update})


def _meta(origin: EventOrigin, event: Event) -> JsonObject:
    meta: JsonObject = {
        "partId": origin.part_id,
        "messageId": origin.message_id,
        "turnId": origin.turn_id,
        "seq": origin.seq,
    }
    match event:
        case ToolInputChunk(text=text):
            meta["inputDelta"] = text
        case ToolOutputChunk(text=text):
            meta["outputDelta"] = text
        case ToolChanged(metadata=metadata) if metadata:
            meta["metadata"] = metadata
        case _:
            pass
    return {"sidecar": meta}


def _tool(event: ToolChanged) -> JsonObject:
    told: JsonObject = {
        "sessionUpdate": "tool_call" if event.first else "tool_call_update",
        "toolCallId": event.call_id,
        "status": event.status,
    }
    if event.title is not None:
        told["title"] = event.title
    if event.kind is not None:
        told["kind"] = event.kind
    if event.has_input:
        told["rawInput"] = event.raw_input
    if event.paths:
        told["locations"] = [{"path": path} for path in event.paths]
    if event.output is not None:
        told["content"] = [{"type": "content", "content": {"type": "text", "text": event.output}}]
        told["rawOutput"] = event.output
    return told


def _session_update(event: Notice | EpochChanged | TitleChanged | OptionsChanged) -> JsonObject:
    match event:
        case Notice(level=level, text=text):
            return {"sessionUpdate": "notice", "level": level, "message": text}
        case EpochChanged():
            return {
                "sessionUpdate": "compaction_update",
                "compactionId": event.compaction_id,
                "status": event.status,
                "cause": event.cause,
                "tokensBefore": event.tokens_before,
                "tokensAfter": event.tokens_after,
                "price": event.price,
            }
        case TitleChanged(title=title):
            return {"sessionUpdate": "session_info_update", "title": title}
        case OptionsChanged(options=options):
            return {"sessionUpdate": "config_option_update", "configOptions": list(options)}


def _turn_ended(event: TurnEnded) -> JsonObject:
    told: JsonObject = {
        "sessionUpdate": "turn_ended",
        "turnId": event.turn_id,
        "messageId": event.message_id,
        "stopReason": event.stop_reason,
        "usage": usage(event.usage),
        "cost": event.cost,
    }
    return told if event.error is None else {**told, "error": _turn_error(event.error)}


def _turn_error(error: JsonObject) -> JsonObject:
    return {"code": code_of_turn(str(error["kind"])), **error}


def _alert(event: AlertChanged) -> JsonObject:
    told: JsonObject = {
        "state": event.state,
        "name": event.name,
        "level": event.level,
        "message": event.message,
        "action": event.action,
        "value": event.value,
        "threshold": event.threshold,
        "at": iso(event.at),
    }
    return told if event.session_id is None else {**told, "sessionId": event.session_id}


def _retrying(event: Retrying) -> JsonObject:
    error: JsonObject = {"kind": event.kind, "message": event.message}
    if event.status is not None:
        error["status"] = event.status
    return {
        "sessionId": event.session_id,
        "attempt": event.attempt,
        "maxAttempts": event.max_attempts,
        "delayMs": event.delay_ms,
        "error": error,
        "discard": list(event.discard),
    }
