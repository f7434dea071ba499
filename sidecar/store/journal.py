"""The durable store of sessions."""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from sidecar.core.errors import StorageFailed
from sidecar.core.parts import SessionId
from sidecar.store.connection import store_files
from sidecar.store.connection.free_pages import FreePages, make_shrinkable
from sidecar.store.connection.lease import Leases
from sidecar.store.connection.read_connections import Readers
from sidecar.store.connection.seen_time import ReadUptime, SeenClock
from sidecar.store.connection.store_faults import FAULTS, GONE, READ_ONLY, storage_failed
from sidecar.store.connection.writer import CLOSED, StoreWriter
from sidecar.store.content.session_rows import SessionRows
from sidecar.store.content.slices import LogRows
from sidecar.store.format.migrations import MIGRATIONS, NEWER, migrate, version
from sidecar.store.format.values import (
    DeleteSession,
    PutPart,
    StoreChange,
    VerifyReport,
)

if TYPE_CHECKING:
    from sidecar.store.content.fact_rows import FactRows
    from sidecar.store.content.outputs import OutputRows
    from sidecar.store.content.restores import RestoreRows
    from sidecar.store.content.snapshot_rows import SnapshotRows
    from sidecar.store.retention.leaving_rows import LeavingRows
    from sidecar.store.retention.sweeper import KeepingRows

READERS = 2
"""A session loads while a verification reads everything."""

ReadOnly: TypeAlias = Literal["newer_schema", "read_only"]
T = TypeVar("T")


class Store:
    """The store's file and its contents by kind; call on an event loop, nothing blocks.

    All may raise StorageFailed (`full`, `corrupt`, `newer_schema`, `read_only` or `io`), and then
    nothing of the call is stored. `folder`: the daemon's data folder.
    """

    def __init__(
        self,
        path: Path,
        now: Callable[[], int],
        source: sqlite3.Connection | ReadOnly,
        uptime: ReadUptime = lambda: None,
    ) -> None:
        self.folder = path.parent
        self._path = path
        # Set from the writer's thread when a newer Sidecar migrates the file while it is open.
        self._why: ReadOnly | None = None
        self._identity = store_files.identity(path)
        self._writer: StoreWriter | None = None
        if isinstance(source, sqlite3.Connection):
            self._writer = StoreWriter(source, self._guard)
        else:
            self._why = source
        self._readers = Readers(path)
        self._threads = ThreadPoolExecutor(READERS, thread_name_prefix="store-read")
        self.sessions = SessionRows(self._read)
        self.logs = LogRows(self._read)
        self.leases = Leases(self._submit, now)
        self._now, self._clock = now, SeenClock(now, uptime)
        self.pages = FreePages(self._submit, self._read, path)
        self._closed = False

    # What only who writes needs is imported when asked for.

    def _snapshots(self) -> "SnapshotRows":
        from sidecar.store.content.snapshot_rows import SnapshotRows  # noqa: PLC0415 - as above

        return SnapshotRows(self._submit, self._read)

    def _facts(self) -> "FactRows":
        from sidecar.store.content.fact_rows import FactRows  # noqa: PLC0415 - as above

        return FactRows(self._submit, self._read)

    def _restores(self) -> "RestoreRows":
        from sidecar.store.content.restores import RestoreRows  # noqa: PLC0415 - as above

        return RestoreRows(self._submit, self._read, self._overtake, self._now)

    def _keeping(self) -> "KeepingRows":
        from sidecar.store.retention.sweeper import KeepingRows  # noqa: PLC0415 - as above

        return KeepingRows(self._submit, self._read, self._clock)

    def _outputs(self) -> "OutputRows":
        from sidecar.store.content.outputs import OutputRows  # noqa: PLC0415 - as above

        return OutputRows(self._submit, self._read, self._clock)

    def _leaving(self) -> "LeavingRows":
        from sidecar.store.retention.leaving_rows import LeavingRows  # noqa: PLC0415 - as above

        return LeavingRows(self._submit, self._read, self._now)

    snapshots = cached_property(_snapshots)
    facts = cached_property(_facts)
    restores = cached_property(_restores)
    keeping = cached_property(_keeping)
    outputs = cached_property(_outputs)
    leaving = cached_property(_leaving)

    @classmethod
    def open(
        cls, folder: Path, *, now: Callable[[], int], uptime: ReadUptime = lambda: None
    ) -> "Store":
        """Makes a missing folder; blocks for milliseconds.

        `now` (ms since 1970) and `uptime`: for any thread. Unwritable stores open for reading;
        raises StorageFailed if unreadable.
        """
        try:
            return cls._open(folder, now, uptime)
        except FAULTS as error:
            raise storage_failed(error) from error

    @classmethod
    def _open(cls, folder: Path, now: Callable[[], int], uptime: ReadUptime) -> "Store":
        path = folder / store_files.NAME
        try:
            store_files.prepare(folder)
        except OSError:
            if not path.exists():
                raise
        try:
            found = store_files.read(path, version)
        except sqlite3.DatabaseError:
            if not store_files.roll_back(path):
                raise
            found = store_files.read(path, version)
        if found > len(MIGRATIONS):
            return cls(path, now, "newer_schema", uptime)
        if not store_files.writable(path):
            if found == 0:
                raise _refusal("read_only")
            return cls(path, now, "read_only", uptime)
        con = store_files.open_writer(path)
        try:
            store_files.patiently(lambda: migrate(con, MIGRATIONS, now()))
            if 0 < found < len(MIGRATIONS):
                store_files.patiently(lambda: make_shrinkable(con))
        except BaseException:
            con.close()
            raise
        return cls(path, now, con, uptime)

    @classmethod
    def look(cls, folder: Path, *, now: Callable[[], int]) -> "Store":
        """For reading, without migration; raises StorageFailed."""
        path = folder / store_files.NAME
        try:
            found = store_files.read(path, version) if path.exists() else 0
        except FAULTS as error:
            raise storage_failed(error) from error
        if found == 0:
            raise StorageFailed(
                f"There are no sessions in {folder} yet. `sidecar demo` plays one; "
                "SIDECAR_DATA_DIR names another folder.",
                kind="io",
            )
        return cls(path, now, "newer_schema" if found > len(MIGRATIONS) else "read_only")

    @property
    def read_only(self) -> bool:
        """Whether the schema is newer, or the folder read-only."""
        return self._why is not None

    def refusal(self) -> StorageFailed | None:
        return None if self._why is None else _refusal(self._why)

    def write(
        self, *changes: StoreChange, size: int | None = None, synced: bool = True
    ) -> "asyncio.Future[None]":
        """Writes one unit, after earlier writes; `size`: bytes, if known.

        The future resolves once on the disk, or raises StorageFailed; cancelling stops nothing.
        `synced=False`: on the disk only with a later unit.
        """
        if self._writer is None:
            return self._refused()
        from sidecar.store.content.changes import apply_all, weight  # noqa: PLC0415 - as above

        self._overtake(changes)
        weighs = sum(map(weight, changes)) if size is None else size
        return self._submit(partial(apply_all, changes=changes), weighs, synced=synced)

    async def delete(self, session_id: SessionId) -> None:
        await self.write(DeleteSession(session_id))
        while not (await self.leaving.remove_some(session_id)).done:
            pass

    def save(self, *changes: PutPart) -> None:
        """Queues growing parts: only the newest is kept, and may be lost."""
        if self._writer is None:
            return
        from sidecar.store.content.changes import apply_all, weight  # noqa: PLC0415 - as above

        for change in changes:
            key = (change.session_id, change.part.id)
            self._writer.save(key, partial(apply_all, changes=(change,)), weight(change))

    async def verify(self) -> VerifyReport:
        from sidecar.store.repair.verification import verify  # noqa: PLC0415 - as above

        return await self._read(verify, anew=True)

    def size(self) -> int:
        return store_files.size(self._path)

    def waiting(self) -> int:
        """Writes not yet done; from any thread."""
        return 0 if self._writer is None else self._writer.depth()

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        # The last connection to close checkpoints the log; that must be the writer's.
        self._readers.close()
        if self._writer is not None:
            await self._writer.close()
        self._threads.shutdown(wait=False)

    def _overtake(self, changes: Sequence[StoreChange]) -> None:
        if self._writer is None:
            return
        deleted = {c.session_id for c in changes if isinstance(c, DeleteSession)}
        newer = {(c.session_id, c.part.id) for c in changes if isinstance(c, PutPart)}
        if deleted or newer:
            self._writer.forget(lambda key: key[0] in deleted or key in newer)

    def _submit(
        self,
        run: Callable[[sqlite3.Connection], T],
        size: int = 0,
        *,
        synced: bool = True,
        small: bool = False,
    ) -> "asyncio.Future[T]":
        if self._writer is None:
            return self._refused()
        return self._writer.submit(run, size, synced=synced, small=small)

    def _refused(self) -> "asyncio.Future[Any]":
        refused: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        refused.set_exception(_refusal(self._why or "read_only"))
        return refused

    async def _read(self, look: Callable[[sqlite3.Connection], T], *, anew: bool = False) -> T:
        # `anew`: over a new connection, so that no page cache hides the disk.
        if self._closed:
            raise StorageFailed(CLOSED, kind="io")
        # A lasting connection needs a `-shm` file, perhaps impossible in a read-only folder.
        keep = self._writer is not None and not anew
        read = self._readers.read if keep else partial(store_files.read, self._path)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, read, look)
        except FAULTS as error:
            if self._why == "newer_schema":
                raise _refusal(self._why) from error
            raise storage_failed(error, self._path) from error

    def _guard(self, con: sqlite3.Connection) -> None:
        # Writes to a deleted file would succeed, and be lost with the process.
        if store_files.identity(self._path) != self._identity:
            raise StorageFailed(GONE, kind="io")
        if version(con) > len(MIGRATIONS):
            self._why = "newer_schema"
            raise _refusal(self._why)


def _refusal(why: ReadOnly) -> StorageFailed:
    return StorageFailed(NEWER if why == "newer_schema" else READ_ONLY, kind=why)
