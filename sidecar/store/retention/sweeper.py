"""Due removals, and who sweeps."""

import sqlite3
from collections.abc import Iterable
from functools import partial

from sidecar.config.retention import HOUR, Retention
from sidecar.core.parts import Millis, SessionId
from sidecar.store.connection import lease, seen_time
from sidecar.store.connection.seen_time import Ages, SeenClock
from sidecar.store.connection.store_access import StoreRead, Submit
from sidecar.store.format.values import Owner
from sidecar.store.retention import retention_due, store_sizes
from sidecar.store.retention.retention_due import RetentionPlan
from sidecar.store.retention.store_sizes import StoreWeights

SWEEP = SessionId("(sweep)")
"""The id whose lease marks the sweeping daemon."""


class KeepingRows:
    """Methods may raise StorageFailed."""

    def __init__(self, submit: Submit, read: StoreRead, clock: SeenClock) -> None:
        self._submit = submit
        self._read = read
        self._clock = clock

    async def look(self) -> str:
        """Notes passing time; returns a sentence about a wrong clock, or ""."""
        run = partial(seen_time.note, now=self._clock.now(), count=self._clock.uptime())
        return await self._submit(run, synced=False)

    async def plan(self, rules: Retention) -> RetentionPlan:
        return await self._read(lambda con: retention_due.plan(con, rules, self._clock.ages(con)))

    async def used(self) -> tuple[int, int]:
        return await self._read(
            lambda con: (retention_due.outputs_size(con), retention_due.sessions_size(con))
        )

    async def weigh(self) -> StoreWeights:
        """Slow: reads every row or its index entry."""
        return await self._read(store_sizes.weigh)

    async def claim(self, owner: Owner, every: Millis = HOUR) -> bool:
        return await self._submit(partial(_claim, owner=owner, every=every, now=self._clock.now()))

    async def swept(self, token: str, *, whole: bool) -> None:
        """Ends a sweep; `whole` puts off the next by an hour."""
        await self._submit(partial(_swept, token=token, whole=whole, now=self._clock.now()))

    async def warned(self, names: Iterable[str]) -> frozenset[str]:
        """Notes exceeded quotas; returns those noted over an hour ago."""
        told = frozenset(names)
        return await self._submit(lambda con: _warned(con, told, self._clock.ages(con)))


def _claim(con: sqlite3.Connection, owner: Owner, every: Millis, now: Millis) -> bool:
    last = _last_sweep(con)
    # Also due after the clock went back by more; otherwise no sweep might ever be due again.
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
