"""How long one waits for the disk: the time in `fsync`, and in the commits of SQLite."""

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")


class Syncs:
    """Counts the time in which somebody waits; several at once count once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting = 0
        self._since = 0.0
        self._seconds = 0.0

    @property
    def ms(self) -> float:
        """Milliseconds until now."""
        return self._seconds * 1000

    def during(self, work: Callable[[], T]) -> T:
        """Do what waits for the disk."""
        with self._lock:
            if self._waiting == 0:
                self._since = time.perf_counter()
            self._waiting += 1
        try:
            return work()
        finally:
            with self._lock:
                self._waiting -= 1
                if self._waiting == 0:
                    self._seconds += time.perf_counter() - self._since


@contextmanager
def timed_syncs() -> Iterator[Syncs]:
    """Time them; of SQLite those connections that are made meanwhile."""
    syncs, fsync, connect = Syncs(), os.fsync, sqlite3.connect

    class Timed(sqlite3.Connection):
        def execute(self, sql: str, *given: Any) -> sqlite3.Cursor:
            run = partial(super().execute, sql, *given)
            return syncs.during(run) if sql == "COMMIT" else run()

    os.fsync = lambda fd: syncs.during(partial(fsync, fd))
    sqlite3.connect = partial(connect, factory=Timed)  # type: ignore[assignment]
    try:
        yield syncs
    finally:
        os.fsync, sqlite3.connect = fsync, connect
