"""Calls of `session/…` on sessions that lie on git remotes."""

from collections.abc import Sequence
from pathlib import Path

from msgspec import UNSET

from sidecar_client.calling import Caller, given, given_path
from sidecar_client.messages import (
    SessionListRemoteParams,
    SessionListRemoteResult,
    SessionSyncParams,
    SessionSyncResult,
)


class SyncCalls:
    """The methods of sessions on git remotes."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def sync(
        self,
        remote: str | None = None,
        *,
        cwd: str | Path | None = None,
        agree: str | None = None,
        dry_run: bool = False,
        session_ids: Sequence[str] = (),
        names: Sequence[str] = (),
        snapshots: bool | None = None,
    ) -> SessionSyncResult:
        """Sync a folder's sessions with a git remote; `names` are sessions there to open here.

        `snapshots`: whether what checkpoints need of files comes and goes along, from now on.
        Nothing is sent until `agree` repeats the result's `remote`, once for a folder and remote.
        """
        params = SessionSyncParams(
            cwd=given_path(cwd),
            remote=given(remote),
            agree=given(agree),
            dry_run=dry_run or UNSET,
            session_ids=list(session_ids) or UNSET,
            names=list(names) or UNSET,
            snapshots=given(snapshots),
        )
        return await self._caller.call("session/sync", params, SessionSyncResult)

    async def list_remote(
        self, remote: str | None = None, *, cwd: str | Path | None = None
    ) -> SessionListRemoteResult:
        """List the sessions of a git remote, newest first."""
        params = SessionListRemoteParams(cwd=given_path(cwd), remote=given(remote))
        return await self._caller.call("session/listRemote", params, SessionListRemoteResult)
