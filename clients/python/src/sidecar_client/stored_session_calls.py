"""Calls of `session/…` on sessions, whether or not open: list, search, rename, put away."""

from pathlib import Path

from msgspec import UNSET

from sidecar_client.calling import Caller, given, given_path
from sidecar_client.messages import (
    SessionArchiveParams,
    SessionArchiveResult,
    SessionDeleteParams,
    SessionDeleteResult,
    SessionListParams,
    SessionListResult,
    SessionRenameParams,
    SessionRenameResult,
    SessionSearchParams,
    SessionSearchResult,
)


class StoredSessionCalls:
    """The methods of stored sessions."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def list(
        self,
        *,
        cwd: str | Path | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> SessionListResult:
        """List sessions, newest first; `cursor` is `next_cursor` of the previous page."""
        params = SessionListParams(cwd=given_path(cwd), cursor=given(cursor), limit=given(limit))
        return await self._caller.call("session/list", params, SessionListResult)

    async def search(
        self,
        query: str,
        *,
        cwd: str | Path | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> SessionSearchResult:
        """Find words in the texts of all sessions, newest first.

        With `next_cursor` some were not read yet; give it as `cursor` to go on.
        """
        params = SessionSearchParams(
            query=query, cwd=given_path(cwd), cursor=given(cursor), limit=given(limit)
        )
        return await self._caller.call("session/search", params, SessionSearchResult)

    async def rename(self, session_id: str, title: str) -> SessionRenameResult:
        """Give a session another title."""
        params = SessionRenameParams(session_id=session_id, title=title)
        return await self._caller.call("session/rename", params, SessionRenameResult)

    async def delete(self, session_id: str, *, force: bool = False) -> SessionDeleteResult:
        """Delete a session for good; `notes` name places where copies may remain.

        Refused while a turn runs, unless `force` cancels it first.
        """
        params = SessionDeleteParams(session_id=session_id, force=force or UNSET)
        return await self._caller.call("session/delete", params, SessionDeleteResult)

    async def archive(self, session_id: str) -> SessionArchiveResult:
        """Archive a session with its subtasks; `import_` restores each."""
        params = SessionArchiveParams(session_id=session_id)
        return await self._caller.call("session/archive", params, SessionArchiveResult)
