"""Open documents, whose text counts instead of the file's."""

import asyncio
import os
from pathlib import Path
from typing import Protocol
from weakref import WeakValueDictionary

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import SessionId


class DocumentEditor(Protocol):
    """The window in which documents are open."""

    @property
    def can_apply_edits(self) -> bool: ...

    @property
    def can_write_files(self) -> bool: ...

    async def write_text_file(self, session_id: SessionId, path: str, content: str) -> None:
        """Raises EditorGone."""
        ...

    async def apply_edit(self, label: str, path: str, content: str) -> bool:
        """Edits through the editor's undo history; returns whether done. Raises EditorGone."""
        ...


@dataclass(frozen=True, slots=True)
class Buffer:
    """An open document, saved or not, in `owner`'s window."""

    path: Path
    text: str
    version: int
    owner: DocumentEditor | None = None


class Buffers:
    """Open documents by resolved path.

    If several windows have one open, the last changed counts.
    """

    def __init__(self) -> None:
        self._open: dict[str, dict[object, Buffer]] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def set(self, path: Path, text: str, version: int, owner: DocumentEditor | None = None) -> None:
        real = os.path.realpath(path)
        held = self._open.setdefault(real, {})
        held.pop(owner, None)
        held[owner] = Buffer(Path(real), text, version, owner)

    def close(self, path: Path, owner: object = None) -> None:
        """Forgets a document; another window's text counts again, or the file's."""
        self._close(os.path.realpath(path), owner)

    def close_of(self, owner: object) -> None:
        for real in tuple(self._open):
            self._close(real, owner)

    def _close(self, real: str, owner: object) -> None:
        held = self._open.get(real, {})
        held.pop(owner, None)
        if not held:
            self._open.pop(real, None)

    def get(self, path: Path) -> Buffer | None:
        held = self._open.get(os.path.realpath(path)) if self._open else None
        return [*held.values()][-1] if held else None

    def open_paths(self) -> tuple[Path, ...]:
        return tuple(Path(path) for path in sorted(self._open))

    def writing(self, path: Path) -> asyncio.Lock:
        return self._locks.setdefault(os.path.realpath(path), asyncio.Lock())
