"""A daemon that writes down what it asks of the disk, and what it tells, in the order of both.

As a program: `python recording.py LOG`. It puts itself between SQLite and the system's calls, as
a VFS of its own around the usual one, and is the whole daemon otherwise. LOG gets a pickled
tuple for each write, truncation, sync and deletion of a file, and for all that goes to stdout.
"""

import ctypes
import os
import pickle
import sys
import threading
from collections.abc import Iterator
from ctypes import CFUNCTYPE, c_int, c_int64, c_void_p
from pathlib import Path
from typing import Any, TypeAlias

Operation: TypeAlias = tuple[str, str, int, bytes]
"""What (`write`, `truncate`, `sync`, `delete`, `told`), of which file, where, and with what."""

OPEN = CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_int, c_void_p)
DELETE = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int)
WRITE = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int, c_int64)
TRUNCATE = CFUNCTYPE(c_int, c_void_p, c_int64)
SYNC = CFUNCTYPE(c_int, c_void_p, c_int)

VFS_SIZE = 16 + 3 * 8 + 16 * 8
VFS_NEXT, VFS_NAME, VFS_OPEN, VFS_DELETE = 16, 24, 40, 48
"""Where these stand in `sqlite3_vfs`, on systems with pointers of 8 bytes."""
METHODS_SIZE = 8 + 18 * 8
AT_WRITE, AT_TRUNCATE, AT_SYNC = 8 + 2 * 8, 8 + 3 * 8, 8 + 4 * 8
"""Where these stand in `sqlite3_io_methods`."""


class Log:
    """Writes operations down, one after the other."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("ab", buffering=0)
        self._lock = threading.Lock()

    def add(self, what: str, name: str, at: int = 0, data: bytes = b"") -> None:
        with self._lock:
            self._file.write(pickle.dumps((what, name, at, data)))


def read(path: Path) -> Iterator[Operation]:
    """Give what was written down."""
    with path.open("rb") as file:
        while True:
            try:
                yield pickle.load(file)
            except EOFError:
                return


def libsqlite() -> Any | None:
    """Give the SQLite that Python uses, where its functions can be reached."""
    import _sqlite3

    try:
        found = ctypes.CDLL(getattr(_sqlite3, "__file__", None))
        found.sqlite3_vfs_find.restype = c_void_p
    except (OSError, AttributeError):
        return None
    return found


def base_name(address: int) -> str:
    """Read a file's name. SQLite reads on behind it, so it is handed on as the address it is."""
    return os.path.basename(os.fsdecode(ctypes.string_at(address)))


def _pointer(address: int) -> int:
    return c_void_p.from_address(address).value or 0


def install(sqlite: Any, log: Log) -> list[Any]:
    """Make the recording VFS the default; what it gives must be kept as long as it is used."""
    usual = sqlite.sqlite3_vfs_find(None)
    mine = ctypes.create_string_buffer(ctypes.string_at(usual, VFS_SIZE), VFS_SIZE)
    base = ctypes.addressof(mine)
    open_file, delete_file = OPEN(_pointer(usual + VFS_OPEN)), DELETE(_pointer(usual + VFS_DELETE))
    names: dict[int, str] = {}
    kept: list[Any] = [mine]
    wrapped: dict[int, int] = {}

    def wrap(original: int) -> int:
        """Give methods like these that write down what they do."""
        table = ctypes.create_string_buffer(ctypes.string_at(original, METHODS_SIZE), METHODS_SIZE)
        address = ctypes.addressof(table)
        write, truncate = (
            WRITE(_pointer(original + AT_WRITE)),
            TRUNCATE(_pointer(original + AT_TRUNCATE)),
        )
        sync = SYNC(_pointer(original + AT_SYNC))

        def on_write(file: int, data: int, size: int, at: int) -> int:
            log.add("write", names[file], at, ctypes.string_at(data, size))
            return write(file, data, size, at)

        def on_truncate(file: int, size: int) -> int:
            log.add("truncate", names[file], size)
            return truncate(file, size)

        def on_sync(file: int, flags: int) -> int:
            done = sync(file, flags)
            log.add("sync", names[file])
            return done

        for at, made in (
            (AT_WRITE, WRITE(on_write)),
            (AT_TRUNCATE, TRUNCATE(on_truncate)),
            (AT_SYNC, SYNC(on_sync)),
        ):
            kept.append(made)
            c_void_p.from_address(address + at).value = ctypes.cast(made, c_void_p).value
        kept.append(table)
        return address

    def on_open(vfs: int, name: int | None, file: int, flags: int, out: int | None) -> int:
        done = open_file(vfs, name, file, flags, out)
        if done == 0 and name is not None:
            names[file] = base_name(name)
            original = _pointer(file)
            if original not in wrapped:
                wrapped[original] = wrap(original)
            c_void_p.from_address(file).value = wrapped[original]
        return done

    def on_delete(vfs: int, name: int, durable: int) -> int:
        log.add("delete", base_name(name))
        return delete_file(vfs, name, durable)

    title = ctypes.create_string_buffer(b"recording")
    opener, deleter = OPEN(on_open), DELETE(on_delete)
    kept += [title, opener, deleter]
    c_void_p.from_address(base + VFS_NEXT).value = None
    c_void_p.from_address(base + VFS_NAME).value = ctypes.addressof(title)
    c_void_p.from_address(base + VFS_OPEN).value = ctypes.cast(opener, c_void_p).value
    c_void_p.from_address(base + VFS_DELETE).value = ctypes.cast(deleter, c_void_p).value
    assert sqlite.sqlite3_vfs_register(c_void_p(base), 1) == 0
    return kept


def main(path: Path) -> None:
    """Be a daemon that is recorded."""
    from sidecar.daemon import serving
    from sidecar.wire import streams

    log = Log(path)
    sqlite = libsqlite()
    assert sqlite is not None
    kept = install(sqlite, log)
    write = os.write

    class Told:
        """`os`, but that what goes out is written down first."""

        def __getattr__(self, name: str) -> Any:
            return getattr(os, name)

        def write(self, descriptor: int, data: bytes) -> int:
            log.add("told", "", 0, bytes(data))
            return write(descriptor, data)

    streams.os = Told()  # type: ignore[assignment]
    assert kept
    serving.serve_stdio()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
