"""Leases: at most one living process writes a session.

On one machine a lease ends with its process (pid and start), elsewhere when heartbeats stop.
"""

import os
import platform
import sqlite3
from collections.abc import Callable
from pathlib import Path

from sidecar.core.parts import Millis, SessionId
from sidecar.store.connection.store_access import Submit
from sidecar.store.format.values import Owner

HEARTBEAT_LIMIT: Millis = 30_000
"""Milliseconds; owners beat every few seconds, and may miss some."""


class Leases:
    """Methods may raise StorageFailed."""

    def __init__(self, submit: Submit, now: Callable[[], Millis]) -> None:
        self._submit = submit
        self._now = now

    async def acquire(self, session_id: SessionId, owner: Owner) -> Owner | None:
        """Returns the living owner if another process has the lease."""
        return await self._submit(lambda con: acquire(con, session_id, owner, self._now()))

    async def release(self, session_id: SessionId, token: str) -> None:
        await self._submit(lambda con: release(con, session_id, token))

    async def beat(self, token: str) -> None:
        """Must be called every few seconds."""
        await self._submit(lambda con: beat(con, token, self._now()))


def this_process(token: str) -> Owner:
    pid = os.getpid()
    return Owner(pid, platform.node(), _since(pid), token)


_since_known: dict[int, str] = {}


def _since(pid: int) -> str:
    # Cached by pid: a forked child has another.
    if pid in _since_known:
        return _since_known[pid]
    started, world = _started(pid), _world()
    since = "" if started is None else f"{world}:{started}"
    # Not cached if unreadable: too many open files may be a passing state.
    if started is not None and world:
        _since_known[pid] = since
    return since


def holder(con: sqlite3.Connection, session_id: str) -> tuple[Owner, Millis] | None:
    found = con.execute(
        "SELECT pid, host, started, token, heartbeat FROM lease WHERE session_id = ?",
        (session_id,),
    ).fetchone()
    return None if found is None else (Owner(*found[:4]), found[4])


def acquire(
    con: sqlite3.Connection, session_id: SessionId, owner: Owner, now: Millis
) -> Owner | None:
    found = holder(con, session_id)
    if found is not None and found[0].token != owner.token and alive(*found, now):
        return found[0]
    con.execute(
        """INSERT OR REPLACE INTO lease (session_id, token, pid, host, started, heartbeat)
        VALUES (?, ?, ?, ?, ?, ?)""",
        (session_id, owner.token, owner.pid, owner.host, owner.started, now),
    )
    return None


def release(con: sqlite3.Connection, session_id: SessionId, token: str) -> None:
    con.execute("DELETE FROM lease WHERE session_id = ? AND token = ?", (session_id, token))


def beat(con: sqlite3.Connection, token: str, now: Millis) -> None:
    con.execute("UPDATE lease SET heartbeat = ? WHERE token = ?", (now, token))


def alive(owner: Owner, heartbeat: Millis, now: Millis) -> bool:
    if not _is_owner(owner, heartbeat):
        return False
    fresh = abs(now - heartbeat) < HEARTBEAT_LIMIT
    if owner.host != platform.node():
        return fresh
    if owner.started and owner.started.startswith(f"{_world()}:"):
        return _started(owner.pid) == owner.started.rpartition(":")[2]
    return fresh and (bool(owner.started) or _exists(owner.pid))


def _is_owner(owner: Owner, heartbeat: Millis) -> bool:
    # A damaged row may hold values of any type.
    texts = isinstance(owner.host, str) and isinstance(owner.started, str)
    return texts and isinstance(owner.pid, int) and isinstance(heartbeat, int)


def boot_of_machine() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return ""


def _world() -> str:
    # Pids have a meaning only within one boot and one container.
    try:
        boot = boot_of_machine()
        return boot and f"{boot}/{Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return ""


def _started(pid: int) -> str | None:
    """Returns when a process started, in ticks since boot."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return None
    # The second field is the program's name, possibly with blanks and brackets.
    state, *others = stat.rpartition(")")[2].split()
    # A zombie writes nothing any more.
    return None if state in "ZX" else others[18]


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
