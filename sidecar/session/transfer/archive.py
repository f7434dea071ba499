"""Archives sessions as bundles, and takes them back unchanged.

Bundles are pending until the session has left the store; after a crash the store decides.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from sidecar.core.dataclass import dataclass
from sidecar.core.errors import (
    BadRequest,
    SessionOwned,
    SidecarError,
    StorageFailed,
    UnknownSession,
)
from sidecar.core.parts import Message, Millis, PatchPart, SessionId, ToolPart
from sidecar.session.compaction import milestones
from sidecar.session.transfer.bundle_export import ALL, SUFFIX, with_output
from sidecar.session.transfer.removed_words import leave_word, take_word_back
from sidecar.store.connection import bundle_file
from sidecar.store.connection.store_faults import storage_failed
from sidecar.store.connection.store_files import ARCHIVE, make_folder, sync_folder
from sidecar.store.content.changes import weight
from sidecar.store.content.removal import DELETED
from sidecar.store.format.bundles import Bundle, lines_of, read_lines
from sidecar.store.format.rows import blobs_of, whole_output
from sidecar.store.format.values import (
    AppendRecord,
    Owner,
    PutBlob,
    PutFacts,
    PutGone,
    PutMessage,
    PutPart,
    PutSession,
    SessionRow,
    StoreChange,
    Stored,
)
from sidecar.store.journal import Store
from sidecar.store.retention.leaving_rows import LeavingRows

logger = logging.getLogger("sidecar.session")

PENDING = ".pending"
PAUSE = 0.01
"""Seconds between slices, for other work on the disk."""
_TIMES = count(1)
"""Numbers leases, so that no two archivings in a process share one."""
BACK = (
    "It is back as it was, under its own id, and counts as used now. The bundle stays at {path}: "
    "delete it once it is of no use."
)
ARCHIVED = (
    "Session {id!r} was archived. Bring it back with `sidecar import {path}` (or session/import)."
)


@dataclass(frozen=True, slots=True)
class Ground:
    """The store to archive from; `owner`: this process, by a token for nothing else."""

    store: Store
    now: Callable[[], Millis]
    owner: Owner


def ground_of(store: Store, now: Callable[[], Millis], owner: Owner) -> Ground:
    return Ground(store, now, replace(owner, token=f"{owner.token}-order"))


@dataclass(frozen=True, slots=True)
class Archived:
    """An archived session; `size` is the bundle's bytes, `freed` the store's."""

    session_id: SessionId
    title: str
    path: Path
    size: int
    freed: int


def check_idle(busy: bool, otherwise: str = "cancel it first") -> None:
    """Raises BadRequest for a busy session; `otherwise` is advice."""
    if busy:
        text = f"a turn of this session runs: wait for its end, or {otherwise}"
        raise BadRequest(text, "params.sessionId")


async def archive(ground: Ground, session_id: SessionId) -> tuple[Archived, ...]:
    """Archives subtasks first; each session is in one place at any time.

    Raises UnknownSession, SessionOwned, BadRequest if too large, or StorageFailed; the session
    stays then.
    """
    rows = await ground.store.leaving.family(session_id)
    return tuple([await _archive_one(ground, row.id) for row in rows])


async def _archive_one(ground: Ground, session_id: SessionId) -> Archived:
    # The sweep of this daemon may settle things meanwhile: it must find that somebody is at it.
    owner = replace(ground.owner, token=f"{ground.owner.token}-{next(_TIMES)}")
    store, ground = ground.store, replace(ground, owner=owner)
    living = await store.leases.acquire(session_id, owner)
    if living is not None:
        raise SessionOwned(
            "this session is open in a window: close it there first",
            owner={"pid": living.pid, "host": living.host},
        )
    try:
        bundle = await _bundle(store, session_id, ground.now())
        pending = ground.store.folder / ARCHIVE / _name(session_id, bundle.made)
        size = await asyncio.to_thread(_write, pending, bundle)
        freed = await _take_out(ground, bundle.session, pending)
        path = await asyncio.to_thread(_finish, pending)
    finally:
        with suppress(StorageFailed):
            await store.leases.release(session_id, owner.token)
    await asyncio.to_thread(milestones.remove, ground.store.folder, session_id)
    await asyncio.to_thread(leave_word, ground.store.folder, bundle.session)
    return Archived(session_id, bundle.session.title, path, size, freed)


async def _bundle(store: Store, session_id: SessionId, now: Millis) -> Bundle:
    """Reads a session, keys and unfinished messages included."""
    stored = await store.logs.load(session_id)
    if stored.problems:
        raise StorageFailed(
            f"{len(stored.problems)} entries of the log of {session_id} are damaged, so it is not "
            "archived, lest they be lost: run `sidecar verify`.",
            kind="corrupt",
        )
    names = {whole_output(part) for message in stored.messages for part in message.parts}
    outputs = {
        name: await store.outputs.read(name) for name in sorted(names - {None}, key=str) if name
    }
    there = {name: data for name, data in outputs.items() if data is not None}
    known = await store.outputs.gone_of(session_id)
    gone = {name: known[name] for name in outputs if name not in there and name in known}
    # One of which nothing is known cannot be named, for nothing in a bundle may be missing.
    named = {name: name for name in (*there, *gone)}
    facts = await store.facts.find(session_id=session_id, limit=ALL)
    kept = {
        name
        for message in stored.messages
        for part in message.parts
        if isinstance(part, PatchPart)
        for name in blobs_of(part)
    }
    return Bundle(
        stored.session,
        tuple(
            replace(message, parts=tuple(with_output(part, named) for part in message.parts))
            for message in stored.messages
        ),
        stored.records,
        there,
        tuple(one.fact for one in facts),
        now,
        gone=gone,
        files=await store.logs.contents(sorted(kept)) if kept else None,
    )


def _name(session_id: SessionId, now: Millis) -> str:
    at = datetime.fromtimestamp(now / 1000, UTC).strftime("%Y%m%d-%H%M%S")
    return f"{session_id}-{at}{SUFFIX}{PENDING}"


def _write(pending: Path, bundle: Bundle) -> int:
    """Compares a copy read back; returns bytes. Blocks."""
    try:
        make_folder(pending.parent)
        size = bundle_file.write(pending, lines_of(bundle), replace=True)
        same = read_lines(bundle_file.read(pending)) == bundle
    except OSError as error:
        raise storage_failed(error) from error
    if not same:
        pending.unlink()
        raise StorageFailed(
            f"What was written of {bundle.session.id} does not read back as it is in the store, "
            "so it is not archived. Check the disk.",
            kind="io",
        )
    return size


async def _take_out(ground: Ground, row: SessionRow, pending: Path) -> int:
    try:
        left = await ground.store.leaving.leave(row, ground.owner.token)
    except SidecarError:
        # Whether it was done all the same, the store knows.
        await _settle(ground, row.id, pending)
        raise
    return left.size + (0 if left.done else await remove_rest(ground.store.leaving, row.id))


async def remove_rest(rows: LeavingRows, session_id: SessionId) -> int:
    """Removes a session in slices; returns the bytes."""
    size, done = 0, False
    while not done:
        left = await rows.remove_some(session_id)
        size, done = size + left.size, left.done
        await asyncio.sleep(0 if done else PAUSE)
    return size


def _finish(pending: Path) -> Path:
    path = pending.with_suffix("")
    # Another process may have found it between, and finished it.
    with suppress(FileNotFoundError):
        pending.replace(path)
    sync_folder(path.parent)
    return path


async def settle(ground: Ground) -> None:
    """Finishes dead processes' work: each session is in the store or in a bundle."""
    for name, at in (await ground.store.leaving.unfinished()).items():
        if at != DELETED:
            await remove_rest(ground.store.leaving, name)
    for path in await asyncio.to_thread(_unfinished, ground.store.folder / ARCHIVE):
        session_id = SessionId(path.name.lstrip(".").partition("-")[0])
        # Held while somebody archives it.
        if await ground.store.leases.acquire(session_id, ground.owner) is not None:
            continue
        try:
            await _settle(ground, session_id, path)
        except OSError as error:
            logger.warning("%s cannot be settled: %s", path, error)
        finally:
            await ground.store.leases.release(session_id, ground.owner.token)


async def _settle(ground: Ground, session_id: SessionId, pending: Path) -> None:
    try:
        await ground.store.sessions.row(session_id)
    except UnknownSession:
        if pending.suffix == PENDING:
            await asyncio.to_thread(_finish, pending)
            return
    await asyncio.to_thread(pending.unlink, missing_ok=True)


def _unfinished(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if path.suffix in (PENDING, ".tmp"))


def bundles_of(data_dir: Path, session_id: SessionId | None = None) -> list[Path]:
    """Lists bundles, oldest first, of a session or all. Blocks."""
    start = "" if session_id is None else f"{session_id}-"
    folder = data_dir / ARCHIVE
    found = folder.iterdir() if folder.is_dir() else ()
    named = (p for p in found if p.name.removesuffix(PENDING).endswith(SUFFIX))
    return sorted(path for path in named if path.name.startswith(start))


async def require(store: Store, session_id: SessionId) -> None:
    """Raises UnknownSession, naming any archived bundle."""
    try:
        await store.sessions.row(session_id)
    except UnknownSession:
        found = await asyncio.to_thread(bundles_of, store.folder, session_id)
        if not found:
            raise
        raise UnknownSession(ARCHIVED.format(id=session_id, path=found[-1])) from None


def is_own(data_dir: Path, path: Path) -> bool:
    """Whether a file is archived here, so trusted. Blocks."""
    return path.resolve().parent == (data_dir / ARCHIVE).resolve()


async def take_back(store: Store, path: Path, now: Millis) -> SessionRow | None:
    """Stores an archived session as used `now`; `None` if the id is taken.

    Raises BadRequest if damaged, or StorageFailed; nothing was stored then.
    """
    bundle = await asyncio.to_thread(lambda: read_lines(bundle_file.read(path)))
    row = replace(bundle.session, updated=now)
    try:
        await store.sessions.row(row.id)
    except UnknownSession:
        leaving = await store.leaving.unfinished()
        if leaving.get(row.id) == DELETED:
            return None
        if row.id in leaving:
            await remove_rest(store.leaving, row.id)
        changes = list(_changes(Stored(row, bundle.messages, bundle.records), bundle))
        await store.write(*changes, size=sum(map(weight, changes)))
        await asyncio.to_thread(take_word_back, store.folder, row)
        return row
    return None


def _changes(stored: Stored, bundle: Bundle) -> Iterable[StoreChange]:
    row = stored.session
    yield PutSession(row)
    for name, data in {**bundle.outputs, **(bundle.files or {})}.items():
        yield PutBlob(name, data)
    for message in stored.messages:
        yield PutMessage(row.id, replace(message, parts=()))
        yield from gone_outputs(row.id, message, bundle)
        for position, part in enumerate(message.parts):
            yield PutPart(row.id, message.id, position, part)
    for record in stored.records:
        yield AppendRecord(row.id, record)
    if bundle.facts:
        yield PutFacts(row.id, row.cwd, bundle.facts)


def gone_outputs(session_id: SessionId, message: Message, bundle: Bundle) -> list[PutGone]:
    named = ((part, whole_output(part)) for part in message.parts if isinstance(part, ToolPart))
    return [
        PutGone(session_id, part.id, name, bundle.gone[name])
        for part, name in named
        if name is not None and name in bundle.gone
    ]
