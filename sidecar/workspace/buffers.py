"""The editor's open documents: what a file says there stands for what it says on disk."""

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path
from weakref import WeakValueDictionary


@dataclass(frozen=True, slots=True)
class Buffer:
    """An open document, saved or not. `version` is the editor's own count."""

    path: Path
    text: str
    version: int


class Buffers:
    """Open documents by resolved path. It holds what the editor holds open, and nothing more."""

    def __init__(self) -> None:
        self._open: dict[str, Buffer] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def set(self, path: Path, text: str, version: int) -> None:
        """Remember a document that was opened or changed."""
        real = os.path.realpath(path)
        self._open[real] = Buffer(Path(real), text, version)

    def close(self, path: Path) -> None:
        """Forget a document: from now on its file is read from disk."""
        self._open.pop(os.path.realpath(path), None)

    def get(self, path: Path) -> Buffer | None:
        """Give an open document, or `None` when the file is not open."""
        return self._open.get(os.path.realpath(path)) if self._open else None

    def open_paths(self) -> tuple[Path, ...]:
        """Give the resolved paths of all open documents, sorted."""
        return tuple(Path(path) for path in sorted(self._open))

    def writing(self, path: Path) -> asyncio.Lock:
        """Give the lock under which a file is read, changed and written, so that edits queue."""
        return self._locks.setdefault(os.path.realpath(path), asyncio.Lock())
