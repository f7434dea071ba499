"""Rows of the store that hold anything: its readers give values, problems or declared errors."""

import platform
import sqlite3
from collections.abc import Coroutine
from typing import Any, TypeVar

from sidecar.core.errors import SidecarError
from sidecar.core.files.tree import SeenEntry, TreeChange, TreeEntry
from sidecar.core.text.digest import digest
from sidecar.store.connection import lease
from sidecar.store.connection.store_faults import FAULTS
from sidecar.store.content import chains, session_rows
from sidecar.store.content.blobs import press
from sidecar.store.content.chains import Addition
from sidecar.store.content.changes import apply_all
from sidecar.store.content.fact_rows import FactRows
from sidecar.store.content.restores import FileMark, RestoreClaim, RestoreRows, RestoreStep
from sidecar.store.content.snapshot_rows import SnapshotRows
from sidecar.store.format.values import (
    AppendRecord,
    Owner,
    PutBlob,
    PutFacts,
    PutMessage,
    PutPart,
    PutSession,
)
from sidecar.store.repair.verification import verify
from tests.fuzz.dice import Dice
from tests.fuzz.mutations import scrambled
from tests.store.on_disk import in_memory
from tests.store.samples import NOW, sample

SHARE = 30

T = TypeVar("T")

COLUMNS = {
    "session": ("body", "hash", "updated", "cwd", "id"),
    "message": ("body", "hash", "id"),
    "part": ("body", "hash", "position", "message_id"),
    "record": ("body", "hash"),
    "blob": ("data", "size", "encoding", "hash"),
    "reference": ("holder", "hash"),
    "fact": ("body", "hash", "id", "source", "key", "at", "text"),
    "snapshot": ("body", "parent", "at"),
    "workspace": ("head", "complete", "held", "folded"),
    "tree": ("mode", "hash", "size", "lost", "version", "mtime", "inode", "racy"),
    "restore": ("state", "stages", "steps", "token", "pid", "host", "started", "heartbeat"),
    "restore_blob": ("hash", "ours"),
    "lease": ("token", "pid", "host", "started", "heartbeat"),
}
ODD: tuple[object, ...] = (
    *(
        platform.node(),
        0,
        -1,
        2**62,
        1.5,
        "",
        "x",
        "b2:0",
        b"",
        b"\xff\x00",
        b"mp1:\xc1",
        "zstd",
        "x" * 5_000,
    ),
)
STATEMENTS = ("UPDATE {t} SET {c} = ?", "UPDATE OR IGNORE {t} SET {c} = ?", "DELETE FROM {t}")
OWNER = Owner(2**22 + 1, "elsewhere", "then", "tok")
OTHER = Owner(1, "here", "now", "other")
ROOT = b"/w"


def _filled() -> tuple[sqlite3.Connection, int]:
    con = in_memory()
    bundle = sample()
    session_id = bundle.session.id
    apply_all(con, [PutSession(bundle.session)])
    apply_all(con, [PutBlob(name, data) for name, data in bundle.outputs.items()])
    for message in bundle.messages:
        apply_all(con, [PutMessage(session_id, message)])
        parts = enumerate(message.parts)
        apply_all(con, [PutPart(session_id, message.id, n, part, True) for n, part in parts])
    apply_all(con, [AppendRecord(session_id, record) for record in bundle.records])
    apply_all(con, [PutFacts(session_id, bundle.session.cwd, bundle.facts)])
    workspace = chains.begin(con, ROOT, NOW)
    blob = press(b"content" * 40)
    entry = TreeEntry(0o100644, blob.hash, blob.size)
    addition = Addition((), (blob,), ((b"a", SeenEntry(entry, 1, 1, 1, False, False)),))
    chains.fill(con, workspace.id, workspace.head, addition, True)
    more = Addition((TreeChange(b"b", None, entry),), (), ())
    chains.append(con, workspace.id, workspace.head, more, NOW)
    _done(_restores(con).begin(RestoreClaim(ROOT, OWNER), [b"/w/.s"], [blob.hash]))
    steps = [RestoreStep("put", b"a", 1, 0, FileMark(33188, 1, 2, 3), None)]
    _done(_restores(con).intend(1, OWNER.token, steps))
    lease.acquire(con, session_id, OWNER, NOW)
    return con, workspace.id


def _done(work: Coroutine[Any, Any, T]) -> T:
    """Run what never waits."""
    try:
        work.send(None)
    except StopIteration as end:
        value: T = end.value
        return value
    raise AssertionError("it waited")


def _restores(con: sqlite3.Connection) -> RestoreRows:
    async def run(job: Any, *_: object, **__: object) -> Any:
        return job(con)

    return RestoreRows(run, run, lambda _: None, lambda: NOW)


def _facts(con: sqlite3.Connection) -> FactRows:
    async def run(job: Any, *_: object, **__: object) -> Any:
        return job(con)

    return FactRows(run, run)


def _snapshots(con: sqlite3.Connection) -> SnapshotRows:
    async def run(job: Any, *_: object, **__: object) -> Any:
        return job(con)

    return SnapshotRows(run, run)


CON, WORKSPACE = _filled()


def run(data: bytes) -> None:
    """Damage some rows, read everything, and take the damage back."""
    dice = Dice(data)
    CON.execute("SAVEPOINT before")
    try:
        for _ in range(1 + dice.below(3)):
            _damage(dice)
        _read_all(dice)
    finally:
        CON.execute("ROLLBACK TO before")
        CON.execute("RELEASE before")


def _damage(dice: Dice) -> None:
    table = dice.pick(tuple(COLUMNS))
    column = dice.pick(COLUMNS[table])
    rows = CON.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    skip = dice.below(rows + 1)
    where = f" WHERE {column} IN (SELECT {column} FROM {table} LIMIT 1 OFFSET {skip})"
    statement = dice.pick(STATEMENTS).format(t=table, c=column) + where
    old = CON.execute(f"SELECT {column} FROM {table} LIMIT 1 OFFSET {skip}").fetchone()
    new: object = dice.pick(ODD)
    if old is not None and isinstance(old[0], bytes) and dice.below(3):
        new = scrambled(old[0], dice)
    try:
        CON.execute(statement, (new,) if "?" in statement else ())
        if column == "body" and isinstance(new, bytes) and table in ("session", "message", "fact"):
            CON.execute(f"UPDATE {table} SET hash = ? WHERE body = ?", (digest(new), new))
    except sqlite3.IntegrityError:
        # What the schema itself keeps out.
        return


def _read_all(dice: Dice) -> None:
    bundle = sample()
    session_id, cwd = bundle.session.id, bundle.session.cwd
    restores, facts, snapshots = _restores(CON), _facts(CON), _snapshots(CON)
    _given(lambda: _told(session_rows.load(CON, session_id).problems))
    _given(lambda: session_rows.page(CON, None, None, 5))
    _given(lambda: session_rows.page(CON, cwd, None, 1))
    for part in bundle.messages[0].parts[:2]:
        _given(lambda part=part: session_rows.part(CON, session_id, part.id))
    for name in bundle.outputs:
        _given(lambda name=name: session_rows.blob(CON, name))
    _given(lambda: _done(facts.find(cwd=cwd, query="chose", limit=9)))
    _given(lambda: _done(facts.candidates(session_id)))
    _given(lambda: _done(snapshots.load(ROOT)))
    _given(lambda: _done(snapshots.tree(WORKSPACE, [b"a", b"b"])))
    _given(lambda: _done(restores.adopt(RestoreClaim(ROOT, OTHER))))
    _given(lambda: _done(restores.roots()))
    _given(lambda: lease.acquire(CON, session_id, OTHER, NOW))
    if dice.chance(3):
        _told(verify(CON).problems)


def _given(read: Any) -> None:
    try:
        read()
    except (*FAULTS, SidecarError) as error:
        _told((str(error),))


def _told(problems: tuple[str, ...]) -> None:
    assert all(problems), "a problem without a word"
