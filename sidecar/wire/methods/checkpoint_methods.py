"""`checkpoint/…`: states a session can go back to."""

from collections.abc import Mapping
from typing import Any

from sidecar.core.parts import Json, JsonObject, SessionId
from sidecar.session.changes.path_fates import files_of
from sidecar.session.desk.sessions import Sessions
from sidecar.session.interface import Done, Wish
from sidecar.session.lifecycle.session import Session
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


class CheckpointAnswers:
    """Answers requests about one session's checkpoints."""

    NAMES = ("checkpoint/list", "checkpoint/diff", "checkpoint/restore", "checkpoint/redo")

    def __init__(self, session: Session) -> None:
        self._session = session

    async def answer(
        self,
        params: CheckpointListParams
        | CheckpointDiffParams
        | CheckpointRestoreParams
        | CheckpointRedoParams,
    ) -> Json:
        """Raises as `Rollback.restore` and `Checkpoints.diff`."""
        session = self._session
        match params:
            case CheckpointListParams():
                return listing_json(await session.checkpoints.listed())
            case CheckpointDiffParams():
                since, to, path = params.from_checkpoint, given(params.to), given(params.path)
                return {"files": list(await session.checkpoints.diff(since, to, path))}
            case CheckpointRestoreParams():
                return _done(await session.rollback.restore(_restore_wish(params)))
            case CheckpointRedoParams():
                return _done(await session.rollback.redo(_redo_wish(params)))


def handlers(sessions: Sessions) -> Mapping[str, Handler]:
    async def answer(_: Connection, params: Any, __: Ticket) -> Json:  # noqa: ANN401 - as named
        session = await sessions.get(SessionId(params.session_id))
        return await CheckpointAnswers(session).answer(params)

    return dict.fromkeys(CheckpointAnswers.NAMES, answer)


def _restore_wish(params: CheckpointRestoreParams) -> Wish:
    paths, hunks = given(params.paths), given(params.hunks)
    return Wish(
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


def _redo_wish(params: CheckpointRedoParams) -> Wish:
    return Wish(
        "both",
        given(params.checkpoint_id),
        on_conflict=given(params.on_conflict) or "refuse",
        markers=params.markers is True,
        dry_run=params.dry_run is True,
        expected_revision=given(params.expected_revision),
    )


def _done(done: Done) -> JsonObject:
    files = files_of(done.fates, done.diffs, done.foreseen)
    told: JsonObject = {"undoCheckpointId": done.undo, "revision": done.revision, "files": files}
    if done.notes:
        told["notes"] = list(done.notes)
    if done.reason is not None:
        told["reason"] = done.reason
    return told if done.prompt is None else {**told, "restoredPrompt": done.prompt}
