"""Sizes by kind and session."""

import sqlite3

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Millis, SessionId
from sidecar.store.connection import free_pages
from sidecar.store.content.blobs import contents
from sidecar.store.content.outputs import row_of
from sidecar.store.retention.retention_due import outputs_size, sessions_size

MOST_SESSIONS = 10


@dataclass(frozen=True, slots=True)
class Heavy:
    """A session's size in bytes with blobs, shared or not."""

    id: SessionId
    title: str
    updated: Millis
    size: int


@dataclass(frozen=True, slots=True)
class StoreWeights:
    """Bytes by kind, adding up to the file's `size`.

    `texts`: messages, records, facts and blobs except `outputs`; `rest`: indexes and unused space.
    """

    size: int
    texts: int
    outputs: int
    snapshots: int
    free: int
    rest: int
    sessions: int
    heaviest: tuple[Heavy, ...]


def weigh(con: sqlite3.Connection) -> StoreWeights:
    space = free_pages.space(con)
    outputs, sessions = outputs_size(con), sessions_size(con)
    snapshots = _snapshots(con)
    (count,) = con.execute("SELECT count(*) FROM session").fetchone()
    return StoreWeights(
        size=space.size,
        texts=sessions - outputs,
        outputs=outputs,
        snapshots=snapshots,
        free=space.free,
        rest=max(0, space.size - space.free - sessions - snapshots),
        sessions=count,
        heaviest=tuple(_heaviest(con)),
    )


def _snapshots(con: sqlite3.Connection) -> int:
    # Blobs shared with a session count there.
    blobs = con.execute(
        f"SELECT total(length(data)) FROM {contents(con)} "
        "WHERE hash NOT IN (SELECT hash FROM reference)"
    ).fetchone()[0]
    deltas = con.execute("SELECT total(length(body)) FROM snapshot").fetchone()[0]
    return int(blobs + deltas)


def _heaviest(con: sqlite3.Connection) -> list[Heavy]:
    weights: dict[str, int] = {}
    for table in ("message", "part", "record"):
        for name, size in con.execute(
            f"SELECT session_id, total(length(body)) FROM {table} GROUP BY session_id"
        ):
            weights[name] = weights.get(name, 0) + int(size)
    for name, size in con.execute(
        "SELECT held.session_id, total(length(blob.data)) "
        "FROM (SELECT DISTINCT session_id, hash FROM reference) AS held "
        "JOIN blob ON blob.hash = held.hash GROUP BY held.session_id"
    ):
        weights[name] = weights.get(name, 0) + int(size)
    found: list[Heavy] = []
    for name in sorted(weights, key=weights.__getitem__, reverse=True)[:MOST_SESSIONS]:
        row = row_of(con, SessionId(name))
        if row is not None:
            found.append(Heavy(row.id, row.title, row.updated, weights[name]))
    return found
