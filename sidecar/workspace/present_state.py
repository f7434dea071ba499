"""Current file hashes and branch of a workspace. Blocks."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from sidecar.core.errors import BadRequest
from sidecar.core.text.digest import bytes_hash, content_hash
from sidecar.workspace.buffers import Buffers
from sidecar.workspace.files import read_beginning
from sidecar.workspace.paths import locate
from sidecar.workspace.snapshots.ignore import BESIDE

MOST_FILES = 500
MOST_BYTES = 2 * 1024 * 1024
"""Bytes of a hashed file; longer ones are only known to exist."""
_MOST_HEAD = 4096
_HEADS = "ref: refs/heads/"


def hash_files(paths: Iterable[str], root: Path, buffers: Buffers) -> dict[str, str | None]:
    """Hashes of the first `MOST_FILES` files as tools see them: open documents first.

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


def beside(root: Path, covered: Callable[[bytes], object]) -> tuple[str, ...]:
    """Top-level entries in no snapshot: `.git` and build output."""
    base = os.fsencode(root) + b"/"
    found = (name for name in BESIDE if os.path.lexists(base + name) and not covered(name))
    return tuple(map(os.fsdecode, found))


def read_branch(root: Path) -> str:
    """The checked-out branch, 12 digits of a detached commit, or empty without git.

    Runs nothing: safe in any workspace.
    """
    for folder in (root, *root.parents):
        git = folder / ".git"
        try:
            if git.is_file():
                # A worktree or a submodule: the file names the folder.
                named = _beginning(git).removeprefix("gitdir:").strip()
                git = folder / named
            head = _beginning(git / "HEAD").strip()
        except (OSError, ValueError):
            continue
        return head.removeprefix(_HEADS) if head.startswith(_HEADS) else head[:12]
    return ""


def _beginning(path: Path) -> str:
    return read_beginning(path, _MOST_HEAD).decode("utf-8", "replace")
