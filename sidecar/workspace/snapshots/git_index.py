"""Reads which paths git tracks."""

import struct
from pathlib import Path

from sidecar.core.dataclass import dataclass
from sidecar.workspace.files import read_beginning

MOST_BYTES = 256 * 1024 * 1024
LONGEST_PATH = 4096
MOST_UNPACKED = 16
"""Bytes of all paths for each of the index, whose version 4 has each path as the one before."""


@dataclass(frozen=True, slots=True)
class Tracked:
    """Tracked files and their parents, by relative path."""

    files: frozenset[bytes]
    folders: frozenset[bytes]


NOTHING = Tracked(frozenset(), frozenset())


def read_tracked(git: Path) -> Tracked:
    index = git / "index"
    try:
        size = index.stat().st_size
        if size > MOST_BYTES:
            return NOTHING
        # A pipe would be waited for, and a device might never end.
        files = _paths(read_beginning(index, size))
    except (OSError, struct.error, ValueError, IndexError):
        return NOTHING
    folders: set[bytes] = set()
    for path in files:
        at = path.rfind(b"/")
        while at > 0 and (folder := path[:at]) not in folders:
            folders.add(folder)
            at = path.rfind(b"/", 0, at)
    return Tracked(frozenset(files), frozenset(folders))


def _paths(data: bytes) -> list[bytes]:
    signature, version, count = struct.unpack_from(">4sLL", data)
    if signature != b"DIRC" or version not in (2, 3, 4):
        raise ValueError("no index that is known here")
    found: list[bytes] = []
    at, path, room = 12, b"", MOST_UNPACKED * len(data)
    for _ in range(count):
        flags = data[at + 60] << 8 | data[at + 61]
        start = at + (64 if flags & 0x4000 else 62)
        if version == 4:
            cut, start = _varint(data, start)
            end = data.index(b"\0", start)
            path = path[: len(path) - cut] + data[start:end]
            at = end + 1
        else:
            length = flags & 0xFFF
            end = start + length if length < 0xFFF else data.index(b"\0", start)
            path = data[start:end]
            at += (end - at + 8) // 8 * 8
        room -= len(path)
        if len(path) > LONGEST_PATH or room < 0:
            raise ValueError("an index made to hurt")
        found.append(path)
    return found


def _varint(data: bytes, at: int) -> tuple[int, int]:
    byte = data[at]
    value = byte & 0x7F
    while byte & 0x80:
        at += 1
        byte = data[at]
        value = ((value + 1) << 7) | (byte & 0x7F)
    return value, at + 1
