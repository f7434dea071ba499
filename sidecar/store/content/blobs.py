"""Compressed bytes under their hash, stored once."""

import sqlite3
import threading
from collections.abc import Sequence
from typing import NamedTuple

import zstandard

from sidecar.core.errors import StorageFailed
from sidecar.core.text.digest import digest
from sidecar.store.format.fields import BodyBroken
from sidecar.store.format.migrations import WITH_RECENT, version

ZSTD_LEVEL = 3
"""Packs tool outputs to a sixth at some 300 MB/s; higher levels gain little."""
MIN_COMPRESS_BYTES = 128
"""Below, a zstd frame is seldom smaller than its content."""


class _Press(threading.local):
    """Keeps compressors, since making one is slow."""

    def __init__(self) -> None:
        self.compress = zstandard.ZstdCompressor(level=ZSTD_LEVEL).compress
        self.expand = zstandard.ZstdDecompressor().decompress


_press = _Press()

MOST_RECENT = 256
"""Blobs in the small table before a move to the large one."""
MOST_RECENT_BYTES = 16 * 1024
"""Larger blobs have many pages: one for the index counts little, and moving takes long."""
_PUT_RECENT, _PUT_LARGE = (
    f"INSERT OR IGNORE INTO {table} (hash, size, encoding, data) "
    f"SELECT ?1, ?2, ?3, ?4 WHERE NOT EXISTS (SELECT 1 FROM {other} WHERE hash = ?1)"
    for table, other in (("recent", "blob"), ("blob", "recent"))
)
NAMED = 500
"""Hashes per query; old SQLite accepts 999."""
AT_ONCE = 32 * 1024 * 1024
"""Bytes allocated on a frame's word; more only for real data."""


class PressedBlob(NamedTuple):
    """A blob's hash, size before compression, and compressed bytes."""

    hash: str
    size: int
    encoding: str
    data: bytes


def press(data: bytes) -> PressedBlob:
    packed = _compressed(data)
    encoding = "raw" if packed is None else "zstd"
    return PressedBlob(digest(data), len(data), encoding, data if packed is None else packed)


def put_pressed(con: sqlite3.Connection, blob: PressedBlob) -> None:
    con.execute("INSERT OR IGNORE INTO blob (hash, size, encoding, data) VALUES (?, ?, ?, ?)", blob)


def put_new(con: sqlite3.Connection, blobs: Sequence[PressedBlob], *, recent: bool) -> int:
    """Inserts new contents of files; returns the bytes added.

    `recent`: short ones go into the small table.
    """
    added = 0
    done = con.cursor()
    for blob in blobs:
        size = len(blob.data)
        done.execute(_PUT_RECENT if recent and size <= MOST_RECENT_BYTES else _PUT_LARGE, blob)
        added += size if done.rowcount else 0
    return added


def settle(con: sqlite3.Connection) -> None:
    """Moves all short blobs to the large table beyond `MOST_RECENT`."""
    (last,) = con.execute("SELECT max(rowid) FROM recent").fetchone()
    if last is not None and last > MOST_RECENT:
        # In the index's order, each page of the index is written once.
        con.execute("INSERT OR IGNORE INTO blob SELECT * FROM recent ORDER BY hash")
        con.execute("DELETE FROM recent")


def put_blob(con: sqlite3.Connection, name: str, data: bytes) -> None:
    """Raises StorageFailed for a wrong hash."""
    if con.execute("SELECT 1 FROM blob WHERE hash = ?", (name,)).fetchone() is not None:
        return
    blob = press(data)
    if blob.hash != name:
        raise StorageFailed(f"Not stored: {name} is not the hash of its content.", kind="io")
    put_pressed(con, blob)


def get_blob(con: sqlite3.Connection, name: str) -> bytes | None:
    """Raises BodyBroken."""
    return get_blobs(con, (name,)).get(name)


def get_blobs(con: sqlite3.Connection, names: Sequence[str]) -> dict[str, bytes]:
    found = _stored(con, "blob", names)
    missing = [name for name in names if name not in found]
    # A file open for reading may be too old for this table.
    if missing and version(con) >= WITH_RECENT:
        found |= _stored(con, "recent", missing)
    return found


def contents(con: sqlite3.Connection) -> str:
    """Names the table or view of all blobs."""
    return "content" if version(con) >= WITH_RECENT else "blob"


def _stored(con: sqlite3.Connection, table: str, names: Sequence[str]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for start in range(0, len(names), NAMED):
        some = names[start : start + NAMED]
        wanted = ", ".join("?" * len(some))
        query = f"SELECT hash, size, encoding, data FROM {table} WHERE hash IN ({wanted})"
        for name, *stored in con.execute(query, some):
            found[name] = _whole(name, *stored)
    return found


def _whole(name: str, size: int, encoding: str, stored: object) -> bytes:
    if not isinstance(stored, bytes):
        raise BodyBroken(f"blob {name} is damaged: it holds no bytes")
    data = expand(name, size, encoding, stored)
    if digest(data) != name:
        raise BodyBroken(f"blob {name} is damaged: its content has another hash")
    return data


def _compressed(data: bytes) -> bytes | None:
    if len(data) < MIN_COMPRESS_BYTES:
        return None
    packed = _press.compress(data)
    return packed if len(packed) < len(data) else None


def expand(name: str, size: int, encoding: str, stored: bytes) -> bytes:
    """Raises BodyBroken."""
    match encoding:
        case "raw":
            data = stored
        case "zstd":
            try:
                # A damaged frame may claim any size: trust only a size that the row confirms.
                if zstandard.frame_content_size(stored) != size:
                    raise BodyBroken(f"blob {name} is damaged: its frame has another size")
                data = _press.expand(stored) if size <= AT_ONCE else _grown(stored)
            except zstandard.ZstdError as error:
                raise BodyBroken(f"blob {name} is damaged: {error}") from error
        case _:
            raise BodyBroken(f"blob {name} has the unknown encoding {encoding!r}")
    if len(data) != size:
        raise BodyBroken(f"blob {name} is damaged: {len(data)} bytes instead of {size}")
    return data


def _grown(stored: bytes) -> bytes:
    with zstandard.ZstdDecompressor().stream_reader(stored) as reader:
        return b"".join(iter(lambda: reader.read(AT_ONCE), b""))
