"""Moves that never overwrite: to a free name, or an exchange."""

import ctypes
import errno
import os
import sys
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

_NO_REPLACE, _EXCHANGE = 1, 2
UNABLE = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM)
"""Errors of systems without such moves."""


class At(NamedTuple):
    """A name in an open folder."""

    folder: int
    name: bytes


def move(source: At, target: At) -> None:
    """Raises FileExistsError, or another OSError."""
    if _renamed(source, target, _NO_REPLACE):
        return
    try:
        os.stat(target.name, dir_fd=target.folder, follow_symlinks=False)
    except FileNotFoundError:
        os.rename(source.name, target.name, src_dir_fd=source.folder, dst_dir_fd=target.folder)
    else:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target.name)


def exchange(one: At, other: At) -> bool:
    """Exchanges existing entries at once; returns `False` where unsupported."""
    return _renamed(one, other, _EXCHANGE)


def _renamed(source: At, target: At, flags: int) -> bool:
    call = _renameat2()
    if call is None:
        return False
    # The audit event of `os.rename`, for audit hooks.
    sys.audit("os.rename", source.name, target.name, source.folder, target.folder)
    if call(source.folder, source.name, target.folder, target.name, flags) == 0:
        return True
    code = ctypes.get_errno()
    if code in UNABLE:
        return False
    raise OSError(code, os.strerror(code), source.name, None, target.name)


@cache
def _renameat2() -> Callable[[int, bytes, int, bytes, int], int] | None:
    if sys.platform != "linux":
        return None
    found: Callable[[int, bytes, int, bytes, int], int] | None = getattr(
        ctypes.CDLL(None, use_errno=True), "renameat2", None
    )
    return found
