"""Reads and writes the user's files. Blocks.

Invalid UTF-8 becomes lone surrogates, written back unchanged.
"""

import errno
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from sidecar.core.dataclass import dataclass
from sidecar.core.errors import BadRequest
from sidecar.workspace.unlinked_path import folder_of, open_in, sync

MAX_FILE = 16 * 1024 * 1024
"""Bytes read at once; longer files are read by lines."""

MOST_LINES = 200_000
"""Lines read at once from a longer file."""

MAX_NAMED = 8 * 1024
"""Bytes read of a file that names a folder."""

_SNIFFED = 64 * 1024
_SURROGATES = re.compile("[\ud800-\udfff]")
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)


@dataclass(frozen=True, slots=True)
class FileLines:
    """Some lines; `more`: whether lines follow."""

    text: str
    more: bool


def read_text(real: Path) -> str:
    """Line endings unchanged.

    Raises BadRequest for an irregular, binary or too large file, OSError.
    """
    with _open_exact(real) as (descriptor, size):
        if size > MAX_FILE:
            raise BadRequest(
                f"{real.name} has {size:,} bytes, more than {MAX_FILE:,}. "
                "Give offset and limit to read some lines of it, or search it.",
                "input.path",
            )
        with open(descriptor, "rb", closefd=False) as file:
            data = file.read(MAX_FILE + 1)
    return decode(data, real.name)


def read_beginning(path: Path | str, most: int) -> bytes:
    """Reads up to `most` bytes of a regular file, through links; raises OSError.

    Refuses pipes, which would wait: such files (`.gitignore`) are read unasked.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0))
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "is no regular file", str(path))
        return file.read(most)


def git_folders(git: Path) -> tuple[Path, Path]:
    """Returns a repository's own folder, and the one with hooks and excludes.

    In a worktree or submodule `.git` is a file. Raises OSError or ValueError.
    """

    def named(file: Path) -> str:
        text = os.fsdecode(read_beginning(file, MAX_NAMED))
        if "\0" in text:
            raise ValueError("no path holds a NUL")
        return text.removeprefix("gitdir:").strip()

    own = git.parent / named(git) if git.is_file() else git
    shared = own / "commondir"
    return own, own / named(shared) if shared.is_file() else own


def read_lines(real: Path, offset: int, limit: int | None) -> FileLines:
    """Reads lines from `offset` (from 1) on, at most `MOST_LINES` and `MAX_FILE` bytes.

    Raises BadRequest for an irregular or binary file, OSError.
    """
    kept = bytearray()
    number, room = 0, MAX_FILE
    most = min(MOST_LINES, MOST_LINES if limit is None else limit)
    with _open_exact(real) as (descriptor, _), open(descriptor, "rb", closefd=False) as file:
        decode(file.read(_SNIFFED), real.name)
        file.seek(0)
        _skip(file, offset - 1)
        # In pieces, because a single line may be too long for memory.
        while room > 0 and number < most and (piece := file.readline(min(_SNIFFED, room))):
            kept += piece
            room -= len(piece)
            number += piece.endswith(b"\n")
        more = bool(file.read(1))
    return FileLines(decode(bytes(kept), real.name), more)


def _skip(file: BinaryIO, lines: int) -> None:
    """Reads on behind so many lines, block by block: gigabytes may stand before."""
    while lines > 0 and (block := file.read(_SNIFFED)):
        ends = block.count(b"\n")
        if ends >= lines:
            at = -1
            for _ in range(lines):
                at = block.index(b"\n", at + 1)
            file.seek(at + 1 - len(block), os.SEEK_CUR)
        lines -= ends


def decode(data: bytes, name: str) -> str:
    """Decodes UTF-8; raises BadRequest for UTF-16 and binary content."""
    start = data[:_SNIFFED]
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise BadRequest(f"{name} is UTF-16, which cannot be read. Convert it first.", "input.path")
    strange = len(start) - len(start.decode("utf-8", "ignore").encode())
    strange += sum(start.count(bytes([code])) for code in (*range(1, 7), *range(14, 27)))
    if b"\0" in start or strange > len(start) // 10:
        raise BadRequest(f"{name} is a binary file, which cannot be read as text.", "input.path")
    return data.decode("utf-8", "surrogateescape")


def legible(text: str) -> str:
    """Makes valid UTF-8 with LF, without byte order mark."""
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n")
    return _SURROGATES.sub("\ufffd", plain)


def newline(text: str) -> str:
    windows = text.count("\r\n")
    return "\r\n" if windows > text.count("\n") - windows else "\n"


def write_atomically(real: Path, text: str, *, private: bool = False) -> None:
    """Readers see old or new text.

    Keeps an existing mode, unless `private` (owner only). Makes missing folders. OSError leaves the
    file unchanged.
    """
    data = text.encode("utf-8", "surrogateescape")
    with folder_of(real, make=True) as folder:
        before = _existing(real, folder)
        temporary = f".{real.name[:100]}.{secrets.token_hex(6)}.tmp"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW
        descriptor = os.open(temporary, flags, 0o600 if private else 0o666, dir_fd=folder)
        try:
            with open(descriptor, "wb") as file:
                if before is not None and not private:
                    _keep_owner_and_mode(descriptor, before)
                file.write(data)
                file.flush()
                os.fsync(descriptor)
            os.replace(temporary, real.name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary, dir_fd=folder)
            raise
        sync(folder)


@contextmanager
def _open_exact(real: Path) -> Iterator[tuple[int, int]]:
    # Without O_NONBLOCK, opening a named pipe would wait for its writer.
    flags = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0)
    with folder_of(real) as folder:
        descriptor = open_in(folder, real, flags)
    try:
        found = os.fstat(descriptor)
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError(errno.EISDIR, "is a folder; use list_files", str(real))
        if not stat.S_ISREG(found.st_mode):
            raise BadRequest(f"{real.name} is no regular file.", "input.path")
        yield descriptor, found.st_size
    finally:
        os.close(descriptor)


def _existing(real: Path, folder: int) -> os.stat_result | None:
    try:
        found = os.stat(real.name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, "is a folder", str(real))
    if not stat.S_ISREG(found.st_mode):
        raise BadRequest(f"{real.name} is no regular file.", "input.path")
    # A rename would replace a read-only file without asking, since only the folder matters to it.
    if not os.access(real.name, os.W_OK, dir_fd=folder):
        raise PermissionError(errno.EACCES, "is read-only", str(real))
    return found


def _keep_owner_and_mode(descriptor: int, before: os.stat_result) -> None:
    with suppress(PermissionError):
        os.fchown(descriptor, before.st_uid, before.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(before.st_mode))
