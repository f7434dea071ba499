"""The store's folder and file."""

import os
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

from sidecar.core.errors import StorageFailed
from sidecar.store.connection.store_faults import is_busy
from sidecar.store.format.migrations import version

NAME = "store.db"
SUFFIXES = ("", "-wal", "-shm")
ARCHIVE, EXPORTS, MILESTONES = "archive", "exports", "checkpoints"
"""Folders of archived and exported sessions, and of ledgers, in the data folder."""
REPORTS = "reports"
"""Folder of reports in the data folder: `{id}.html`."""
ASIDE = "damaged"
"""Folder of damaged stores, a folder each, by time in ms since 1970."""
SYNC = "sync"
"""Folder of what sessions on git remotes need: a bare repository, and what was agreed to."""
SYNC_COPIES = ("sessions.git", "heads.git")
"""Folders there with copies of refs, which can be had again."""
REMOVED = "removed"
"""Folder there with the names of sessions deleted or archived here, whose refs are to go."""
SERVERS = "servers"
"""Folder where MCP servers start without a trusted workspace."""
OURS = (
    NAME, "trusted-workspaces.json", MILESTONES, EXPORTS, ARCHIVE, REPORTS, "cookies",
    "audit", "quarantine", ASIDE, SERVERS, SYNC,
)  # fmt: skip
"""Names of Sidecar's own files, or beginnings of them."""
FOLDER_MODE = 0o700
FILE_MODE = 0o600
BUSY_SECONDS = 30.0
"""A commit locks for milliseconds: dozens of processes get their turn."""
RETRY_SECONDS = 0.02
CACHE_KIB = 512
"""Pages held by each connection; by default it would be 2,000, of which a session reads few again.
The system has them all."""
_CHEAP_OVERWRITING = "PRAGMA secure_delete = FAST"
"""Overwrites removed rows in pages written anyway."""

T = TypeVar("T")


def prepare(folder: Path) -> Path:
    """Makes folder and file for this user alone; returns the path.

    Raises OSError.
    """
    make_folder(folder)
    path = folder / NAME
    _close(folder)
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE)
    except FileExistsError:
        _tighten(path)
        return path
    os.close(handle)
    path.chmod(FILE_MODE)
    sync_folder(folder)
    return path


def writable(path: Path) -> bool:
    return os.access(path.parent, os.W_OK | os.X_OK) and os.access(path, os.R_OK | os.W_OK)


def open_writer(path: Path) -> sqlite3.Connection:
    """Opens a connection in WAL mode that syncs every commit."""
    con = _connect(f"{path.absolute().as_uri()}?mode=rw")
    try:
        if con.execute("PRAGMA page_count").fetchone() == (0,):
            # Only an empty file takes this setting; a file that has it would be written to.
            con.execute("PRAGMA auto_vacuum = INCREMENTAL")
        # A change of mode does not wait for other connections.
        (mode,) = patiently(lambda: con.execute("PRAGMA journal_mode = WAL").fetchone())
        _require_wal(mode)
        con.execute("PRAGMA synchronous = FULL")
        con.execute("PRAGMA foreign_keys = ON")
        con.execute(_CHEAP_OVERWRITING)
    except BaseException:
        con.close()
        raise
    return con


@contextmanager
def overwriting(con: sqlite3.Connection) -> Iterator[None]:
    con.execute("PRAGMA secure_delete = ON")
    try:
        yield
    finally:
        con.execute(_CHEAP_OVERWRITING)


def open_reader(path: Path) -> sqlite3.Connection:
    try:
        return open_lasting_reader(path)
    except sqlite3.OperationalError as error:
        wal = path.with_name(path.name + "-wal")
        unreachable = error.sqlite_errorcode & 0xFF in (
            sqlite3.SQLITE_CANTOPEN,
            sqlite3.SQLITE_READONLY,
        )
        if not unreachable or (wal.exists() and wal.stat().st_size > 0):
            raise
        # A read-only folder has no room for `-shm`; without a log none is needed.
        return _connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1")


def open_lasting_reader(path: Path) -> sqlite3.Connection:
    """Opens a connection for many reads, each of the newest commit."""
    con = _connect(f"{path.absolute().as_uri()}?mode=ro")
    try:
        version(con)
    except BaseException:
        con.close()
        raise
    return con


def read(path: Path, look: Callable[[sqlite3.Connection], T]) -> T:
    def once() -> T:
        with closing(open_reader(path)) as con:
            con.execute("BEGIN")
            return look(con)

    return patiently(once)


def patiently(act: Callable[[], T]) -> T:
    """Calls `act` again while the file is locked, for `BUSY_SECONDS`.

    SQLite's own wait fails while another process opens or closes the file.
    """
    give_up = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            return act()
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() >= give_up:
                raise
        time.sleep(RETRY_SECONDS)


def roll_back(path: Path) -> bool:
    """Undoes a file's creation that a power cut stopped; returns whether needed.

    Before WAL mode a file has a rollback journal, which readers cannot use.
    """
    if not path.with_name(f"{path.name}-journal").exists() or not writable(path):
        return False
    with closing(_connect(f"{path.absolute().as_uri()}?mode=rw")) as con:
        version(con)
    return True


def identity(path: Path) -> tuple[int, int] | None:
    """Gives device and inode; `None` without a file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def size(path: Path) -> int:
    total = 0
    for suffix in SUFFIXES:
        try:
            total += path.with_name(path.name + suffix).stat().st_size
        except FileNotFoundError:
            continue
    return total


def _connect(uri: str) -> sqlite3.Connection:
    # Sidecar begins transactions itself; a connection is made in one thread and used in another.
    con = sqlite3.connect(
        uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    try:
        con.execute(f"PRAGMA cache_size = {-CACHE_KIB}")
    except sqlite3.Error:
        # A damaged file, which this reads.
        con.close()
        raise
    return con


def _require_wal(mode: str) -> None:
    if mode != "wal":
        raise StorageFailed(
            "The store's file system cannot share memory between processes, which SQLite's log "
            "needs. Set SIDECAR_DATA_DIR to a folder on a local disk.",
            kind="io",
        )


def make_folder(folder: Path) -> None:
    """For this user alone; raises OSError."""
    if folder.is_dir():
        return
    if not folder.parent.is_dir():
        make_folder(folder.parent)
    try:
        folder.mkdir(FOLDER_MODE)
    except FileExistsError:
        if not folder.is_dir():
            raise
    else:
        folder.chmod(FOLDER_MODE)


def _close(folder: Path) -> None:
    # The user may have named a shared folder, such as /tmp: there only files become private.
    found = folder.stat()
    ours = hasattr(os, "geteuid") and found.st_uid == os.geteuid()
    if not ours or not found.st_mode & 0o077 or found.st_mode & stat.S_ISVTX:
        return
    if all(child.name.startswith(OURS) for child in folder.iterdir()):
        folder.chmod(FOLDER_MODE)


def _tighten(path: Path) -> None:
    for suffix in SUFFIXES:
        file = path.with_name(path.name + suffix)
        if file.exists() and file.stat().st_mode & 0o077 and os.access(file, os.W_OK):
            file.chmod(FILE_MODE)


def sync_folder(folder: Path) -> None:
    """Makes names durable; raises OSError."""
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
