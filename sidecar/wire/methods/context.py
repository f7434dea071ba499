"""`context/…`: the meter, and reading again what was logged."""

from collections.abc import Mapping

from sidecar.core.parts import Json, JsonObject, SessionId
from sidecar.session.sessions import Sessions
from sidecar.wire.connection import Connection
from sidecar.wire.messages import ContextMeterParams, ContextRecallParams
from sidecar.wire.methods.session import given
from sidecar.wire.protocol import Handler, Ticket
from sidecar.wire.translate import meter


def handlers(sessions: Sessions) -> Mapping[str, Handler]:
    """Give the family's handlers over these sessions."""

    async def measure(_: Connection, params: ContextMeterParams, __: Ticket) -> Json:
        return meter((await sessions.get(SessionId(params.session_id))).meter())

    async def recall(_: Connection, params: ContextRecallParams, __: Ticket) -> Json:
        session = await sessions.get(SessionId(params.session_id))
        found = await session.recall(
            params.part_id, given(params.offset) or 0, given(params.limit), given(params.pattern)
        )
        told: JsonObject = {"content": found.content, "totalBytes": found.total_bytes}
        if found.next_offset is not None:
            told["nextOffset"] = found.next_offset
        return told

    return {"context/meter": measure, "context/recall": recall}
