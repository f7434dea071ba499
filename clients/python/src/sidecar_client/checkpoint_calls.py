"""Calls of `checkpoint/…`: go back, and forth again."""

from collections.abc import Sequence

from msgspec import UNSET

from sidecar_client.calling import Caller, given
from sidecar_client.messages import (
    CheckpointDiffParams,
    CheckpointDiffResult,
    CheckpointListParams,
    CheckpointListResult,
    CheckpointRedoParams,
    CheckpointRestoreParams,
    CheckpointRestoreResult,
    OnConflict,
    RestoreScope,
)


class CheckpointCalls:
    """The methods of a session's checkpoints."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def list(self, session_id: str) -> CheckpointListResult:
        """List a session's checkpoints, oldest first."""
        params = CheckpointListParams(session_id=session_id)
        return await self._caller.call("checkpoint/list", params, CheckpointListResult)

    async def diff(
        self, session_id: str, from_checkpoint: str, to: str | None = None, path: str | None = None
    ) -> CheckpointDiffResult:
        """Compare two checkpoints, or one with now; for one path or all."""
        params = CheckpointDiffParams(
            session_id=session_id, from_checkpoint=from_checkpoint, to=given(to), path=given(path)
        )
        return await self._caller.call("checkpoint/diff", params, CheckpointDiffResult)

    async def restore(  # noqa: PLR0913 - each is a choice of its own
        self,
        session_id: str,
        *,
        checkpoint_id: str | None = None,
        before_message_id: str | None = None,
        scope: RestoreScope = "both",
        on_conflict: OnConflict | None = None,
        markers: bool = False,
        paths: Sequence[str] = (),
        hunks: Sequence[str] = (),
        dry_run: bool = False,
        expected_revision: int | None = None,
    ) -> CheckpointRestoreResult:
        """Go back to a checkpoint, or to before a message; a dry run only plans.

        Without `paths`, all files; `hunks` are the only ones wanted of a dry run's diff of one
        file. Conflicts are refused unless `on_conflict` is given; with `markers`, a merge writes
        both sides of a clash.
        """
        params = CheckpointRestoreParams(
            session_id=session_id,
            scope=scope,
            checkpoint_id=given(checkpoint_id),
            before_message_id=given(before_message_id),
            on_conflict=given(on_conflict),
            markers=markers or UNSET,
            paths=list(paths) or UNSET,
            hunks=list(hunks) or UNSET,
            dry_run=dry_run or UNSET,
            expected_revision=given(expected_revision),
        )
        return await self._caller.call("checkpoint/restore", params, CheckpointRestoreResult)

    async def redo(
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
        return await self._caller.call("checkpoint/redo", params, CheckpointRestoreResult)
