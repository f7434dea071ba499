"""The writer: one thread with the write connection and a bounded queue.

Waiting units share a transaction; savepoints let a bad unit fail alone.
"""

import asyncio
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TypeAlias, TypeVar

from sidecar.core.dataclass import dataclass
from sidecar.core.errors import SidecarError, StorageFailed
from sidecar.store.connection.store_access import Run
from sidecar.store.connection.store_faults import FAULTS, is_busy, storage_failed
from sidecar.store.connection.store_files import patiently

QUEUE_BYTES = 128 * 1024 * 1024
"""Waiting bytes. Callers await their writes: only a stalled disk fills the queue."""
CHECKPOINT_PAGES = 400
"""Of SQLite's log before a checkpoint: 1.6 MB, as the log keeps its length while one works."""
LOG_BYTES = CHECKPOINT_PAGES * 4096
"""To which the log is cut back after a unit that was larger."""
OVERLOADED = (
    "The store is overloaded: too much waits for the disk already. Wait a moment and try again."
)
CLOSED = "The store is closed, because the daemon is stopping. Start it again."

T = TypeVar("T")
Settle: TypeAlias = Callable[[], None]
UnitKey: TypeAlias = tuple[str, str]
"""A session, and something in that session."""


@dataclass(frozen=True, slots=True)
class WriteUnit:
    """All-or-nothing work; `run` returns a callback for after the commit.

    Unless `synced`, durable only with the next synced commit.
    """

    run: Run[Settle]
    fail: Callable[[SidecarError], None]
    loop: asyncio.AbstractEventLoop
    weight: int
    synced: bool


@dataclass(frozen=True, slots=True)
class Save:
    """A write that nobody awaits; a newer one of its key replaces it."""

    run: Run[None]
    weight: int


@dataclass(frozen=True, slots=True)
class UnitOutcome:
    """A unit's callback and event loop."""

    loop: asyncio.AbstractEventLoop
    settle: Settle


class StoreWriter:
    """Writes units in order; `guard` runs first in each transaction; may raise StorageFailed."""

    def __init__(self, con: sqlite3.Connection, guard: Run[None]) -> None:
        # Only `patiently` waits for locks, in the thread alone.
        con.execute("PRAGMA busy_timeout = 0")
        con.execute(f"PRAGMA journal_size_limit = {LOG_BYTES}")
        con.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
        self._con = con
        self._guard = guard
        self._syncing = True
        self._checkpoints = True
        self._changed = threading.Condition()
        self._units: deque[WriteUnit] = deque()
        self._saves: dict[UnitKey, Save] = {}
        self._waiting_bytes = 0
        self._writing = False
        """Whether the thread or an event loop uses the connection."""
        self._closing = False
        self._closers: list[UnitOutcome] = []
        self._ended = False
        threading.Thread(target=self._work, name="store-write", daemon=True).start()

    def submit(
        self, run: Run[T], weight: int = 0, *, synced: bool = True, small: bool = False
    ) -> "asyncio.Future[T]":
        """Queues a unit of about `weight` bytes; call on an event loop.

        The future gets the result after the commit, or StorageFailed; cancelling stops nothing.
        `synced=False`: durable only with a later synced unit. `small`: committed at once if the
        writer is idle.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def attempt(con: sqlite3.Connection) -> Settle:
            value = run(con)
            return lambda: None if future.done() else future.set_result(value)

        def fail(error: SidecarError) -> None:
            if not future.done():
                future.set_exception(error)

        unit = WriteUnit(attempt, fail, loop, weight, synced)
        with self._changed:
            refusal = self._refusal(weight)
            here = small and not synced and refusal is None and self._is_idle()
            if here:
                self._writing = True
            elif refusal is None:
                self._queue(unit)
        if refusal is not None:
            future.set_exception(refusal)
        elif here:
            self._write_here(unit)
        return future

    def save(self, key: UnitKey, run: Run[None], weight: int = 0) -> None:
        """Queues a write that may be lost, replacing an older one of its key."""
        with self._changed:
            self._forget(key)
            if self._refusal(weight) is None:
                self._saves[key] = Save(run, weight)
                self._waiting_bytes += weight
                self._changed.notify()

    def forget(self, unwanted: Callable[[UnitKey], bool]) -> None:
        with self._changed:
            for key in list(filter(unwanted, self._saves)):
                self._forget(key)

    def depth(self) -> int:
        """Waiting units and saves; from any thread."""
        return len(self._units) + len(self._saves)

    def close(self) -> "asyncio.Future[None]":
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        closed = UnitOutcome(loop, lambda: None if future.done() else future.set_result(None))
        with self._changed:
            self._closing = True
            self._closers.append(closed)
            ended = self._ended
            self._changed.notify()
        if ended:
            closed.settle()
        return future

    def _refusal(self, weight: int) -> StorageFailed | None:
        if self._closing:
            return StorageFailed(CLOSED, kind="io")
        if self._waiting_bytes and self._waiting_bytes + weight > QUEUE_BYTES:
            return StorageFailed(OVERLOADED, kind="io")
        return None

    def _queue(self, unit: WriteUnit) -> None:
        self._units.append(unit)
        self._waiting_bytes += unit.weight
        self._changed.notify()

    def _is_idle(self) -> bool:
        return not (self._writing or self._units or self._saves)

    def _write_here(self, unit: WriteUnit) -> None:
        outcomes: list[UnitOutcome] = []
        begun = False
        try:
            # Another process writes, or worse: leave the wait or the error to the thread.
            with suppress(sqlite3.Error):
                self._begin(synced=False, here=True)
            begun = self._con.in_transaction
            if begun:
                outcomes = self._commit([unit], [], begun=True)
        finally:
            # Any interruption leaves the connection without a transaction.
            self._roll_back()
            with self._changed:
                self._writing = False
                if not begun:
                    self._queue(unit)
                elif self._units or self._saves or self._closing:
                    self._changed.notify()
        for outcome in outcomes:
            outcome.settle()

    def _roll_back(self) -> None:
        if self._con.in_transaction:
            with suppress(sqlite3.Error, MemoryError):
                self._con.execute("ROLLBACK")

    def _forget(self, key: UnitKey) -> None:
        save = self._saves.pop(key, None)
        if save is not None:
            self._waiting_bytes -= save.weight

    def _work(self) -> None:
        while (taken := self._take()) is not None:
            outcomes = self._commit(*taken)
            with self._changed:
                self._writing = False
            _settle_all(outcomes)
        self._con.close()
        with self._changed:
            self._ended = True
            closers = tuple(self._closers)
        _settle_all(closers)

    def _take(self) -> tuple[list[WriteUnit], list[Save]] | None:
        with self._changed:
            self._changed.wait_for(
                lambda: not self._writing and (self._units or self._saves or self._closing)
            )
            if not self._units and not self._saves:
                return None
            taken = list(self._units), list(self._saves.values())
            self._units.clear()
            self._saves.clear()
            self._waiting_bytes = 0
            self._writing = True
            return taken

    def _commit(
        self, units: list[WriteUnit], saves: list[Save], *, begun: bool = False
    ) -> list[UnitOutcome]:
        try:
            if not begun:
                synced = bool(saves) or any(unit.synced for unit in units)
                patiently(lambda: self._begin(synced=synced))
            return self._transact(units, saves)
        except (*FAULTS, MemoryError, SidecarError, _GivenUp) as error:
            self._roll_back()
            hopeless = isinstance(error, SidecarError) or is_busy(error)
            if hopeless or len(units) + len(saves) == 1:
                return [_failed(unit, error) for unit in units]
        # One unit ended the whole transaction: now each in its own.
        outcomes = [outcome for unit in units for outcome in self._commit([unit], [])]
        for save in saves:
            self._commit([], [save])
        return outcomes

    def _begin(self, *, synced: bool, here: bool = False) -> None:
        # `here`: on an event loop, where checkpoints are left to the thread.
        con = self._con
        # A sync covers all earlier commits.
        if synced != self._syncing:
            con.execute(f"PRAGMA synchronous = {'FULL' if synced else 'NORMAL'}")
            self._syncing = synced
        if here == self._checkpoints:
            con.execute(f"PRAGMA wal_autocheckpoint = {0 if here else CHECKPOINT_PAGES}")
            self._checkpoints = not here
        con.execute("BEGIN IMMEDIATE")

    def _transact(self, units: list[WriteUnit], saves: list[Save]) -> list[UnitOutcome]:
        con = self._con
        self._guard(con)
        if len(units) == 1 and not saves:
            # No savepoint: SQLite would copy each changed page, many into a file.
            done = _run(con, units[0].run, "ROLLBACK")
            if not isinstance(done, Exception):
                con.execute("COMMIT")
            return [_ended(units[0], done)]
        outcomes = [_ended(unit, _in_savepoint(con, unit.run)) for unit in units]
        for save in saves:
            # A failed save is lost until the next; nobody was promised one.
            _in_savepoint(con, save.run)
        con.execute("COMMIT")
        return outcomes


class _GivenUp(Exception):
    """A unit's error made SQLite end the transaction."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error


def _in_savepoint(con: sqlite3.Connection, run: Run[T]) -> T | Exception:
    con.execute("SAVEPOINT unit")
    done = _run(con, run, "ROLLBACK TO unit")
    con.execute("RELEASE unit")
    return done


def _run(con: sqlite3.Connection, run: Run[T], undo: str) -> T | Exception:
    """Undoes and returns a unit's error; raises if the transaction ended."""
    try:
        return run(con)
    except Exception as error:
        if con.in_transaction:
            con.execute(undo)
            return error
        if isinstance(error, (*FAULTS, MemoryError, SidecarError)):
            raise
        raise _GivenUp(error) from error


def _ended(unit: WriteUnit, done: Settle | Exception) -> UnitOutcome:
    return _failed(unit, done) if isinstance(done, Exception) else UnitOutcome(unit.loop, done)


def _failed(unit: WriteUnit, error: Exception) -> UnitOutcome:
    failure = storage_failed(error.error if isinstance(error, _GivenUp) else error)
    return UnitOutcome(unit.loop, lambda: unit.fail(failure))


def _settle_all(outcomes: Iterable[UnitOutcome]) -> None:
    by_loop: dict[asyncio.AbstractEventLoop, list[Settle]] = {}
    for outcome in outcomes:
        by_loop.setdefault(outcome.loop, []).append(outcome.settle)
    for loop, settles in by_loop.items():
        try:
            loop.call_soon_threadsafe(_call_all, settles)
        except RuntimeError:
            # The event loop is closed, so nobody waits.
            continue


def _call_all(settles: list[Settle]) -> None:
    for settle in settles:
        settle()
