"""A watch by inotify, complete when its queue is empty.

Each folder is watched before listing, so no write escapes. New folders count as changed until the
next snapshot lists them.
"""

import ctypes
import errno
import os
import select
import struct
from contextlib import suppress
from pathlib import Path

from sidecar.workspace.snapshots.ignore import STAGING
from sidecar.workspace.snapshots.known_paths import join
from sidecar.workspace.snapshots.watch.watch import Mode, Noticed, WatchFailed

MODIFY, ATTRIB, CLOSE_WRITE = 0x2, 0x4, 0x8
MOVED_FROM, MOVED_TO, CREATE, DELETE = 0x40, 0x80, 0x100, 0x200
UNMOUNT, OVERFLOW, IGNORED, IS_FOLDER = 0x2000, 0x4000, 0x8000, 0x40000000
ONLY_FOLDERS, NO_FOLLOW = 0x01000000, 0x02000000
WANTED = (
    MODIFY | ATTRIB | CLOSE_WRITE | MOVED_FROM | MOVED_TO | CREATE | DELETE
    | ONLY_FOLDERS | NO_FOLLOW
)  # fmt: skip
BUFFER = 64 * 1024
_EVENT = struct.Struct("iIII")


class InotifyWatch:
    """Watches each folder; drained on one thread, extended on another."""

    mode: Mode = "inotify"

    def __init__(self, root: Path) -> None:
        self._root = os.fsencode(root)
        self._libc = ctypes.CDLL(None, use_errno=True)
        flags = os.O_NONBLOCK | os.O_CLOEXEC
        self.descriptor: int = self._libc.inotify_init1(flags)
        if self.descriptor < 0:
            raise WatchFailed(_reason(ctypes.get_errno()))
        # Asking costs a tenth of a read that finds nothing.
        self._poll = select.poll()
        self._poll.register(self.descriptor, select.POLLIN)
        self._paths: dict[int, bytes] = {}
        self._numbers: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def add(self, folder: bytes) -> None:
        path = self._root + b"/" + folder if folder else self._root
        number = self._libc.inotify_add_watch(self.descriptor, path, WANTED)
        if number < 0:
            code = ctypes.get_errno()
            if code in (errno.ENOSPC, errno.ENOMEM):
                raise WatchFailed(_reason(code))
            raise OSError(code, os.strerror(code), path)
        # A moved folder keeps its number, now with its new path.
        before = self._paths.get(number)
        if before is not None and before != folder and self._numbers.get(before) == number:
            del self._numbers[before]
        stale = self._numbers.get(folder)
        if stale is not None and stale != number:
            self._remove(stale)
        self._paths[number] = folder
        self._numbers[folder] = number

    def drop(self, folder: bytes) -> None:
        number = self._numbers.pop(folder, None)
        if number is not None:
            self._remove(number)

    def idle(self) -> bool:
        return not self._poll.poll(0)

    def drain(self, into: Noticed) -> bool:
        while self._poll.poll(0):
            self.read(into)
        return True

    def read(self, into: Noticed) -> None:
        with suppress(BlockingIOError):
            self._take(os.read(self.descriptor, BUFFER), into)

    def settle(self, into: Noticed) -> bool:
        return self.drain(into)

    def close(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    def _take(self, data: bytes, into: Noticed) -> None:
        at, end = 0, len(data)
        paths = self._paths
        while at < end:
            number, mask, _, length = _EVENT.unpack_from(data, at)
            at += 16
            name = data[at : at + length].rstrip(b"\0") if length else b""
            at += length
            if mask & (OVERFLOW | UNMOUNT):
                into.lose()
                continue
            if mask & IGNORED:
                self._forget(number)
                continue
            folder = paths.get(number)
            # A restore's staging folders are in no snapshot, so their events do not matter.
            if folder is None or name.startswith(STAGING):
                continue
            path = join(folder, name) if name else folder
            if mask & IS_FOLDER and not mask & ATTRIB:
                into.folders.add(path)
            elif path:
                into.add(path)

    def _forget(self, number: int) -> None:
        folder = self._paths.pop(number, None)
        if folder is not None and self._numbers.get(folder) == number:
            del self._numbers[folder]

    def _remove(self, number: int) -> None:
        self._paths.pop(number, None)
        with suppress(OSError):
            self._libc.inotify_rm_watch(self.descriptor, number)


def _reason(code: int) -> str:
    if code == errno.ENOSPC:
        return (
            "The system's limit of watched folders is reached. Raise "
            "fs.inotify.max_user_watches to have changes noticed by events."
        )
    if code == errno.EMFILE:
        return (
            "The system's limit of watches is reached. Raise fs.inotify.max_user_instances to "
            "have changes noticed by events."
        )
    return f"The system gives no events: {os.strerror(code)}."
