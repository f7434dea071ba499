"""Opens and looks at resolved paths through no link at all. Blocks.

Linux does that in one call, `openat2`, which costs no more than `open`. Whatever that call refuses,
and every path where there is none, goes folder by folder (`ways`), which says what is wrong.
"""

import ctypes
import os
import struct
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from sidecar.workspace.unlinked_path import WAY, folder_of, open_in

# The same on every machine that Linux runs on, but for some that know no call by it.
_OPENAT2 = ctypes.c_long(437)
_HERE = ctypes.c_int(-100)
_NO_SYMLINKS = 0x04
_HOW = struct.Struct("=QQQ")
"""Flags, the mode of what is made, how the way is gone."""
_SIZE = ctypes.c_size_t(_HOW.size)


def open_straight(real: bytes, flags: int) -> int:
    """Open what is there by a resolved path; gives a descriptor.

    Raises:
        Moved: where something on the way, or what it leads to, is a link by now.
        OSError: where it cannot be opened.
    """
    call = _syscall()
    if call is not None:
        # As `os.open` says it, for those who listen.
        sys.audit("open", real, None, flags)
        descriptor = call(_OPENAT2, _HERE, real, _how(flags), _SIZE)
        if descriptor >= 0:
            return descriptor
    path = Path(os.fsdecode(real))
    with folder_of(path) as folder:
        return open_in(folder, path, flags)


def stat_straight(real: bytes) -> os.stat_result:
    """Look at what is there by a resolved path, which may be a link itself; raises as opening."""
    outer, _, name = real.rpartition(b"/")
    folder = open_straight(outer or b"/", WAY)
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    finally:
        os.close(folder)


def link_straight(real: bytes) -> tuple[os.stat_result, bytes]:
    """Give a link's target with the stat that it has afterwards; raises as opening."""
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
    # Types that are declared would be checked at each call, which takes as long as the rest of it.
    found: Callable[[object, object, bytes, bytes, object], int] | None = getattr(
        ctypes.CDLL(None), "syscall", None
    )
    return found


@cache
def _how(flags: int) -> bytes:
    return _HOW.pack(flags, 0, _NO_SYMLINKS)
