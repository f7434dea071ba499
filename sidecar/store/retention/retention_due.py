"""Due removals."""

import sqlite3
from collections.abc import Iterable

from sidecar.config.retention import DAY, Retention
from sidecar.core.dataclass import dataclass
from sidecar.core.files.tree import MIB
from sidecar.core.parts import Millis, PartId, SessionId
from sidecar.store.connection.seen_time import Ages
from sidecar.store.content.fact_rows import drop_facts
from sidecar.store.content.outputs import PARENT, GoingOutput, is_live, is_open, row_of, sizes
from sidecar.store.content.removal import rows_size
from sidecar.store.content.session_rows import reader
from sidecar.store.content.trees import held_unfolded
from sidecar.store.format import rows
from sidecar.store.format.fields import BodyBroken
from sidecar.store.format.log_records import DelegatedRecord
from sidecar.store.format.record_codec import read
from sidecar.store.format.values import SessionRow, SweepReason

_DELEGATED = str(DelegatedRecord.__struct_config__.tag).encode()


@dataclass(frozen=True, slots=True)
class GoingSession:
    """A session to archive, freeing `size` bytes; a subtask with its `parent`."""

    id: SessionId
    title: str
    updated: Millis
    size: int
    parent: SessionId | None = None


@dataclass(frozen=True, slots=True)
class RetentionPlan:
    """What is to be removed, in bytes; `noticed`: a sentence about a wrong clock, or ""."""

    outputs: tuple[GoingOutput, ...]
    outputs_size: int
    sessions: tuple[GoingSession, ...]
    noticed: str = ""

    @property
    def size(self) -> int:
        return self.outputs_size + sum(one.size for one in self.sessions)


class _Blobs:
    def __init__(self, con: sqlite3.Connection) -> None:
        self._con = con
        self._others = {name for _, name in held_unfolded(con)}
        self._left: dict[str, set[tuple[str, str]]] = {}

    def drop(self, session_id: str, holder: str, name: str) -> int:
        left = self._left.get(name)
        if left is None:
            query = "SELECT session_id, holder FROM reference WHERE hash = ?"
            left = self._left[name] = set(self._con.execute(query, (name,)))
        if (session_id, holder) not in left:
            return 0
        left.discard((session_id, holder))
        return 0 if left or self._held(name) else sizes(self._con, (name,))

    def _held(self, name: str) -> bool:
        query = (
            "SELECT EXISTS (SELECT 1 FROM holding WHERE hash = ?1) "
            "OR EXISTS (SELECT 1 FROM restore_blob WHERE hash = ?1)"
        )
        return name in self._others or bool(self._con.execute(query, (name,)).fetchone()[0])


def plan(con: sqlite3.Connection, rules: Retention, ages: Ages) -> RetentionPlan:
    blobs = _Blobs(con)
    outputs_used, used = outputs_size(con), sessions_size(con)
    outputs, outputs_freed = _outputs(con, rules, ages, blobs, outputs_used)
    left = used - outputs_freed
    sessions = tuple(_sessions(con, rules, ages, blobs, left))
    return RetentionPlan(outputs, outputs_freed, sessions, ages.noticed)


def outputs_size(con: sqlite3.Connection) -> int:
    query = (
        "SELECT total(length(data)) FROM blob WHERE hash IN "
        "(SELECT hash FROM output WHERE gone IS NULL)"
    )
    return int(con.execute(query).fetchone()[0])


def sessions_size(con: sqlite3.Connection) -> int:
    query = "SELECT total(length(data)) FROM blob WHERE hash IN (SELECT hash FROM reference)"
    total = con.execute(query).fetchone()[0]
    for table in ("session", "message", "part", "record", "fact"):
        total += con.execute(f"SELECT total(length(body)) FROM {table}").fetchone()[0]
    return int(total)


def _outputs(
    con: sqlite3.Connection, rules: Retention, ages: Ages, blobs: _Blobs, used: int
) -> tuple[tuple[GoingOutput, ...], int]:
    oldest = rules.outputs_days * DAY
    bound = rules.outputs_mib * MIB
    if not oldest and not bound:
        return (), 0
    sessions: dict[SessionId, Millis | None] = {}
    going: list[GoingOutput] = []
    freed = 0
    for session_id, part_id, name, at in con.execute(
        "SELECT session_id, part_id, hash, at FROM output WHERE gone IS NULL "
        "ORDER BY at, session_id, part_id"
    ).fetchall():
        if session_id not in sessions:
            sessions[session_id] = _rests_since(con, session_id, ages)
        since = sessions[session_id]
        old = oldest and since is not None and min(ages.of(at), ages.of(since)) > oldest
        full = bool(bound) and used - freed > bound
        if since is None or not (old or full):
            continue
        why: SweepReason = "age" if old else "quota"
        limit = rules.outputs_days if old else rules.outputs_mib
        going.append(GoingOutput(session_id, PartId(part_id), name, at, why, limit))
        freed += blobs.drop(session_id, f"part:{part_id}", name)
    return tuple(going), freed


def _rests_since(con: sqlite3.Connection, session_id: SessionId, ages: Ages) -> Millis | None:
    # A session's time in the store counts too: an imported output may be old already.
    if is_live(con, session_id, ages):
        return None
    row = row_of(con, session_id)
    return None if row is None else row.created


def _sessions(
    con: sqlite3.Connection, rules: Retention, ages: Ages, blobs: _Blobs, used: int
) -> Iterable[GoingSession]:
    oldest = rules.archive_days * DAY
    bound = rules.sessions_mib * MIB
    if not oldest and not bound:
        return
    gone: set[str] = set()
    for session_id, updated in con.execute(
        "SELECT id, updated FROM session ORDER BY updated, id"
    ).fetchall():
        full = bool(bound) and used > bound
        old = oldest and ages.of(updated) > oldest
        if session_id in gone or not (old or full):
            continue
        row = row_of(con, session_id)
        # A subtask's session goes with its parent.
        if row is None or is_live(con, session_id, ages) or _is_subtask(con, row):
            continue
        for one in family(con, row, ages.now):
            gone.add(one.id)
            parent = None if one.id == row.id else row.id
            size = _leaves(con, blobs, one.id)
            used -= size
            yield GoingSession(one.id, one.title, one.updated, size, parent)


def _leaves(con: sqlite3.Connection, blobs: _Blobs, session_id: SessionId) -> int:
    held = con.execute("SELECT holder, hash FROM reference WHERE session_id = ?", (session_id,))
    size = rows_size(con, session_id) + drop_facts(con, session_id, shared=False, dry=True)
    return size + sum(blobs.drop(session_id, holder, name) for holder, name in held.fetchall())


def family(con: sqlite3.Connection, row: SessionRow, now: Millis) -> tuple[SessionRow, ...]:
    found: list[SessionRow] = []
    for name in sorted(_subtasks(con, row.id)):
        child = row_of(con, SessionId(name))
        # A fork copies the record, but owns no subtask.
        if child is None or child.settings.get(PARENT) != row.id:
            continue
        if not is_open(con, child.id, now):
            found += family(con, child, now)
    return (*found, row)


def _is_subtask(con: sqlite3.Connection, row: SessionRow) -> bool:
    parent = row.settings.get(PARENT)
    return isinstance(parent, str) and row.id in _subtasks(con, SessionId(parent))


def _subtasks(con: sqlite3.Connection, session_id: SessionId) -> set[str]:
    found: set[str] = set()
    for (body,) in con.execute("SELECT body FROM record WHERE session_id = ?", (session_id,)):
        if _DELEGATED not in body:
            continue
        try:
            record = read(rows.decode_record(body, reader(con)))
        except BodyBroken:
            continue
        if isinstance(record, DelegatedRecord) and record.session_id != session_id:
            found.add(record.session_id)
    return found
