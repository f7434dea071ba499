"""`session/…` on sessions that lie on git remotes; few daemons ever need what does it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sidecar.core.errors import BadRequest
from sidecar.core.parts import Json, JsonObject, SessionId
from sidecar.session.desk.sessions import Sessions
from sidecar.session.turn.clock import iso
from sidecar.wire.connection import Connection
from sidecar.wire.dispatch import Handler, Ticket
from sidecar.wire.messages import SessionListRemoteParams, SessionSyncParams
from sidecar.wire.methods.session_methods import given

if TYPE_CHECKING:
    from sidecar.session.sync.sync_outcome import FoundThere, SyncedOne


def handlers(sessions: Sessions) -> Mapping[str, Handler]:
    async def synced(_: Connection, params: SessionSyncParams, __: Ticket) -> Json:
        from sidecar.session.desk.session_sync import sync  # noqa: PLC0415 - see above
        from sidecar.session.sync.sync_outcome import SyncWish  # noqa: PLC0415 - see above

        wish = SyncWish(
            folder=_folder(sessions, given(params.cwd)),
            remote=given(params.remote),
            agreed=given(params.agree),
            dry_run=params.dry_run is True,
            only=frozenset(map(SessionId, given(params.session_ids) or ())),
            names=frozenset(given(params.names) or ()),
            snapshots=given(params.snapshots),
        )
        done = await sync(sessions, wish)
        return {
            "remote": done.remote,
            "agreed": done.agreed,
            "recipients": done.recipients,
            "sent": list(map(_synced, done.sent)),
            "received": list(map(_synced, done.received)),
            "forked": list(map(_synced, done.forked)),
            "removed": list(done.removed),
            "notes": list(done.notes),
            "elsewhere": done.elsewhere,
        }

    async def listed(_: Connection, params: SessionListRemoteParams, __: Ticket) -> Json:
        from sidecar.session.desk.session_sync import found_there  # noqa: PLC0415 - see above

        folder = _folder(sessions, given(params.cwd))
        remote, found = await found_there(sessions, folder, given(params.remote))
        return {"remote": remote, "sessions": list(map(_found, found))}

    return {"session/sync": synced, "session/listRemote": listed}


def _folder(sessions: Sessions, cwd: str | None) -> str:
    if cwd is None and sessions.shared.root is None:
        raise BadRequest("say in cwd which folder's sessions to sync", "params.cwd")
    return cwd if cwd is not None else str(sessions.shared.root)


def _synced(one: "SyncedOne") -> Json:
    told: JsonObject = {
        "name": one.name,
        "sessionId": one.session_id,
        "title": one.title,
        "messages": one.messages,
        "size": one.size,
        "redacted": one.redacted,
        "files": one.files,
    }
    return told if one.forked is None else {**told, "forkOf": one.forked}


def _found(one: "FoundThere") -> Json:
    told: JsonObject = {
        "name": one.name,
        "title": one.title,
        "folder": one.folder,
        "updatedAt": iso(one.updated),
        "turns": one.turns,
        "project": one.project,
        "sameProject": one.is_of_project,
    }
    return told if one.here is None else {**told, "sessionId": one.here}
