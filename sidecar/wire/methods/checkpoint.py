"""`checkpoint/…`: the states of a session that it can go back to."""

from collections.abc import Mapping
from typing import cast

from sidecar.core.parts import Json, JsonObject, SessionId
from sidecar.session.listing import Listed, diff_checkpoints, list_checkpoints
from sidecar.session.sessions import Sessions
from sidecar.wire.connection import Connection
from sidecar.wire.messages import CheckpointDiffParams, CheckpointListParams
from sidecar.wire.methods.session import given
from sidecar.wire.protocol import Handler, Ticket
from sidecar.wire.translate import iso


def handlers(sessions: Sessions) -> Mapping[str, Handler]:
    """Give the family's handlers over these sessions."""

    async def listed(_: Connection, params: CheckpointListParams, __: Ticket) -> Json:
        session = await sessions.get(SessionId(params.session_id))
        found = await list_checkpoints(session.state, session.differences)
        return {
            "checkpoints": [_checkpoint(one) for one in found.checkpoints],
            "head": found.head,
            "changes": {
                "files": list(found.changes),
                "additions": sum(cast("int", one["additions"]) for one in found.changes),
                "deletions": sum(cast("int", one["deletions"]) for one in found.changes),
            },
        }

    async def diff(_: Connection, params: CheckpointDiffParams, __: Ticket) -> Json:
        session = await sessions.get(SessionId(params.session_id))
        files = await diff_checkpoints(
            session.state,
            session.differences,
            params.from_checkpoint,
            given(params.to),
            given(params.path),
        )
        return {"files": list(files)}

    return {"checkpoint/list": listed, "checkpoint/diff": diff}


def _checkpoint(one: Listed) -> JsonObject:
    checkpoint = one.checkpoint
    return {
        "checkpointId": checkpoint.id,
        "turnId": checkpoint.turn_id,
        "messageId": checkpoint.message_id,
        "at": iso(checkpoint.at),
        "title": checkpoint.title,
        "files": list(one.files),
        "left": one.left,
    }
