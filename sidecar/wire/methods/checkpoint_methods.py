"""`checkpoint/…`: states a session can go back to."""

from collections.abc import Mapping

from sidecar.core.parts import Json, JsonObject, SessionId
from sidecar.session.changes.path_fates import files_of
from sidecar.session.desk.sessions import Sessions
from sidecar.session.interface import Done, Wish
from sidecar.wire.connection import Connection
from sidecar.wire.dispatch import Handler, Ticket
from sidecar.wire.messages import (
    CheckpointDiffParams,
    CheckpointListParams,
    CheckpointRedoParams,
    CheckpointRestoreParams,
)
from sidecar.wire.methods.listings import listing_json
from sidecar.wire.methods.session_methods import given


def handlers(sessions: Sessions) -> Mapping[str, Handler]:
    async def listed(_: Connection, params: CheckpointListParams, __: Ticket) -> Json:
        session = await sessions.get(SessionId(params.session_id))
        return listing_json(await session.checkpoints.listed())

    async def diff(_: Connection, params: CheckpointDiffParams, __: Ticket) -> Json:
        session = await sessions.get(SessionId(params.session_id))
        files = await session.checkpoints.diff(
            params.from_checkpoint,
            given(params.to),
            given(params.path),
        )
        return {"files": list(files)}

    async def restore(_: Connection, params: CheckpointRestoreParams, __: Ticket) -> Json:
        session = await sessions.get(SessionId(params.session_id))
        paths, hunks = given(params.paths), given(params.hunks)
        wish = Wish(
            given(params.scope) or "both",
            given(params.checkpoint_id),
            given(params.before_message_id),
            given(params.on_conflict) or "refuse",
            None if paths is None else tuple(paths),
            markers=params.markers is True,
            dry_run=params.dry_run is True,
            expected_revision=given(params.expected_revision),
            hunks=None if hunks is None else tuple(hunks),
        )
        return _done(await session.rollback.restore(wish))

    async def redo(_: Connection, params: CheckpointRedoParams, __: Ticket) -> Json:
        session = await sessions.get(SessionId(params.session_id))
        wish = Wish(
            "both",
            given(params.checkpoint_id),
            on_conflict=given(params.on_conflict) or "refuse",
            markers=params.markers is True,
            dry_run=params.dry_run is True,
            expected_revision=given(params.expected_revision),
        )
        return _done(await session.rollback.redo(wish))

    return {
        "checkpoint/list": listed,
        "checkpoint/diff": diff,
        "checkpoint/restore": restore,
        "checkpoint/redo": redo,
    }


def _done(done: Done) -> JsonObject:
    files = files_of(done.fates, done.diffs, done.foreseen)
    told: JsonObject = {"undoCheckpointId": done.undo, "revision": done.revision, "files": files}
    if done.notes:
        told["notes"] = list(done.notes)
    if done.reason is not None:
        told["reason"] = done.reason
    return told if done.prompt is None else {**told, "restoredPrompt": done.prompt}
