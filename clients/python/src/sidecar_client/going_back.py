"""Go back and forth, fork, and move sessions."""

from collections.abc import Sequence
from pathlib import Path

from msgspec import UNSET, UnsetType

from sidecar_client.calling import Caller, given
from sidecar_client.messages import (
    BundleFormat,
    CheckpointDiffParams,
    CheckpointDiffResult,
    CheckpointListParams,
    CheckpointListResult,
    CheckpointRedoParams,
    CheckpointRestoreParams,
    CheckpointRestoreResult,
    OnConflict,
    RestoreScope,
    SessionArchiveParams,
    SessionArchiveResult,
    SessionExportParams,
    SessionExportResult,
    SessionForkParams,
    SessionForkResult,
    SessionHandoffParams,
    SessionHandoffResult,
    SessionImportParams,
    SessionImportResult,
)


class GoingBack(Caller):
    """The methods of checkpoints, forks, handoffs, exports and imports."""

    async def checkpoint_list(self, session_id: str) -> CheckpointListResult:
        """List a session's checkpoints, oldest first."""
        params = CheckpointListParams(session_id=session_id)
        return await self._call("checkpoint/list", params, CheckpointListResult)

    async def checkpoint_diff(
        self, session_id: str, from_checkpoint: str, to: str | None = None, path: str | None = None
    ) -> CheckpointDiffResult:
        """Compare two checkpoints, or one with now; for one path or all."""
        params = CheckpointDiffParams(
            session_id=session_id, from_checkpoint=from_checkpoint, to=given(to), path=given(path)
        )
        return await self._call("checkpoint/diff", params, CheckpointDiffResult)

    async def checkpoint_restore(  # noqa: PLR0913 - each is a choice of its own
        self,
        session_id: str,
        *,
        checkpoint_id: str | None = None,
        before_message_id: str | None = None,
        scope: RestoreScope = "both",
        on_conflict: OnConflict | None = None,
        markers: bool = False,
        paths: Sequence[str] = (),
        dry_run: bool = False,
        expected_revision: int | None = None,
    ) -> CheckpointRestoreResult:
        """Go back to a checkpoint, or to before a message; a dry run only plans.

        Without `paths`, all files. Conflicts are refused unless `on_conflict` is given; with
        `markers`, a merge writes both sides of a clash.
        """
        params = CheckpointRestoreParams(
            session_id=session_id,
            scope=scope,
            checkpoint_id=given(checkpoint_id),
            before_message_id=given(before_message_id),
            on_conflict=given(on_conflict),
            markers=markers or UNSET,
            paths=list(paths) or UNSET,
            dry_run=dry_run or UNSET,
            expected_revision=given(expected_revision),
        )
        return await self._call("checkpoint/restore", params, CheckpointRestoreResult)

    async def checkpoint_redo(
        self,
        session_id: str,
        checkpoint_id: str | None = None,
        *,
        on_conflict: OnConflict | None = None,
        markers: bool = False,
        dry_run: bool = False,
        expected_revision: int | None = None,
    ) -> CheckpointRestoreResult:
        """Undo a restore by its `undo_checkpoint_id`, by default the newest not undone."""
        params = CheckpointRedoParams(
            session_id=session_id,
            checkpoint_id=given(checkpoint_id),
            on_conflict=given(on_conflict),
            markers=markers or UNSET,
            dry_run=dry_run or UNSET,
            expected_revision=given(expected_revision),
        )
        return await self._call("checkpoint/redo", params, CheckpointRestoreResult)

    async def fork(self, session_id: str, at_message_id: str | None = None) -> SessionForkResult:
        """Fork a session at the end of a message, or at its current end."""
        params = SessionForkParams(session_id=session_id, at_message_id=given(at_message_id))
        return await self._call("session/fork", params, SessionForkResult)

    async def handoff(
        self, session_id: str, goal: str, *, go_on: bool = False
    ) -> SessionHandoffResult:
        """Draft the first prompt of a next session; `go_on` opens the session."""
        params = SessionHandoffParams(session_id=session_id, goal=goal, go_on=go_on or UNSET)
        return await self._call("session/handoff", params, SessionHandoffResult)

    async def export_session(
        self, session_id: str, path: str | Path | None = None, *, overwrite: bool = False
    ) -> SessionExportResult:
        """Export a session to a file, or to a new file in a folder or the data folder."""
        params = SessionExportParams(session_id=session_id, path=_path(path), overwrite=overwrite)
        return await self._call("session/export", params, SessionExportResult)

    async def archive_session(self, session_id: str) -> SessionArchiveResult:
        """Archive a session with its subtasks; `import_session` restores each."""
        params = SessionArchiveParams(session_id=session_id)
        return await self._call("session/archive", params, SessionArchiveResult)

    async def import_session(
        self,
        path: str | Path | None = None,
        *,
        content: str | None = None,
        format: BundleFormat | None = None,  # noqa: A002 - the field's name for it
        cwd: str | Path | None = None,
    ) -> SessionImportResult:
        """Import a bundle or another agent's recording as a session, for `load_session`."""
        params = SessionImportParams(
            format=given(format), content=given(content), path=_path(path), cwd=_path(cwd)
        )
        return await self._call("session/import", params, SessionImportResult)


def _path(path: str | Path | None) -> str | UnsetType:
    return UNSET if path is None else str(path)
