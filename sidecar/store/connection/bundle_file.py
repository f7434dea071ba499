"""Writes and reads bundle files: lines packed with zstd.

Unpacking is limited: a foreign file may unfold to any size.
"""

import io
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import zstandard

from sidecar.core.errors import BadRequest
from sidecar.store.connection.store_files import FILE_MODE, sync_folder
from sidecar.store.format.bundles import HEAD, MOST_BYTES
from sidecar.store.format.signatures import ZSTD

LEVEL = 9
"""Packs a session a third smaller than 3, at some 50 MB/s."""
LONGEST_LINE = 34 * 1024 * 1024
"""The Messages API's largest request has 32 MB."""
_WINDOW = 1 << 25
_PACKED_PIECE = 1024
"""A kilobyte unfolds to 32 MB at most."""
_PLAIN_PIECE = 1024 * 1024

TOO_LARGE = (
    f"it holds more than {MOST_BYTES >> 20} MiB, which is more than is taken: fork the session at "
    "an earlier message, and export that"
)


def write(path: Path, lines: Iterable[bytes], *, replace: bool) -> int:
    """Writes durably, with mode 600; returns the bytes.

    Raises FileExistsError without `replace`, BadRequest if too large to read again, OSError; leaves
    no partial file.
    """
    temporary = path.with_name(f".{path.name[:100]}.{secrets.token_hex(6)}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    descriptor = os.open(temporary, flags, FILE_MODE)
    try:
        with open(descriptor, "wb") as file:
            _pack(file, lines)
            file.flush()
            os.fsync(descriptor)
            size = os.fstat(descriptor).st_size
        if replace:
            temporary.replace(path)
        else:
            _put_new(temporary, path)
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()
    sync_folder(path.parent)
    return size


def packed(lines: Iterable[bytes]) -> bytes:
    """Gives what `write` would. Raises BadRequest if too large to read again."""
    file = io.BytesIO()
    _pack(file, lines)
    return file.getvalue()


def is_bundle(source: Path | bytes) -> bool:
    """Whether a file or `bytes` begin as zstd does, or as a bundle's first line.

    Returns False for irregular or too large files; raises OSError.
    """
    with suppress(BadRequest), _opened(source) as (first, rest):
        return first == ZSTD or next(_joined(first, rest)).startswith(HEAD)
    return False


def read(source: Path | bytes) -> Iterator[bytes]:
    """Yields a bundle's lines with their line ends.

    Raises OSError, or BadRequest if damaged or too large.
    """
    with _opened(source) as (first, rest):
        line = bytearray()
        for piece in _limited(_unpacked(first, rest)):
            start = 0
            while (end := piece.find(b"\n", start)) >= 0:
                line += piece[start : end + 1]
                yield bytes(line)
                line.clear()
                start = end + 1
            line += piece[start:]
            if len(line) > LONGEST_LINE:
                raise _damaged("a line is too long")
        if line:
            yield bytes(line)


def _pack(file: IO[bytes], lines: Iterable[bytes]) -> None:
    press = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)
    total = 0
    with press.stream_writer(file, closefd=False) as packed:
        for line in lines:
            total += len(line)
            if total > MOST_BYTES or len(line) > LONGEST_LINE:
                raise BadRequest(
                    f"this session cannot be exported: {TOO_LARGE}", "params.sessionId"
                )
            packed.write(line)


def _put_new(temporary: Path, path: Path) -> None:
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:
        # On file systems without links, a race with another process remains.
        if os.path.lexists(path):
            raise FileExistsError(path) from None
        temporary.replace(path)


@contextmanager
def _opened(source: Path | bytes) -> Iterator[tuple[bytes, Iterator[bytes]]]:
    if isinstance(source, bytes):
        yield source[:4], iter((source[4:],))
        return
    # Without O_NONBLOCK, opening a named pipe would wait for its writer.
    descriptor = os.open(source, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0))
    with open(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise BadRequest(f"{source} is no file: name the bundle itself", "params.path")
        if found.st_size > MOST_BYTES:
            raise BadRequest(f"{source} cannot be imported: {TOO_LARGE}", "params.path")
        first = file.read(4)
        size = _PACKED_PIECE if first == ZSTD else _PLAIN_PIECE
        yield first, iter(lambda: file.read(size), b"")


def _unpacked(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    if first != ZSTD:
        yield from _joined(first, rest)
        return
    expand = zstandard.ZstdDecompressor(max_window_size=_WINDOW).decompressobj()
    try:
        for piece in _cut(_joined(first, rest), _PACKED_PIECE):
            if expand.eof:
                raise _damaged("something follows its end")
            if found := expand.decompress(piece):
                yield found
    except zstandard.ZstdError as error:
        raise _damaged(str(error)) from error
    if not expand.eof or expand.unused_data:
        raise _damaged("it is cut off, or something follows its end")


def _joined(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    # The first piece must hold the whole beginning, for callers that look at one piece only.
    yield first + next(rest, b"")
    yield from rest


def _cut(pieces: Iterator[bytes], size: int) -> Iterator[bytes]:
    for piece in pieces:
        for start in range(0, len(piece), size):
            yield piece[start : start + size]


def _limited(pieces: Iterator[bytes]) -> Iterator[bytes]:
    total = 0
    for piece in pieces:
        total += len(piece)
        if total > MOST_BYTES:
            raise BadRequest(f"this bundle cannot be imported: {TOO_LARGE}", "params.path")
        yield piece


def _damaged(why: str) -> BadRequest:
    return BadRequest(
        f"this bundle is damaged ({why}): copy the file again, or export the session again",
        "params.path",
    )
