"""`session/fork` and `session/handoff`: other sessions that go on from one."""

from collections.abc import Mapping

from sidecar.core.parts import Json, MessageId, SessionId
from sidecar.session.sessions import Sessions
from sidecar.wire.connection import Connection
from sidecar.wire.messages import SessionForkParams
from sidecar.wire.methods.session import given
from sidecar.wire.protocol import Handler, Ticket


def handlers(sessions: Sessions) -> Mapping[str, Handler]:
    """Give the family's handlers over these sessions."""

    async def fork(connection: Connection, params: SessionForkParams, _: Ticket) -> Json:
        at_message = given(params.at_message_id)
        made = await sessions.fork(
            SessionId(params.session_id),
            None if at_message is None else MessageId(at_message),
            connection,
            connection.watch,
        )
        return {"sessionId": made.session_id, "revision": made.revision}

    return {"session/fork": fork}
