"""`session/…` on sessions, whether or not open: list, search, rename, delete."""

from collections.abc import Mapping

from sidecar.core.parts import Json, SessionId
from sidecar.session.desk.sessions import Sessions
from sidecar.wire.connection import Connection
from sidecar.wire.dispatch import Handler, Ticket
from sidecar.wire.messages import (
    SessionDeleteParams,
    SessionListParams,
    SessionRenameParams,
    SessionSearchParams,
)
from sidecar.wire.methods.session_methods import given, limited
from sidecar.wire.translate import found_session, summary

FOUND_PAGE = 20
LARGEST_FOUND = 100


def handlers(sessions: Sessions) -> Mapping[str, Handler]:
    async def listed(_: Connection, params: SessionListParams, __: Ticket) -> Json:
        limit = limited(given(params.limit))
        page, cursor = await sessions.list(given(params.cwd), given(params.cursor), limit)
        lines: list[Json] = [summary(line) for line in page]
        return {"sessions": lines, **({} if cursor is None else {"nextCursor": cursor})}

    async def search(_: Connection, params: SessionSearchParams, __: Ticket) -> Json:
        limit = limited(given(params.limit), FOUND_PAGE, LARGEST_FOUND)
        folder, cursor = given(params.cwd), given(params.cursor)
        page, cursor = await sessions.search(params.query, folder, cursor, limit)
        lines: list[Json] = [found_session(one) for one in page]
        return {"sessions": lines, **({} if cursor is None else {"nextCursor": cursor})}

    async def rename(_: Connection, params: SessionRenameParams, __: Ticket) -> Json:
        return {"title": await sessions.rename(SessionId(params.session_id), params.title)}

    async def delete(_: Connection, params: SessionDeleteParams, __: Ticket) -> Json:
        force = params.force is True
        notes = await sessions.delete(SessionId(params.session_id), force=force)
        return {"notes": list(notes)} if notes else {}

    return {
        "session/list": listed,
        "session/search": search,
        "session/rename": rename,
        "session/delete": delete,
    }
