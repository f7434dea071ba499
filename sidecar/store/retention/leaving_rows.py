"""Removes leaving sessions in slices."""

import sqlite3
from collections.abc import Callable
from functools import partial

from sidecar.core.errors import SessionOwned, StorageFailed
from sidecar.core.parts import Millis, SessionId
from sidecar.store.connection.store_access import StoreRead, Submit
from sidecar.store.content import removal, session_rows
from sidecar.store.content.removal import RemovedRows
from sidecar.store.format.values import SessionRow
from sidecar.store.retention import retention_due

CHANGED = "This session was written to meanwhile, so it stays as it is. Try again."


class LeavingRows:
    """Transactions take milliseconds; every method may raise StorageFailed."""

    def __init__(self, submit: Submit, read: StoreRead, now: Callable[[], Millis]) -> None:
        self._submit = submit
        self._read = read
        self._now = now

    async def family(self, session_id: SessionId) -> tuple[SessionRow, ...]:
        """Lists closed subtasks, then the session; raises UnknownSession."""
        now = self._now()
        return await self._read(
            lambda con: retention_due.family(con, session_rows.row(con, session_id), now)
        )

    async def leave(self, row: SessionRow, token: str) -> RemovedRows:
        """Hides a session that is in a bundle; `remove_some` removes the rows.

        Raises SessionOwned for a lost lease, StorageFailed if somebody wrote to the session.
        """
        return await self._submit(partial(_leave, row=row, token=token, at=self._now()))

    async def remove_some(self, session_id: SessionId) -> RemovedRows:
        run = partial(removal.remove_some, session_id=session_id)
        return await self._submit(run, synced=False)

    async def unfinished(self) -> dict[SessionId, Millis]:
        return await self._read(removal.unfinished)

    async def finish(self, session_id: SessionId) -> None:
        await self._submit(partial(removal.finish, session_id=session_id))


def _leave(con: sqlite3.Connection, row: SessionRow, token: str, at: Millis) -> RemovedRows:
    held = con.execute("SELECT token FROM lease WHERE session_id = ?", (row.id,)).fetchone()
    if held is None or held[0] != token:
        raise SessionOwned("another window has opened this session: close it there first")
    if session_rows.row(con, row.id) != row:
        raise StorageFailed(CHANGED, kind="io")
    return removal.leave(con, row.id, at)
