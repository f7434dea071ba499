"""Opens and stats resolved paths through no link.

Blocks. On Linux one `openat2`; otherwise folder by folder.
"""

import ctypes
import os
import struct
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from sidecar.workspace.unlinked_path import WAY, folder_of, open_in

# The same on every Linux machine, except a few without this call.
_OPENAT2 = ctypes.c_long(437)
_HERE = ctypes.c_int(-100)
_NO_SYMLINKS = 0x04
_HOW = struct.Struct("=QQQ")
"""Flags, mode of a new file, resolution flags."""
_SIZE = ctypes.c_size_t(_HOW.size)


def open_straight(real: bytes, flags: int) -> int:
    call = _syscall()
    if call is not None:
        # The audit event of `os.open`, for audit hooks.
        sys.audit("open", real, None, flags)
        descriptor = call(_OPENAT2, _HERE, real, _how(flags), _SIZE)
        if descriptor >= 0:
            return descriptor
    path = Path(os.fsdecode(real))
    with folder_of(path) as folder:
        return open_in(folder, path, flags)


def stat_straight(real: bytes) -> os.stat_result:
    """Stats a path, which may itself be a link; raises as `open_straight`."""
    outer, _, name = real.rpartition(b"/")
    folder = open_straight(outer or b"/", WAY)
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    finally:
        os.close(folder)


def link_straight(real: bytes) -> tuple[os.stat_result, bytes]:
    outer, _, name = real.rpartition(b"/")
    folder = open_straight(outer or b"/", WAY)
    try:
        target = os.readlink(name, dir_fd=folder)
        return os.stat(name, dir_fd=folder, follow_symlinks=False), target
    finally:
        os.close(folder)


@cache
def _syscall() -> Callable[[object, object, bytes, bytes, object], int] | None:
    if sys.platform != "linux":
        return None
    # Declared types would be checked at each call, doubling its time.
    found: Callable[[object, object, bytes, bytes, object], int] | None = getattr(
        ctypes.CDLL(None), "syscall", None
    )
    return found


@cache
def _how(flags: int) -> bytes:
    return _HOW.pack(flags, 0, _NO_SYMLINKS)
