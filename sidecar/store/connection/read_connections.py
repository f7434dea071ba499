"""Keeps idle read connections: opening one takes longer than most reads."""

import sqlite3
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeAlias, TypeVar

from sidecar.store.connection import store_files

T = TypeVar("T")
_Kept: TypeAlias = tuple[tuple[int, int] | None, sqlite3.Connection]
"""A connection, and the file's identity when opened."""


class Readers:
    """Read connections, for any thread."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._idle: list[_Kept] = []
        self._closed = False

    def read(self, look: Callable[[sqlite3.Connection], T]) -> T:
        return store_files.patiently(partial(self._once, look))

    def close(self) -> None:
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for _, con in idle:
            con.close()

    def _once(self, look: Callable[[sqlite3.Connection], T]) -> T:
        kept = self._take()
        con = kept[1]
        try:
            con.execute("BEGIN")
            found = look(con)
            con.execute("ROLLBACK")
        except BaseException:
            con.close()
            raise
        with self._lock:
            if not self._closed:
                self._idle.append(kept)
                return found
        con.close()
        return found

    def _take(self) -> _Kept:
        here = store_files.identity(self._path)
        with self._lock:
            kept = self._idle.pop() if self._idle else None
        if kept is not None:
            # The file may have been replaced or deleted.
            if here is not None and kept[0] == here:
                return kept
            kept[1].close()
        return here, store_files.open_lasting_reader(self._path)
