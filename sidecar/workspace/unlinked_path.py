"""Tells whether a path holds links, and reaches one without. Blocks.

A resolved path is reached folder by folder, as folders may have become links.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

WAY = (
    os.O_CLOEXEC
    | getattr(os, "O_DIRECTORY", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    # A folder that may only be passed through can be opened by this alone.
    | getattr(os, "O_PATH", os.O_RDONLY)
)
"""Opens a folder to look, open and rename in; not to read or sync."""


class PathMoved(PermissionError):
    """A resolved path holds a link by now."""


def may_be_linked(given: str, root: Path) -> bool:
    """Whether a path may lead elsewhere than it says below a resolved `root`.

    Looks at its own folders alone: thousands of calls would feel those of the root.
    """
    at, steps = str(root), given.split("/")
    if given.startswith(("/", "~")) or ".." in steps:
        return True
    return any(os.path.islink(at := os.path.join(at, step)) for step in steps if step)


@contextmanager
def folder_of(real: Path, *, make: bool = False) -> Iterator[int]:
    """Opens the folder of a resolved path; `make` creates missing folders.

    The descriptor can look, open and rename, not read or sync. Raises PathMoved, OSError.
    """
    descriptor = os.open(real.anchor, WAY)
    try:
        for name in real.parts[1:-1]:
            inner = _enter(descriptor, name, real, make=make)
            os.close(descriptor)
            descriptor = inner
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def standing_in(real: Path) -> Iterator[str]:
    """Gives a folder's path, for a process to start in.

    On Linux the path stays valid if the folder moves. Raises as `folder_of`.
    """
    with folder_of(real / "-") as folder:
        name = f"/proc/self/fd/{folder}"
        yield name if os.path.isdir(name) else str(real)


def open_in(folder: int, real: Path, flags: int) -> int:
    """Never through a link; raises OSError."""
    try:
        return os.open(real.name or ".", flags | getattr(os, "O_NOFOLLOW", 0), dir_fd=folder)
    except OSError as error:
        raise _told(error, real, folder, real.name) from error


def sync(folder: int) -> None:
    # A descriptor by `O_PATH` cannot be synced.
    descriptor = os.open(".", os.O_RDONLY | os.O_CLOEXEC, dir_fd=folder)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _enter(folder: int, name: str, real: Path, *, make: bool) -> int:
    try:
        return os.open(name, WAY, dir_fd=folder)
    except FileNotFoundError as error:
        if not make:
            raise _told(error, real, folder, name) from error
    except OSError as error:
        raise _told(error, real, folder, name) from error
    with suppress(FileExistsError):
        os.mkdir(name, dir_fd=folder)
    try:
        return os.open(name, WAY, dir_fd=folder)
    except OSError as error:
        raise _told(error, real, folder, name) from error


def _told(error: OSError, real: Path, folder: int, name: str) -> OSError:
    if error.errno in (errno.ELOOP, errno.ENOTDIR) and _is_link(folder, name):
        return PathMoved(errno.EPERM, "moved while it was opened; try again", str(real))
    return type(error)(error.errno, os.strerror(error.errno or 0), str(real))


def _is_link(folder: int, name: str) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:
        return True
