"""Holds stats of all known paths as raw kernel bytes, since objects would double the time."""

import ctypes
import os
import sys
from collections import deque
from collections.abc import Callable
from itertools import repeat
from typing import TypeAlias

ROOM = 256
"""Bytes per stat. Linux writes 216 at most; the rest stays 0."""
AT_ONCE = 256
"""Paths compared in one piece."""
_NOFOLLOW = 0x100
_MISSING = bytes(ROOM)
_UNPROVEN = b"\xff" * ROOM
"""Equal to no stat."""

_Fstatat: TypeAlias = Callable[[int, bytes, ctypes.c_void_p, int], int]


class StatTable:
    """Tells which paths are proven unchanged. Blocks.

    A raw stat is proof only if taken before an `os.lstat` without change.
    """

    def __init__(self, base: bytes, fstatat: _Fstatat) -> None:
        self._base = base
        self._fstatat = fstatat
        self._buffer = ctypes.create_string_buffer(ROOM * AT_ONCE)
        start = ctypes.addressof(self._buffer)
        self._rooms = [ctypes.c_void_p(start + ROOM * at) for at in range(AT_ONCE)]
        self._paths: list[bytes] = []
        self._at: dict[bytes, int] = {}
        self._proven: list[bytearray] = []
        self._found: dict[int, bytes] = {}

    def __len__(self) -> int:
        return len(self._paths)

    def suspects(self) -> set[bytes]:
        """Returns paths whose stat is not the proven one; raises OSError without the root."""
        self._found.clear()
        suspects: set[bytes] = set()
        root = os.open(self._base, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for piece, proven in enumerate(self._proven):
                paths = self._paths[piece * AT_ONCE : (piece + 1) * AT_ONCE]
                ctypes.memset(self._buffer, 0, ROOM * AT_ONCE)
                # Not one step of this loop over the paths is in Python.
                calls = map(self._fstatat, repeat(root), paths, self._rooms, repeat(_NOFOLLOW))
                deque(calls, maxlen=0)
                found = self._buffer.raw
                if found != proven:
                    self._found[piece] = found
                    suspects.update(_different(paths, found, proven))
        finally:
            os.close(root)
        return suspects

    def prove(self, path: bytes) -> None:
        piece, at = divmod(self._at[path], AT_ONCE)
        if piece in self._found:
            found = self._found[piece][at * ROOM : (at + 1) * ROOM]
            if found != _MISSING:
                self._put(path, found)

    def doubt(self, path: bytes, *, known: bool) -> None:
        """Marks a path unproven after a change, or missing (`known` false)."""
        if path not in self._at:
            if len(self._paths) % AT_ONCE == 0:
                self._proven.append(bytearray(ROOM * AT_ONCE))
            self._at[path] = len(self._paths)
            self._paths.append(path)
        # A path known to be missing is no suspect until it exists again.
        self._put(path, _UNPROVEN if known else _MISSING)

    def _put(self, path: bytes, stat: bytes) -> None:
        piece, at = divmod(self._at[path], AT_ONCE)
        self._proven[piece][at * ROOM : (at + 1) * ROOM] = stat


def stat_table(base: bytes) -> StatTable | None:
    if not sys.platform.startswith("linux"):
        return None
    try:
        return StatTable(base, ctypes.CDLL(None).fstatat)
    except AttributeError:
        return None


def _different(paths: list[bytes], found: bytes, proven: bytearray) -> list[bytes]:
    return [
        path
        for at, path in zip(range(0, len(paths) * ROOM, ROOM), paths, strict=True)
        if found[at : at + ROOM] != proven[at : at + ROOM]
    ]
