"""Complete tool outputs, which retention removes.

Outputs stay while their session or its parent is open, and a day after the last use.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from functools import partial

from sidecar.config.retention import DAY
from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Millis, PartId, SessionId, ToolCompleted, ToolError, ToolPart
from sidecar.store.connection import lease
from sidecar.store.connection.seen_time import Ages, SeenClock
from sidecar.store.connection.store_access import StoreRead, Submit
from sidecar.store.content.holders import drop_unreferenced, unrefer
from sidecar.store.content.session_rows import blob, leaving, reader
from sidecar.store.format import rows
from sidecar.store.format.fields import BodyBroken
from sidecar.store.format.packing import spilled
from sidecar.store.format.values import Gone, PutGone, SessionRow, SweepReason

RESTS: Millis = DAY
"""Time after its last use in which a session counts as live."""
PARENT = "parent"
"""The setting with the origin's id."""


@dataclass(frozen=True, slots=True)
class GoingOutput:
    """An output to remove; `bound`: the limit exceeded, in days or MiB."""

    session_id: SessionId
    part_id: PartId
    hash: str
    at: Millis
    why: SweepReason
    bound: int


@dataclass(frozen=True, slots=True)
class Freed:
    """Outputs removed, and bytes freed."""

    count: int
    size: int


class OutputRows:
    """Methods may raise StorageFailed."""

    def __init__(self, submit: Submit, read: StoreRead, clock: SeenClock) -> None:
        self._submit = submit
        self._read = read
        self._clock = clock

    async def read(self, name: str) -> bytes | None:
        return await self._read(partial(blob, name=name))

    async def let_go(self, going: Sequence[GoingOutput]) -> Freed:
        """Removes outputs and their unshared bytes, except of live sessions (`is_live`)."""

        def run(con: sqlite3.Connection) -> Freed:
            return let_go(con, going, self._clock.ages(con))

        return await self._submit(run, synced=False)

    async def gone(self, name: str) -> Gone | None:
        return await self._read(partial(gone_by_hash, name=name))

    async def gone_of(self, session_id: SessionId) -> dict[str, Gone]:
        return await self._read(partial(gone_of, session_id=session_id))


def note_output(con: sqlite3.Connection, session_id: SessionId, part: ToolPart) -> bool:
    """Returns `False` if removed already."""
    name = rows.whole_output(part)
    assert isinstance(part.state, ToolCompleted | ToolError)
    con.execute(
        """INSERT INTO output (session_id, part_id, hash, at) VALUES (?, ?, ?, ?)
        ON CONFLICT (session_id, part_id) DO UPDATE SET
            hash = excluded.hash, at = excluded.at, gone = NULL WHERE hash != excluded.hash""",
        (session_id, part.id, name, part.state.finished),
    )
    return gone(con, session_id, part.id) is None


def gone(con: sqlite3.Connection, session_id: SessionId, part_id: PartId) -> Gone | None:
    found = con.execute(
        "SELECT gone, why, bound FROM output WHERE session_id = ? AND part_id = ?",
        (session_id, part_id),
    ).fetchone()
    return None if found is None or found[0] is None else Gone(*found)


def gone_by_hash(con: sqlite3.Connection, name: str) -> Gone | None:
    found = con.execute(
        "SELECT gone, why, bound FROM output WHERE hash = ? AND gone IS NOT NULL "
        "ORDER BY gone DESC LIMIT 1",
        (name,),
    ).fetchone()
    return None if found is None else Gone(*found)


def put_gone(con: sqlite3.Connection, put: PutGone) -> None:
    what = put.gone
    con.execute(
        """INSERT OR REPLACE INTO output (session_id, part_id, hash, at, gone, why, bound)
        VALUES (?, ?, ?, ?, ?, ?, ?)""",
        (put.session_id, put.part_id, put.hash, what.at, what.at, what.why, what.bound),
    )


def gone_of(con: sqlite3.Connection, session_id: SessionId) -> dict[str, Gone]:
    found = con.execute(
        "SELECT hash, gone, why, bound FROM output WHERE session_id = ? AND gone IS NOT NULL",
        (session_id,),
    )
    return {name: Gone(*what) for name, *what in found}


def copy_outputs(con: sqlite3.Connection, source: SessionId, target: SessionId) -> None:
    con.execute(
        """INSERT INTO output (session_id, part_id, hash, at, gone, why, bound)
        SELECT :target, held.part_id, held.hash, held.at, held.gone, held.why, held.bound
        FROM output AS held CROSS JOIN part
        ON part.session_id = :target AND part.id = held.part_id
        WHERE held.session_id = :source""",
        {"source": source, "target": target},
    )


def let_go(con: sqlite3.Connection, going: Sequence[GoingOutput], ages: Ages) -> Freed:
    live: dict[SessionId, bool] = {}
    names: list[str] = []
    for one in going:
        if one.session_id not in live:
            live[one.session_id] = is_live(con, one.session_id, ages)
        if live[one.session_id]:
            continue
        done = con.execute(
            "UPDATE output SET gone = ?, why = ?, bound = ? "
            "WHERE session_id = ? AND part_id = ? AND hash = ? AND gone IS NULL",
            (ages.now, one.why, one.bound, one.session_id, one.part_id, one.hash),
        )
        if done.rowcount:
            names.append(one.hash)
            _unrefer_output(con, one)
    before = sizes(con, names)
    drop_unreferenced(con, names)
    return Freed(len(names), before - sizes(con, names))


def _unrefer_output(con: sqlite3.Connection, one: GoingOutput) -> None:
    found = con.execute(
        "SELECT body FROM part WHERE session_id = ? AND id = ?", (one.session_id, one.part_id)
    ).fetchone()
    # The part's own text may be the same blob, and stays.
    if found is None or one.hash not in spilled(found[0]):
        unrefer(con, one.session_id, f"part:{one.part_id}", (one.hash,))


def is_live(con: sqlite3.Connection, session_id: SessionId, ages: Ages) -> bool:
    if is_open(con, session_id, ages.now):
        return True
    row = row_of(con, session_id)
    if row is None:
        return False
    parent = row.settings.get(PARENT)
    if ages.of(row.updated) < RESTS:
        return True
    return isinstance(parent, str) and is_open(con, parent, ages.now)


def is_open(con: sqlite3.Connection, session_id: str, now: Millis) -> bool:
    found = lease.holder(con, session_id)
    return found is not None and lease.alive(*found, now)


def row_of(con: sqlite3.Connection, session_id: SessionId) -> SessionRow | None:
    """`None` if missing, leaving or damaged."""
    found = con.execute("SELECT body FROM session WHERE id = ?", (session_id,)).fetchone()
    try:
        return (
            None
            if found is None or session_id in leaving(con)
            else rows.decode_session(found[0], reader(con))
        )
    except BodyBroken:
        return None


def sizes(con: sqlite3.Connection, names: Iterable[str]) -> int:
    query = "SELECT length(data) FROM blob WHERE hash = ?"
    found = (con.execute(query, (name,)).fetchone() for name in set(names))
    return sum(row[0] for row in found if row is not None)
