"""`context/…`: meter, breakdown, compaction, recall, pins."""

from collections.abc import Mapping

from msgspec import UNSET

from sidecar.core.parts import Json, JsonObject, SessionId
from sidecar.session.desk.sessions import Sessions
from sidecar.wire.connection import Connection
from sidecar.wire.dispatch import Handler, Ticket
from sidecar.wire.messages import (
    ContextBreakdownParams,
    ContextCompactParams,
    ContextMeterParams,
    ContextPinParams,
    ContextPreviewParams,
    ContextRecallParams,
    ContextUndoCompactionParams,
)
from sidecar.wire.methods.session_methods import given
from sidecar.wire.translate import meter


def handlers(sessions: Sessions) -> Mapping[str, Handler]:
    async def measure(_: Connection, params: ContextMeterParams, __: Ticket) -> Json:
        session = await sessions.get(SessionId(params.session_id))
        # The cost of compacting is part of this method's answer.
        return meter(session.priced_meter())

    async def recall(_: Connection, params: ContextRecallParams, __: Ticket) -> Json:
        session = await sessions.get(SessionId(params.session_id))
        found = await session.recall(
            params.part_id, given(params.offset) or 0, given(params.limit), given(params.pattern)
        )
        told: JsonObject = {"content": found.content, "totalBytes": found.total_bytes}
        if found.next_offset is not None:
            told["nextOffset"] = found.next_offset
        return told

    async def breakdown(_: Connection, params: ContextBreakdownParams, __: Ticket) -> Json:
        session = await sessions.get(SessionId(params.session_id))
        measured, segments = await session.rewriting.breakdown()
        return {"meter": meter(measured), "segments": list(segments)}

    async def preview(_: Connection, params: ContextPreviewParams, __: Ticket) -> Json:
        session = await sessions.get(SessionId(params.session_id))
        seen = await session.rewriting.preview(tuple(given(params.prompt) or ()))
        return {
            "request": seen.body,
            "tokens": seen.tokens,
            "predictedCacheRead": seen.read,
            "predictedCacheWrite": seen.write,
            "price": seen.price,
            "breakpoints": list(seen.breakpoints),
        }

    async def compact(_: Connection, params: ContextCompactParams, __: Ticket) -> Json:
        session = await sessions.get(SessionId(params.session_id))
        return await session.rewriting.compact(
            given(params.strategy),
            given(params.expected_revision),
            dry_run=params.dry_run is True,
            instructions=given(params.instructions) or "",
            keep=given(params.keep) or (),
            summary=params.summary is True,
            token=None if params.work_done_token is UNSET else params.work_done_token,
        )

    async def undo(_: Connection, params: ContextUndoCompactionParams, __: Ticket) -> Json:
        session = await sessions.get(SessionId(params.session_id))
        measured = await session.rewriting.undo(given(params.compaction_id))
        return {"revision": measured.revision, "meter": meter(measured)}

    async def pin(_: Connection, params: ContextPinParams, __: Ticket) -> Json:
        session = await sessions.get(SessionId(params.session_id))
        return {"revision": await session.rewriting.pin(params.part_id, pinned=params.pinned)}

    return {
        "context/meter": measure,
        "context/recall": recall,
        "context/breakdown": breakdown,
        "context/preview": preview,
        "context/compact": compact,
        "context/undoCompaction": undo,
        "context/pin": pin,
    }
