"""Reads current files and branch. Blocks."""

import os
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from time import time_ns

from sidecar.core.errors import BadRequest
from sidecar.core.text.digest import bytes_hash, content_hash
from sidecar.workspace.buffers import Buffers
from sidecar.workspace.files import git_folders, legible, read_beginning, read_text
from sidecar.workspace.paths import locate
from sidecar.workspace.snapshots.ignore import BESIDE

MOST_FILES = 500
MOST_BYTES = 2 * 1024 * 1024
"""Of a hashed file; longer ones are only known to exist."""
LATELY = 1_000_000_000
"""Nanoseconds after which nobody is amid writing a file any more, nor has yet to report it."""
_MOST_HEAD = 4096
_BRANCH = re.compile(r"ref: refs/heads/([^\x00-\x20\x7f-\xa0\u2028\u2029~^:?*\[\\]{1,250})")
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def hash_files(paths: Iterable[str], root: Path, buffers: Buffers) -> dict[str, str | None]:
    """Hashes the first `MOST_FILES` files, and open documents instead of their files.

    `None` for a missing file, empty if too long or unreadable.
    """
    found: dict[str, str | None] = {}
    for path in paths:
        if len(found) == MOST_FILES:
            break
        if path not in found:
            found[path] = _hash(path, root, buffers)
    return found


def _hash(path: str, root: Path, buffers: Buffers) -> str | None:
    try:
        real = locate(path, root).real
        buffer = buffers.get(real)
        if buffer is not None:
            return content_hash(buffer.text)
        data = read_beginning(real, MOST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (BadRequest, OSError):
        return ""
    return bytes_hash(data) if len(data) <= MOST_BYTES else ""


def read_present(paths: Iterable[str], root: Path, buffers: Buffers) -> dict[str, str | None]:
    """Reads files, and open documents instead of their files.

    Leaves out files outside; `None` for a missing, binary, too long or unreadable one.
    """
    found: dict[str, str | None] = {}
    for path in paths:
        try:
            place = locate(path, root)
            if not place.inside:
                continue
            buffer = buffers.get(place.real)
            found[path] = legible(read_text(place.real) if buffer is None else buffer.text)
        except (BadRequest, OSError):
            found[path] = None
    return found


def beside(root: Path, covered: Callable[[bytes], object]) -> tuple[str, ...]:
    base = os.fsencode(root) + b"/"
    found = (name for name in BESIDE if os.path.lexists(base + name) and not covered(name))
    return tuple(map(os.fsdecode, found))


def read_branch(root: Path) -> str:
    """Returns the branch, 12 digits of a detached commit, or "". Runs nothing."""
    for folder in (root, *root.parents):
        try:
            at = git_folders(folder / ".git")[0] / "HEAD"
            # A link would be any file's beginning, for the model to read.
            data = b"" if at.is_symlink() else read_beginning(at, _MOST_HEAD)
        except (OSError, ValueError):
            continue
        head = data.decode("utf-8", "replace").strip()
        if branch := _BRANCH.fullmatch(head):
            return branch[1]
        return head[:12] if _COMMIT.fullmatch(head) else ""
    return ""


def written_lately(root: Path, paths: Iterable[bytes]) -> set[bytes]:
    """Those of the paths that stand and were written, renamed or made `LATELY`."""
    found: set[bytes] = set()
    base = os.fsencode(root)
    for path in paths:
        with suppress(OSError):
            # No program sets this time, as `cp -p` and `tar` set the other.
            if abs(time_ns() - os.lstat(base + b"/" + path).st_ctime_ns) < LATELY:
                found.add(path)
    return found
