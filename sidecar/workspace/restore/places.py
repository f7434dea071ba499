"""Reaches paths folder by folder without links, so never outside the root.

Keeps no descriptors, since a folder may be moved away.
"""

import errno
import os
import stat
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from typing import TypeVar

from sidecar.core.errors import BadRequest
from sidecar.workspace.snapshots.ignore import HISTORIES, STAGING
from sidecar.workspace.snapshots.known_paths import ancestors
from sidecar.workspace.unlinked_path import WAY

_READ = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)

T = TypeVar("T")


class Blocked(Exception):
    """A path's parent, `at`, is missing, a file or a link."""

    def __init__(self, at: bytes, *, missing: bool) -> None:
        super().__init__(at)
        self.at = at
        self.missing = missing


def check_path(path: bytes) -> None:
    """Raises BadRequest outside the root, in a version history, or a restore's own folder."""
    names = path.split(b"/")
    shown = path.decode("utf-8", "backslashreplace")
    if b"\0" in path or any(name in (b"", b".", b"..") for name in names):
        raise BadRequest(f"{shown!r} is no path inside the workspace.", "params.paths")
    if any(name.lower() in HISTORIES for name in names):
        raise BadRequest(f"{shown} lies in a version history, which is never touched.")
    if any(name.startswith(STAGING) for name in names):
        raise BadRequest(f"{shown} belongs to a restore itself.", "params.paths")


class _Opened(AbstractContextManager[T]):
    """Closes a descriptor; a generator would take twice as long."""

    __slots__ = ("_descriptor", "_given")

    def __init__(self, descriptor: int, given: T) -> None:
        self._descriptor = descriptor
        self._given = given

    def __enter__(self) -> T:
        return self._given

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)


def root_folder(root: bytes) -> AbstractContextManager[int]:
    descriptor = os.open(root, WAY)
    return _Opened(descriptor, descriptor)


def folder(root: int, path: bytes) -> AbstractContextManager[int]:
    """Opens a folder below the root, or the root (""); raises Blocked or OSError."""
    descriptor = _entered(root, path)
    return _Opened(descriptor, descriptor)


def around(root: int, path: bytes) -> AbstractContextManager[tuple[int, bytes]]:
    """Gives the parent's descriptor and the path's last name."""
    outer, _, name = path.rpartition(b"/")
    descriptor = _entered(root, outer)
    return _Opened(descriptor, (descriptor, name))


def _entered(root: int, path: bytes) -> int:
    if not path:
        return os.dup(root)
    names = path.split(b"/")
    descriptor = root
    for number, name in enumerate(names):
        try:
            inner = os.open(name, WAY, dir_fd=descriptor)
        except FileNotFoundError as error:
            raise Blocked(b"/".join(names[: number + 1]), missing=True) from error
        except OSError as error:
            if error.errno not in (errno.ENOTDIR, errno.ELOOP):
                raise
            raise Blocked(b"/".join(names[: number + 1]), missing=False) from error
        finally:
            if descriptor != root:
                os.close(descriptor)
        descriptor = inner
    return descriptor


def stat_in(at: int, name: bytes) -> os.stat_result | None:
    """Not through links; `None` if missing."""
    try:
        return os.stat(name, dir_fd=at, follow_symlinks=False)
    except FileNotFoundError:
        return None


def spelt(path: bytes, names: Callable[[bytes], Collection[bytes]]) -> bool:
    """Whether folders list all names of a path in this spelling.

    Case-insensitive disks also find `a` under `A`. Unreadable folders count as listing all.
    """
    try:
        places = (at.rpartition(b"/") for at in (*ancestors(path), path))
        return all(name in names(outer) for outer, _, name in places)
    except PermissionError:
        return True


def stat_at(root: int, path: bytes) -> os.stat_result | None:
    """`None` if missing or blocked."""
    try:
        with around(root, path) as (at, name):
            return stat_in(at, name)
    except Blocked:
        return None


def content_in(at: int, name: bytes, found: os.stat_result) -> bytes | None:
    try:
        if stat.S_ISLNK(found.st_mode):
            return os.readlink(name, dir_fd=at)
        descriptor = os.open(name, _READ, dir_fd=at)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EINVAL):
            return None
        raise
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        data = file.read(found.st_size + 1)
    return data if len(data) == found.st_size else None


def set_mode(at: int, name: bytes, mode: int) -> None:
    """Never through a link; raises OSError."""
    try:
        descriptor = os.open(name, _READ, dir_fd=at)
    except PermissionError:
        # An owner may set the mode of unreadable files.
        descriptor = os.open(name, WAY & ~getattr(os, "O_DIRECTORY", 0), dir_fd=at)
        try:
            os.chmod(f"/proc/self/fd/{descriptor}", mode)
        finally:
            os.close(descriptor)
        return
    try:
        os.fchmod(descriptor, mode)
    finally:
        os.close(descriptor)


def sync(root: int, path: bytes) -> None:
    try:
        with folder(root, path) as at:
            # A descriptor by `O_PATH` cannot be synced.
            descriptor = os.open(b".", os.O_RDONLY | os.O_CLOEXEC, dir_fd=at)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
    except Blocked:
        return
    except PermissionError:
        # A folder that may not be read cannot be synced either.
        return
