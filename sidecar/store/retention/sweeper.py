"""The sweep: removals, free pages, and who sweeps.

`retention_due` has the rules. Each call here is a transaction of some milliseconds, so that turns
go on between.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from sidecar.config.retention import Retention
from sidecar.core.errors import SessionOwned, StorageFailed
from sidecar.core.parts import Millis, SessionId
from sidecar.store.connection import free_pages, lease, seen_time
from sidecar.store.connection.free_pages import Space
from sidecar.store.connection.seen_time import Ages, ReadUptime
from sidecar.store.content import outputs, removal, session_rows
from sidecar.store.content.outputs import Freed, GoingOutput
from sidecar.store.content.removal import Left
from sidecar.store.content.snapshot_rows import SnapshotRead, Submit
from sidecar.store.format.values import Gone, Owner, SessionRow
from sidecar.store.retention import retention_due, store_sizes
from sidecar.store.retention.retention_due import RetentionPlan
from sidecar.store.retention.store_sizes import StoreWeights

SWEEP = SessionId("(sweep)")
"""Whose lease says which daemon sweeps."""
HOUR: Millis = 3_600_000
CHANGED = "This session was written to meanwhile, so it stays as it is. Try again."


class KeepingRows:
    """Retention in the store. Every method may raise StorageFailed."""

    def __init__(
        self,
        submit: Submit,
        read: SnapshotRead,
        path: Path,
        now: Callable[[], Millis],
        uptime: ReadUptime,
    ) -> None:
        self._submit = submit
        self._read = read
        self._path = path
        self._now = now
        self._uptime = uptime

    async def look(self) -> str:
        """Note the passing of time; return a sentence about a wrong clock, or ""."""
        run = partial(seen_time.note, now=self._now(), count=self._uptime())
        return await self._submit(run, synced=False)

    async def plan(self, rules: Retention) -> RetentionPlan:
        """Plan due removals; changes nothing."""
        return await self._read(lambda con: retention_due.plan(con, rules, self._ages(con)))

    async def used(self) -> tuple[int, int]:
        """Bytes of complete outputs, and of all sessions including outputs."""
        return await self._read(
            lambda con: (retention_due.outputs_size(con), retention_due.sessions_size(con))
        )

    async def let_go(self, going: Sequence[GoingOutput]) -> Freed:
        """Remove outputs, except of sessions live by now."""

        def run(con: sqlite3.Connection) -> Freed:
            return outputs.let_go(con, going, self._ages(con))

        return await self._submit(run, synced=False)

    async def gone(self, name: str) -> Gone | None:
        """When and why an output was removed, or `None`."""
        return await self._read(partial(outputs.gone_by_hash, name=name))

    async def gone_of(self, session_id: SessionId) -> dict[str, Gone]:
        """A session's removed outputs by hash."""
        return await self._read(partial(outputs.gone_of, session_id=session_id))

    async def family(self, session_id: SessionId) -> tuple[SessionRow, ...]:
        """Return a session's closed subtasks, then the session; raises UnknownSession."""
        now = self._now()
        return await self._read(
            lambda con: retention_due.family(con, session_rows.row(con, session_id), now)
        )

    async def leave(self, row: SessionRow, token: str) -> Left:
        """Hide a bundled session, if unchanged since read; `remove_some` then removes the rows.

        Raises:
          SessionOwned: the lease under this token was lost.
          StorageFailed: somebody wrote to the session.
        """
        return await self._submit(partial(_leave, row=row, token=token, at=self._now()))

    async def remove_some(self, session_id: SessionId) -> Left:
        """Remove rows of a leaving session, for some milliseconds."""
        run = partial(removal.remove_some, session_id=session_id)
        return await self._submit(run, synced=False)

    async def unfinished(self) -> dict[SessionId, Millis]:
        """Leaving sessions, with the time of archiving or `DELETED`."""
        return await self._read(removal.unfinished)

    async def finish(self, session_id: SessionId) -> None:
        """Unmark a deleted session: nothing is left."""
        await self._submit(partial(removal.finish, session_id=session_id))

    async def weigh(self) -> StoreWeights:
        """Weigh the store; reads an index entry or row of everything."""
        return await self._read(store_sizes.weigh)

    async def space(self) -> Space:
        """Measure the file's free space."""
        return await self._read(free_pages.space)

    async def shrink(self) -> Space:
        """Return free pages for some milliseconds; return the space left."""
        return await self._submit(free_pages.shrink, synced=False)

    async def overwrite_free(self) -> None:
        """Zero free pages, if the file cannot shrink."""
        await self._submit(free_pages.overwrite_free)

    async def rebuild(self) -> None:
        """Rewrite an older file, so that the file can shrink. Blocks writers."""
        await asyncio.to_thread(free_pages.rebuild, self._path)

    async def empty_log(self) -> bool:
        """Truncate the log; `False` if readers kept the log in use for seconds."""
        return await asyncio.to_thread(free_pages.empty_log, self._path)

    async def claim(self, owner: Owner, every: Millis = HOUR) -> bool:
        """Become the sweeping daemon, if a sweep is due and unclaimed."""
        return await self._submit(partial(_claim, owner=owner, every=every, now=self._now()))

    async def swept(self, token: str, *, whole: bool) -> None:
        """Release the claim; after a `whole` sweep the next is due in an hour."""
        await self._submit(partial(_swept, token=token, whole=whole, now=self._now()))

    async def warned(self, names: Iterable[str]) -> frozenset[str]:
        """Note exceeded quotas; return those noted an hour ago or earlier."""
        told = frozenset(names)
        return await self._submit(lambda con: _warned(con, told, self._ages(con)))

    def _ages(self, con: sqlite3.Connection) -> Ages:
        return seen_time.ages(con, self._now(), self._uptime())


def _leave(con: sqlite3.Connection, row: SessionRow, token: str, at: Millis) -> Left:
    held = con.execute("SELECT token FROM lease WHERE session_id = ?", (row.id,)).fetchone()
    if held is None or held[0] != token:
        raise SessionOwned("another window has opened this session: close it there first")
    if session_rows.row(con, row.id) != row:
        raise StorageFailed(CHANGED, kind="io")
    return removal.leave(con, row.id, at)


def _claim(con: sqlite3.Connection, owner: Owner, every: Millis, now: Millis) -> bool:
    last = _last_sweep(con)
    # A clock that went back by more makes it due, too; else it might never be again.
    if last is not None and abs(now - last) < every:
        return False
    return lease.acquire(con, SWEEP, owner, now) is None


def _swept(con: sqlite3.Connection, token: str, whole: bool, now: Millis) -> None:
    lease.release(con, SWEEP, token)
    if whole:
        con.execute("INSERT OR REPLACE INTO swept (name, at) VALUES ('store', ?)", (now,))


def _warned(con: sqlite3.Connection, names: frozenset[str], ages: Ages) -> frozenset[str]:
    rows = con.execute("SELECT name, at FROM swept WHERE name != 'store'").fetchall()
    known = frozenset(name for name, _ in rows)
    con.executemany("DELETE FROM swept WHERE name = ?", [(name,) for name in known - names])
    con.executemany(
        "INSERT INTO swept (name, at) VALUES (?, ?)", [(name, ages.now) for name in names - known]
    )
    return frozenset(name for name, at in rows if name in names and ages.of(at) >= HOUR)


def _last_sweep(con: sqlite3.Connection) -> Millis | None:
    found = con.execute("SELECT at FROM swept WHERE name = 'store'").fetchone()
    return None if found is None else int(found[0])
