"""`daemon/…`: the daemon's state."""

from collections.abc import Mapping

from sidecar.core.parts import Json
from sidecar.session.desk.sessions import Sessions
from sidecar.wire.connection import Connection
from sidecar.wire.dispatch import Handler, Ticket
from sidecar.wire.messages import DaemonStatusParams


def handlers(sessions: Sessions) -> Mapping[str, Handler]:
    async def status(_: Connection, __: DaemonStatusParams, ___: Ticket) -> Json:
        return sessions.status()

    return {"daemon/status": status}
