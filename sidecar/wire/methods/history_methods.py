"""Handles sessions that continue another, or move."""

from collections.abc import Mapping

from sidecar.core.parts import Json, JsonObject, MessageId, SessionId
from sidecar.session.desk.sessions import Sessions
from sidecar.session.transfer.bundle_export import export_session
from sidecar.session.transfer.bundle_import import ImportSource, import_session
from sidecar.wire.connection import Connection
from sidecar.wire.dispatch import Handler, Ticket
from sidecar.wire.messages import (
    SessionArchiveParams,
    SessionExportParams,
    SessionForkParams,
    SessionHandoffParams,
    SessionImportParams,
)
from sidecar.wire.methods.mcp_params import servers_of
from sidecar.wire.methods.session_methods import given


def handlers(sessions: Sessions) -> Mapping[str, Handler]:
    async def fork(connection: Connection, params: SessionForkParams, _: Ticket) -> Json:
        at_message = given(params.at_message_id)
        made = await sessions.fork(
            SessionId(params.session_id),
            None if at_message is None else MessageId(at_message),
            connection,
            connection.watch,
        )
        if servers := servers_of(given(params.mcp_servers) or ()):
            (await sessions.get(made.session_id)).servers.provide(servers)
        return {"sessionId": made.session_id, "revision": made.revision}

    async def handoff(connection: Connection, params: SessionHandoffParams, _: Ticket) -> Json:
        given_on = await sessions.handoff(
            SessionId(params.session_id),
            params.goal,
            connection,
            connection.watch,
            go_on=params.go_on is True,
        )
        told: JsonObject = {"draft": given_on.draft, "files": list(given_on.files)}
        if given_on.session_id is not None:
            told["sessionId"] = given_on.session_id
        return told

    async def write_out(_: Connection, params: SessionExportParams, __: Ticket) -> Json:
        done = await export_session(
            await sessions.shared.ready(),
            SessionId(params.session_id),
            given(params.path),
            overwrite=params.overwrite is True,
            snapshots=params.snapshots is True,
            windows=sessions.open.windows.entered,
        )
        return {
            "path": str(done.path),
            "size": done.size,
            "redacted": done.redacted,
            "notes": list(done.notes),
        }

    async def archive(_: Connection, params: SessionArchiveParams, __: Ticket) -> Json:
        done = await sessions.archive(SessionId(params.session_id))
        told: list[Json] = [
            {
                "sessionId": one.session_id,
                "path": str(one.path),
                "size": one.size,
                "freed": one.freed,
            }
            for one in done
        ]
        return {"sessions": told}

    async def read_in(_: Connection, params: SessionImportParams, __: Ticket) -> Json:
        source = ImportSource(given(params.path), given(params.content), given(params.format) or "")
        made = await import_session(
            await sessions.shared.ready(),
            source,
            given(params.cwd),
            sessions.shared.root,
            snapshots=params.snapshots is True,
        )
        return {
            "sessionId": made.session_id,
            "revision": made.revision,
            "format": made.format,
            "notes": list(made.notes),
        }

    return {
        "session/fork": fork,
        "session/handoff": handoff,
        "session/export": write_out,
        "session/archive": archive,
        "session/import": read_in,
    }
