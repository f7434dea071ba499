"""Notes running restores, for recovery after a crash.

A restore's row is deleted after its last trace; others may adopt a dead process's restore.
"""

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Literal, NamedTuple, TypeAlias, get_args

import msgpack

from sidecar.core.dataclass import dataclass
from sidecar.core.errors import StorageFailed
from sidecar.core.parts import Millis
from sidecar.core.text.digest import digest
from sidecar.store.connection import lease
from sidecar.store.connection.store_access import Run, StoreRead, Submit
from sidecar.store.content.blobs import PressedBlob, expand, get_blobs, press, put_pressed
from sidecar.store.content.changes import apply_all, weight
from sidecar.store.content.holders import drop_unreferenced
from sidecar.store.format.fields import BodyBroken
from sidecar.store.format.values import Owner, StoreChange

RestoreState: TypeAlias = Literal["preparing", "applying", "done", "undone"]
"""`preparing`: no file was touched. `applying`: some may have been, and go back. `done`, `undone`:
only leftovers are to go."""
StepKind: TypeAlias = Literal["put", "mode"]

STATES: tuple[RestoreState, ...] = get_args(RestoreState)
TAG = b"rs1"
"""Then `r` or `z` (raw or zstd), 20 bytes of hash, 4 of size, the steps."""


AT_ONCE = 256 * 1024
"""Bytes read by `begin`: others wait for the writer."""
TAKEN = (
    "This took so long that another process took the restore for one that had ended, and took it "
    "back. Try again."
)


class FileMark(NamedTuple):
    """A file's `st_mode`, inode, `mtime` (ns), bytes, and hash if known."""

    mode: int
    inode: int
    mtime: int
    size: int
    hash: str = ""


class RestoreStep(NamedTuple):
    """One change of a path (bytes, relative to the root).

    `put`: `old` moves aside, and `new`, if any, takes its place. Staging folder `stage` holds both
    as `NUMBER.old` and `NUMBER.new`. `mode`: only the mode changes.
    """

    kind: StepKind
    path: bytes
    number: int
    stage: int
    old: FileMark | None
    new: FileMark | None


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A restore not yet ended; staging folders are relative to the root."""

    id: int
    state: RestoreState
    stages: tuple[bytes, ...]
    steps: tuple[RestoreStep, ...]


@dataclass(frozen=True, slots=True)
class Begun:
    """A restore that may proceed; `contents` has small blobs, `missing` those not stored."""

    id: int
    missing: frozenset[str]
    contents: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Running:
    """Says that a living process restores this workspace."""

    owner: Owner


@dataclass(frozen=True, slots=True)
class RestoreClaim:
    """Who wants to restore a root (path bytes), or end a restore.

    `others`: tokens of the process's running restores.
    """

    root: bytes
    owner: Owner
    others: frozenset[str] = frozenset()


class RestoreRows:
    """Methods may raise StorageFailed."""

    def __init__(
        self,
        submit: Submit,
        read: StoreRead,
        overtake: Callable[[Sequence[StoreChange]], None],
        now: Callable[[], Millis],
    ) -> None:
        self._submit = submit
        self._read = read
        self._overtake = overtake
        self._now = now

    async def begin(
        self,
        claim: RestoreClaim,
        stages: Sequence[bytes],
        coming: Iterable[str] = (),
        going: Iterable[str] = (),
    ) -> Begun | Unfinished | Running:
        """Begins a restore and holds its blobs; `coming` replaces `going`.

        Or returns an abandoned restore, which the claimant must now end, or `Running`.
        """
        names = frozenset(coming), frozenset(going)
        run = partial(_begin, claim=claim, stages=tuple(stages), names=names, now=self._now())
        return await self._submit(run)

    async def adopt(self, claim: RestoreClaim) -> Unfinished | Running | None:
        return await self._submit(partial(_adopt, claim=claim, now=self._now()))

    async def running(self, root: bytes) -> Owner | None:
        return await self._read(partial(_running, root=root, now=self._now()))

    async def roots(self) -> tuple[bytes, ...]:
        return await self._read(_roots)

    async def contents(self, names: Iterable[str]) -> dict[str, bytes]:
        return await self._read(partial(get_blobs, names=tuple(names)))

    async def keep(self, restore: int, blobs: Sequence[PressedBlob]) -> None:
        size = sum(len(blob.data) for blob in blobs)
        await self._submit(partial(_keep, restore=restore, blobs=tuple(blobs)), size)

    async def intend(self, restore: int, token: str, steps: Sequence[RestoreStep]) -> None:
        """From now on, recovery must finish or undo the steps."""
        body = pack_steps(steps)
        run = partial(_move, restore=restore, token=token, to="applying", now=self._now())
        await self._submit(partial(_intend, run=run, restore=restore, body=body), len(body))

    async def finish(self, restore: int, token: str, changes: Sequence[StoreChange]) -> None:
        """Ends a restore and stores `changes` in one transaction."""
        self._overtake(changes)
        run = partial(_move, restore=restore, token=token, to="done", now=self._now())
        both = partial(_finish, run=run, changes=tuple(changes))
        await self._submit(both, sum(map(weight, changes)))

    async def finished(self, restore: int) -> bool:
        """Whether `finish` committed despite an error."""
        return await self._read(partial(_finished, restore=restore))

    async def undone(self, restore: int) -> None:
        """Notes that the files are back, so nobody undoes later changes."""
        await self._submit(partial(_undone, restore=restore))

    async def leave(self, restore: int) -> None:
        """Lets anyone adopt the restore, even while this process lives."""
        await self._submit(partial(_leave, restore=restore))

    async def over(self, restore: int, *, small: bool = False) -> None:
        # After a power cut, a recovery deletes the row again.
        await self._submit(partial(_over, restore=restore), synced=False, small=small)


def _begin(
    con: sqlite3.Connection,
    claim: RestoreClaim,
    stages: tuple[bytes, ...],
    names: tuple[frozenset[str], frozenset[str]],
    now: Millis,
) -> Begun | Unfinished | Running:
    found = _adopt(con, claim, now)
    if found is not None:
        return found
    packed = msgpack.packb(list(stages))
    done = con.execute(
        """INSERT INTO restore (root, state, stages, steps, token, pid, host, started, heartbeat)
        VALUES (?, 'preparing', ?, ?, ?, ?, ?, ?, ?)""",
        (claim.root, packed, pack_steps(()), *_owner_row(claim.owner), now),
    )
    assert done.lastrowid is not None
    coming, going = names
    # A damaged size may be no number; reading the blob reports the damage.
    look = "SELECT hash, CAST(size AS INTEGER) FROM content WHERE hash = ?"
    sizes = dict(row for name in sorted(coming | going) for row in con.execute(look, (name,)))
    con.executemany(
        "INSERT INTO restore_blob (restore_id, hash, ours) VALUES (?, ?, 0)",
        [(done.lastrowid, name) for name in sizes],
    )
    there = tuple(coming & sizes.keys())
    contents = get_blobs(con, there) if sum(map(sizes.__getitem__, there)) <= AT_ONCE else {}
    return Begun(done.lastrowid, (coming | going).difference(sizes), contents)


def _adopt(
    con: sqlite3.Connection, claim: RestoreClaim, now: Millis
) -> Unfinished | Running | None:
    found = con.execute(
        "SELECT id, state, stages, steps FROM restore WHERE root = ?", (claim.root,)
    ).fetchone()
    if found is None:
        return None
    owner, heartbeat = _owner(con, claim.root)
    if lease.alive(owner, heartbeat, now) and not _left(owner, claim):
        return Running(owner)
    con.execute(
        """UPDATE restore SET token = ?, pid = ?, host = ?, started = ?, heartbeat = ?
        WHERE id = ?""",
        (*_owner_row(claim.owner), now, found[0]),
    )
    number, state, stages, steps = found
    if state not in STATES:
        raise BodyBroken(f"restore {number} has the unknown state {state!r}")
    return Unfinished(number, state, unpack_stages(stages), unpack_steps(steps))


def _left(owner: Owner, claim: RestoreClaim) -> bool:
    same = (owner.pid, owner.host, owner.started) == (
        claim.owner.pid,
        claim.owner.host,
        claim.owner.started,
    )
    return same and owner.token not in claim.others


def _owner(con: sqlite3.Connection, root: bytes) -> tuple[Owner, Millis]:
    pid, host, started, token, heartbeat = con.execute(
        "SELECT pid, host, started, token, heartbeat FROM restore WHERE root = ?", (root,)
    ).fetchone()
    return Owner(pid, host, started, token), heartbeat


def _owner_row(owner: Owner) -> tuple[str, int, str, str]:
    return owner.token, owner.pid, owner.host, owner.started


def _running(con: sqlite3.Connection, root: bytes, now: Millis) -> Owner | None:
    if con.execute("SELECT 1 FROM restore WHERE root = ?", (root,)).fetchone() is None:
        return None
    owner, heartbeat = _owner(con, root)
    return owner if lease.alive(owner, heartbeat, now) else None


def _roots(con: sqlite3.Connection) -> tuple[bytes, ...]:
    return tuple(root for (root,) in con.execute("SELECT root FROM restore ORDER BY id"))


def _keep(con: sqlite3.Connection, restore: int, blobs: tuple[PressedBlob, ...]) -> None:
    for blob in blobs:
        put_pressed(con, blob)
    con.executemany(
        "INSERT OR REPLACE INTO restore_blob (restore_id, hash, ours) VALUES (?, ?, 1)",
        [(restore, blob.hash) for blob in blobs],
    )


def _intend(con: sqlite3.Connection, run: Run[None], restore: int, body: bytes) -> None:
    run(con)
    con.execute("UPDATE restore SET steps = ? WHERE id = ?", (body, restore))


def _finish(con: sqlite3.Connection, run: Run[None], changes: tuple[StoreChange, ...]) -> None:
    run(con)
    apply_all(con, changes)


def _move(con: sqlite3.Connection, restore: int, token: str, to: RestoreState, now: Millis) -> None:
    done = con.execute(
        "UPDATE restore SET state = ?, heartbeat = ? WHERE id = ? AND token = ?",
        (to, now, restore, token),
    )
    if not done.rowcount:
        raise StorageFailed(TAKEN, kind="io")


def _finished(con: sqlite3.Connection, restore: int) -> bool:
    found = con.execute("SELECT state FROM restore WHERE id = ?", (restore,)).fetchone()
    return found is not None and found[0] == "done"


def _undone(con: sqlite3.Connection, restore: int) -> None:
    con.execute("UPDATE restore SET state = 'undone' WHERE id = ?", (restore,))


def _leave(con: sqlite3.Connection, restore: int) -> None:
    con.execute("UPDATE restore SET started = '', heartbeat = 0 WHERE id = ?", (restore,))


def _over(con: sqlite3.Connection, restore: int) -> None:
    query = "SELECT hash FROM restore_blob WHERE restore_id = ? AND ours"
    ours = [name for (name,) in con.execute(query, (restore,))]
    con.execute("DELETE FROM restore_blob WHERE restore_id = ?", (restore,))
    con.execute("DELETE FROM restore WHERE id = ?", (restore,))
    drop_unreferenced(con, ours)


def pack_steps(steps: Sequence[RestoreStep]) -> bytes:
    plain = msgpack.packb([[*step[:4], _plain(step.old), _plain(step.new)] for step in steps])
    assert plain is not None
    blob = press(plain)
    kind = b"z" if blob.encoding == "zstd" else b"r"
    head = bytes.fromhex(blob.hash.partition(":")[2]) + blob.size.to_bytes(4, "big")
    return TAG + kind + head + blob.data


def unpack_stages(body: bytes) -> tuple[bytes, ...]:
    """Raises BodyBroken."""
    try:
        stages = tuple(msgpack.unpackb(body))
    except (ValueError, TypeError) as error:
        raise BodyBroken(f"a restore's folders are no list: {error}") from error
    if not all(isinstance(stage, bytes) for stage in stages):
        raise BodyBroken("a restore's folders are no paths")
    return stages


def unpack_steps(body: bytes) -> tuple[RestoreStep, ...]:
    """Raises BodyBroken."""
    # A damaged row may hold a value of any type.
    if not isinstance(body, bytes) or not body.startswith(TAG) or len(body) < 28:
        raise BodyBroken(f"a restore has the unknown format {body!r:.20}")
    size = int.from_bytes(body[24:28], "big")
    encoding = {b"z": "zstd", b"r": "raw"}.get(body[3:4], "unknown")
    data = expand("of a restore", size, encoding, body[28:])
    if digest(data) != f"b2:{body[4:24].hex()}":
        raise BodyBroken("a restore is damaged: its steps have another hash")
    try:
        return tuple(
            RestoreStep(kind, path, number, stage, _mark(old), _mark(new))
            for kind, path, number, stage, old, new in msgpack.unpackb(data)
        )
    except (ValueError, TypeError) as error:
        raise BodyBroken(f"a restore is no list of steps: {error}") from error


def _plain(mark: FileMark | None) -> list[object] | None:
    return None if mark is None else list(mark)


def _mark(fields: list[object] | None) -> FileMark | None:
    return None if fields is None else FileMark(*fields)  # type: ignore[arg-type] # checked by the hash
