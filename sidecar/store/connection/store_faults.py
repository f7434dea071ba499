"""Errors of SQLite and the file system, with advice."""

import errno
import os
import sqlite3
from pathlib import Path

from sidecar.core.errors import SidecarError, StorageFailed
from sidecar.store.format.fields import BodyBroken

FULL = (
    "The disk is full, so this was not stored. Free some space and try again; "
    "what was stored before is safe."
)
CORRUPT = (
    "The store is damaged ({detail}). Close all editors and run `sidecar verify --repair`: it "
    "keeps the damaged file aside and saves what is readable."
)
READ_ONLY = (
    "The store cannot be written: its folder or file is read-only. Make it writable for this "
    "user, or set SIDECAR_DATA_DIR to another folder."
)
LOCKED = (
    "Another program has held the store for too long, so this was not stored. Close "
    "whatever has the store's file open and try again."
)
ORPHAN = (
    "Not stored: it belongs to a session or message that is not in the store, perhaps because "
    "it was deleted. Open the session again."
)
GONE = (
    "The store's file is gone: it was deleted or replaced while the daemon had it open, so nothing "
    "can be stored or read. Put it back if you can, run `sidecar stop` and start the editor again; "
    "without it a new, empty store is begun."
)
FILES = (
    "The daemon has as many files open as it may, so the store cannot be read. Close some sessions "
    "or other programs, or allow more (`ulimit -n`), run `sidecar stop` and start the editor again."
)
OTHER = "The store could not do it ({detail}). Try again; if it persists, check the disk."

FAULTS = (sqlite3.Error, OSError, BodyBroken, UnicodeDecodeError)
"""Of reading a file. SQLite's messages may quote damage, in no valid UTF-8."""

_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)


def is_busy(error: Exception) -> bool:
    return isinstance(error, sqlite3.Error) and _primary_code(error) in _BUSY


def storage_failed(error: Exception, path: Path | None = None) -> SidecarError:
    """Gives an error as a SidecarError; `path`: of the store, if open before."""
    match error:
        case SidecarError():
            return error
        case sqlite3.Error():
            return _from_sqlite(error, path)
        case OSError():
            return _from_system(error)
        case BodyBroken() | UnicodeDecodeError():
            return StorageFailed(CORRUPT.format(detail=error), kind="corrupt")
        case _:
            # Values impossible to store, such as text that cannot be encoded.
            detail = f"{type(error).__name__}: {error}"
            return StorageFailed(OTHER.format(detail=detail), kind="io")


def _from_sqlite(error: sqlite3.Error, path: Path | None) -> StorageFailed:
    code = _primary_code(error)
    if code in _BUSY:
        return StorageFailed(LOCKED, kind="io")
    match code:
        case sqlite3.SQLITE_FULL:
            return StorageFailed(FULL, kind="full")
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return StorageFailed(CORRUPT.format(detail=error), kind="corrupt")
        case sqlite3.SQLITE_CANTOPEN:
            return _cannot_open(path)
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
            return StorageFailed(READ_ONLY, kind="read_only")
        case sqlite3.SQLITE_CONSTRAINT:
            return StorageFailed(ORPHAN, kind="io")
        case _:
            return StorageFailed(OTHER.format(detail=error), kind="io")


def _cannot_open(path: Path | None) -> StorageFailed:
    # SQLite does not say why, so try.
    if path is not None and not path.exists():
        return StorageFailed(GONE, kind="io")
    try:
        os.close(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))
    except OSError as error:
        return _from_system(error)
    return StorageFailed(READ_ONLY, kind="read_only")


def _from_system(error: OSError) -> StorageFailed:
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            return StorageFailed(FULL, kind="full")
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return StorageFailed(READ_ONLY, kind="read_only")
        case errno.EMFILE | errno.ENFILE:
            return StorageFailed(FILES, kind="io")
        case _:
            return StorageFailed(OTHER.format(detail=error), kind="io")


def _primary_code(error: sqlite3.Error) -> int:
    # Errors raised by the Python module itself carry no code.
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return code & 0xFF
