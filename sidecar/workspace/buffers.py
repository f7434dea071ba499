"""The editor's open documents; their text precedes the file's."""

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path
from weakref import WeakValueDictionary


@dataclass(frozen=True, slots=True)
class Buffer:
    """An open document, saved or not."""

    path: Path
    text: str
    version: int


class Buffers:
    """Open documents by resolved path."""

    def __init__(self) -> None:
        self._open: dict[str, Buffer] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def set(self, path: Path, text: str, version: int) -> None:
        real = os.path.realpath(path)
        self._open[real] = Buffer(Path(real), text, version)

    def close(self, path: Path) -> None:
        """The file counts again."""
        self._open.pop(os.path.realpath(path), None)

    def get(self, path: Path) -> Buffer | None:
        return self._open.get(os.path.realpath(path)) if self._open else None

    def open_paths(self) -> tuple[Path, ...]:
        """Resolved and sorted."""
        return tuple(Path(path) for path in sorted(self._open))

    def writing(self, path: Path) -> asyncio.Lock:
        return self._locks.setdefault(os.path.realpath(path), asyncio.Lock())
