"""Sends session events as ACP's `session/update`; Sidecar's own fields only in `_meta.sidecar`."""

from decimal import Decimal
from math import ceil

from sidecar.core.parts import Json, JsonObject
from sidecar.core.prompt.meter import Meter
from sidecar.session.log.events import (
    AlertChanged,
    ContentChunk,
    EpochChanged,
    Event,
    MeterChanged,
    Notice,
    Retrying,
    SessionChanged,
    StatusChanged,
    TextChunk,
    ToolChanged,
    ToolInputChunk,
    TurnEnded,
)
from sidecar.wire.acp.capabilities import Abilities
from sidecar.wire.acp.diffs import done, wanted
from sidecar.wire.connection import alarm
from sidecar.wire.translate import meter as sidecar_meter
from sidecar.wire.translate import notification

THOUGHT = "agent_thought_chunk"
VERBS = {"read": "Read", "edit": "Edit", "search": "Search", "execute": "Run"}
SAID = (*(f"{verb} " for verb in VERBS.values()), "Write ", "List ")
"""How titles begin that say already what is done."""
ASKED_FOR = ("user", "undo", "restore")
"""Causes of rewrites whose end the user is told otherwise."""


def update(event: Event, can: Abilities, folder: str) -> JsonObject | None:
    match event:
        case MeterChanged(meter=measured):
            return usage_update(measured)
        case EpochChanged():
            return _rewritten(event, can)
        case AlertChanged(session_id=str()) if (shown := alarm(event)) is not None:
            return _noticed("warning", str(shown["message"]), can, {})
        case Notice(level=level, text=text, seq=seq):
            return _noticed(level, text, can, {"seq": seq})
        case Retrying():
            return _retrying(event, can)
        case ToolChanged():
            return _tool(event, folder)
        case TextChunk(origin=origin) | ContentChunk(origin=origin):
            return {**_plain(event), "messageId": origin.message_id}
        case SessionChanged() | StatusChanged() | AlertChanged() | ToolInputChunk() | TurnEnded():
            return None
        case _:
            found = notification(event)
            return _plain(event) if found["method"] == "session/update" else None


def usage_update(measured: Meter) -> JsonObject:
    told: JsonObject = {
        "sessionUpdate": "usage_update",
        "used": measured.used,
        "size": measured.window,
    }
    if measured.cost.session is not None:
        amount = float(Decimal(measured.cost.session))
        told["cost"] = {"amount": amount, "currency": "USD"}
    return {**told, "_meta": {"sidecar": sidecar_meter(measured)}}


def text_update(kind: str, text: str) -> JsonObject:
    return {"sessionUpdate": kind, "content": {"type": "text", "text": text}}


def _plain(event: Event) -> JsonObject:
    params = notification(event)["params"]
    assert isinstance(params, dict)
    told = params["update"]
    assert isinstance(told, dict)
    return told


def _tool(event: ToolChanged, folder: str) -> JsonObject:
    told = _plain(event)
    title = told.get("title")
    if event.first and not title:
        told["title"] = event.call_id
    if event.status in ("completed", "failed"):
        told["status"] = "failed" if _exit_code(event.metadata) else event.status
        if title:
            told["title"] = _done_title(str(title), event)
    change: list[Json] = []
    if event.status == "completed":
        change = done(event.metadata, folder)
    elif event.has_input and event.kind == "edit":
        change = wanted(event.raw_input, folder)
    if change:
        told["content"] = change
    return told


def _done_title(title: str, event: ToolChanged) -> str:
    """What was done, with the figures that Sidecar's own editors show beside it."""
    verb, about = VERBS.get(event.kind or ""), event.metadata
    said = title if verb is None or title.startswith(SAID) else f"{verb} {title}"
    if isinstance(added := about.get("additions"), int):
        return f"{said} (+{added} -{about.get('deletions') or 0})"
    return f"{said} (exit code {code})" if (code := _exit_code(about)) else said


def _exit_code(metadata: JsonObject) -> int:
    found = metadata.get("exitCode")
    return found if isinstance(found, int) else 0


def _rewritten(event: EpochChanged, can: Abilities) -> JsonObject | None:
    about: JsonObject = {
        "seq": event.seq,
        "compactionId": event.compaction_id,
        "cause": event.cause,
        "tokensBefore": event.tokens_before,
        "tokensAfter": event.tokens_after,
        "price": event.price,
    }
    if can.compaction:
        # ACP keeps names without an underscore for itself.
        known = event.status in ("in_progress", "completed", "failed", "cancelled")
        return {
            "sessionUpdate": "compaction_update",
            "compactionId": event.compaction_id,
            "status": event.status if known else f"_{event.status}",
            "_meta": {"sidecar": about},
        }
    smaller = event.status == "completed" and event.tokens_after < event.tokens_before
    if not can.notices and (not smaller or event.cause in ASKED_FOR):
        return None
    words = f"The context was rewritten: {event.tokens_before} → {event.tokens_after} tokens"
    return _noticed("info" if can.notices else "warning", words, can, about)


def _noticed(level: str, text: str, can: Abilities, about: JsonObject) -> JsonObject | None:
    meta: JsonObject = {"sidecar": about}
    if can.notices:
        return {"sessionUpdate": "notice", "severity": level, "title": text, "_meta": meta}
    if level == "info":
        return None
    return {**text_update(THOUGHT, f"[{text}]\n"), "_meta": meta}


def _retrying(event: Retrying, can: Abilities) -> JsonObject | None:
    void = " What was just shown of it is void." if event.discard else ""
    seconds = ceil(event.delay_ms / 1000)
    text = (
        f"The model's answer broke off ({event.message}); asking again in {seconds} s, attempt "
        f"{event.attempt + 1} of {event.max_attempts}.{void}"
    )
    return _noticed("warning", text, can, {"discards": list(event.discard)})
