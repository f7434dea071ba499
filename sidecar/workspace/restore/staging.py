"""Writes durably into staging folders. Blocks."""

import ctypes
import os
import stat
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache

from sidecar.core.text.digest import digest
from sidecar.store.content.restores import FileMark
from sidecar.workspace.restore.expectations import mark_of
from sidecar.workspace.restore.layout import OPEN, Put
from sidecar.workspace.restore.moves import At
from sidecar.workspace.restore.places import Blocked, folder, root_folder, sync

BATCH_FILES = 128
BATCH_BYTES = 8 * 1024 * 1024
"""Limits of a batch, synced together, with all files open."""
IGNORE_ALL = b"*\n"
EMPTY = digest(b"")
"""Known content, never requested from the store."""

_WHOLE = ctypes.c_int64(0)
_BEGIN = 2
"""`SYNC_FILE_RANGE_WRITE`: no more than to begin."""
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)


def new_name(number: int) -> bytes:
    return b"%d.new" % number


def old_name(number: int) -> bytes:
    return b"%d.old" % number


def make_stages(root: bytes, stages: Sequence[bytes]) -> None:
    """Makes folders relative to `root`; raises OSError, also for an existing one.

    The `.gitignore` in each keeps `git clean` and `git add` away.
    """
    with root_folder(root) as top:
        for stage in stages:
            outer, _, name = stage.rpartition(b"/")
            with folder(top, outer) as at:
                os.mkdir(name, 0o700, dir_fd=at)
            with folder(top, stage) as at:
                descriptor = os.open(b".gitignore", _NEW, 0o600, dir_fd=at)
                with open(descriptor, "wb") as file:
                    file.write(IGNORE_ALL)


def batches(puts: Sequence[Put]) -> Iterator[list[Put]]:
    """Yields up to `BATCH_FILES` or about `BATCH_BYTES` at once."""
    batch: list[Put] = []
    size = 0
    for put in puts:
        if put.entry is None:
            continue
        batch.append(put)
        size += put.entry.size
        if len(batch) >= BATCH_FILES or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def write_batch(
    root: bytes, stages: Sequence[bytes], batch: Sequence[Put], contents: Mapping[str, bytes]
) -> dict[int, FileMark]:
    marks: dict[int, FileMark] = {}
    opened: list[int] = []
    with root_folder(root) as top:
        try:
            for put in batch:
                assert put.entry is not None
                with folder(top, stages[put.stage]) as at:
                    place = At(at, new_name(put.number))
                    if put.entry.is_folder:
                        marks[put.number] = _make_folder(place, put)
                    elif put.entry.kind == "link":
                        os.symlink(_content(put, contents), place.name, dir_fd=at)
                        marks[put.number] = _mark(place, put.entry.hash)
                    else:
                        data = _content(put, contents)
                        opened.append(_write(top, place, put, data))
                        name = digest(data) if put.entry.hash == "" else put.entry.hash
                        marks[put.number] = mark_of(os.fstat(opened[-1]), name)
            # Each sync of a file whose writing has not begun would be a commit of the disk's.
            if len(opened) > 1:
                _begin_writing(opened)
            for descriptor in opened:
                os.fsync(descriptor)
        finally:
            for descriptor in opened:
                os.close(descriptor)
    return marks


def sync_stages(root: bytes, stages: Sequence[bytes]) -> None:
    with root_folder(root) as top:
        for stage in stages:
            sync(top, stage)
            sync(top, stage.rpartition(b"/")[0])


def remove_stages(root: bytes, stages: Sequence[bytes]) -> None:
    """With contents; raises OSError."""
    with root_folder(root) as top:
        for stage in stages:
            outer, _, name = stage.rpartition(b"/")
            with suppress(Blocked), folder(top, stage) as at:
                _empty(at)
            with suppress(Blocked, FileNotFoundError), folder(top, outer) as at:
                os.rmdir(name, dir_fd=at)


def _empty(at: int) -> None:
    descriptor = os.open(b".", os.O_RDONLY | os.O_CLOEXEC, dir_fd=at)
    try:
        with os.scandir(descriptor) as listing:
            found = [(os.fsencode(e.name), e.is_dir(follow_symlinks=False)) for e in listing]
    finally:
        os.close(descriptor)
    for name, is_folder in found:
        if is_folder:
            os.rmdir(name, dir_fd=at)
        else:
            os.unlink(name, dir_fd=at)


def _content(put: Put, contents: Mapping[str, bytes]) -> bytes:
    assert put.entry is not None
    if put.action is not None and put.action.content is not None:
        return put.action.content
    return b"" if put.entry.hash == EMPTY else contents[put.entry.hash]


def _begin_writing(opened: Sequence[int]) -> None:
    call = _sync_file_range()
    if call is not None:
        for descriptor in opened:
            # A failure here recurs when syncing.
            call(descriptor, _WHOLE, _WHOLE, _BEGIN)


@cache
def _sync_file_range() -> Callable[[int, ctypes.c_int64, ctypes.c_int64, int], int] | None:
    if sys.platform != "linux":
        return None
    found: Callable[[int, ctypes.c_int64, ctypes.c_int64, int], int] | None = getattr(
        ctypes.CDLL(None), "sync_file_range", None
    )
    return found


def _make_folder(place: At, put: Put) -> FileMark:
    assert put.entry is not None
    os.mkdir(place.name, 0o777, dir_fd=place.folder)
    if put.action is not None:
        # Not through a link: this folder is ours and was made just now.
        os.chmod(place.name, stat.S_IMODE(put.entry.mode) | OPEN, dir_fd=place.folder)
    return _mark(place, "")


def _write(top: int, place: At, put: Put, data: bytes) -> int:
    assert put.entry is not None
    descriptor = os.open(place.name, _NEW, 0o600, dir_fd=place.folder)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        if put.old is not None:
            _keep_owner(top, put.path, descriptor)
        # After the owner, because a change of that takes away special bits.
        os.fchmod(descriptor, stat.S_IMODE(put.entry.mode))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _keep_owner(top: int, path: bytes, descriptor: int) -> None:
    outer, _, name = path.rpartition(b"/")
    with suppress(OSError, Blocked), folder(top, outer) as at:
        before = os.stat(name, dir_fd=at, follow_symlinks=False)
        now = os.fstat(descriptor)
        if (before.st_uid, before.st_gid) != (now.st_uid, now.st_gid):
            os.fchown(descriptor, before.st_uid, before.st_gid)


def _mark(place: At, name: str) -> FileMark:
    return mark_of(os.stat(place.name, dir_fd=place.folder, follow_symlinks=False), name)
