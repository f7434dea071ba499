"""What is kept and what goes: outputs, archived and deleted sessions, free pages, who sweeps.

The rules are `due`'s; here is what carries them out, each call one transaction of some
milliseconds, so that turns go on between them.
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
    """How long things stay in the store. Everything may raise StorageFailed."""

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
        """Note that time passes; gives a sentence where the clock was found to be wrong."""
        run = partial(seen_time.note, now=self._now(), count=self._uptime())
        return await self._submit(run, synced=False)

    async def plan(self, rules: Retention) -> RetentionPlan:
        """Say what is due by these rules; changes nothing."""
        return await self._read(lambda con: retention_due.plan(con, rules, self._ages(con)))

    async def used(self) -> tuple[int, int]:
        """Give the bytes that complete outputs take, and all sessions, these outputs included."""
        return await self._read(
            lambda con: (retention_due.outputs_size(con), retention_due.sessions_size(con))
        )

    async def let_go(self, going: Sequence[GoingOutput]) -> Freed:
        """Let complete outputs go; those of sessions that are live by now stay."""

        def run(con: sqlite3.Connection) -> Freed:
            return outputs.let_go(con, going, self._ages(con))

        return await self._submit(run, synced=False)

    async def gone(self, name: str) -> Gone | None:
        """Say what became of an output that is in the store no more."""
        return await self._read(partial(outputs.gone_by_hash, name=name))

    async def gone_of(self, session_id: SessionId) -> dict[str, Gone]:
        """Give the outputs of a session that went, by hash."""
        return await self._read(partial(outputs.gone_of, session_id=session_id))

    async def family(self, session_id: SessionId) -> tuple[SessionRow, ...]:
        """Give a session behind those of its subtasks; raises UnknownSession."""
        now = self._now()
        return await self._read(
            lambda con: retention_due.family(con, session_rows.row(con, session_id), now)
        )

    async def leave(self, row: SessionRow, token: str) -> Left:
        """Let a session leave that is in a bundle now, if it still is as it was read.

        From then on nobody sees it; `remove_some` goes on until no row is left.

        Raises:
            SessionOwned: the lease under this token was lost.
            StorageFailed: it was written to.
        """
        return await self._submit(partial(_leave, row=row, token=token, at=self._now()))

    async def remove_some(self, session_id: SessionId) -> Left:
        """Remove rows of a session that leaves, for some milliseconds."""
        run = partial(removal.remove_some, session_id=session_id)
        return await self._submit(run, synced=False)

    async def unfinished(self) -> dict[SessionId, Millis]:
        """Give the sessions that leave: when each was archived, or `DELETED`."""
        return await self._read(removal.unfinished)

    async def finish(self, session_id: SessionId) -> None:
        """Say that nothing is left of a deleted session."""
        await self._submit(partial(removal.finish, session_id=session_id))

    async def weigh(self) -> StoreWeights:
        """Say what holds the size; reads an index or a row of everything there is."""
        return await self._read(store_sizes.weigh)

    async def space(self) -> Space:
        """Say how much of the file is free."""
        return await self._read(free_pages.space)

    async def shrink(self) -> Space:
        """Give free pages back for some milliseconds; says what is left."""
        return await self._submit(free_pages.shrink, synced=False)

    async def overwrite_free(self) -> None:
        """Fill free pages with zeros, where the file cannot give them back."""
        await self._submit(free_pages.overwrite_free)

    async def rebuild(self) -> None:
        """Rewrite a file of an earlier Sidecar, so that it can shrink; nobody writes meanwhile."""
        await asyncio.to_thread(free_pages.rebuild, self._path)

    async def empty_log(self) -> bool:
        """Cut the log to nothing; `False` where readers were in the way for seconds."""
        return await asyncio.to_thread(free_pages.empty_log, self._path)

    async def claim(self, owner: Owner, every: Millis = HOUR) -> bool:
        """Become the one who sweeps, if that is due and nobody else does."""
        return await self._submit(partial(_claim, owner=owner, every=every, now=self._now()))

    async def swept(self, token: str, *, whole: bool) -> None:
        """Let others sweep again; `whole`: the next sweep is due in an hour."""
        await self._submit(partial(_swept, token=token, whole=whole, now=self._now()))

    async def warned(self, names: Iterable[str]) -> frozenset[str]:
        """Remember of which quotas people were warned; gives those of an hour ago, or before."""
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
