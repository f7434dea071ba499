"""An editor's open documents."""

from pathlib import Path

from sidecar.core.errors import Cancelled, EditorGone
from sidecar.session.desk.open_sessions import OpenSessions
from sidecar.workspace.buffers import Buffers, DocumentEditor


class EditorDocuments:
    """In every session these precede the disk; `editor`, if any, changes them."""

    def __init__(self, buffers: Buffers, sessions: OpenSessions) -> None:
        self._buffers = buffers
        self._sessions = sessions
        self.editor: DocumentEditor | None = None

    @property
    def can_apply_edits(self) -> bool:
        return self.editor is not None and self.editor.can_apply_edits

    async def apply_edit(self, label: str, path: str, content: str) -> bool:
        try:
            return self.editor is not None and await self.editor.apply_edit(label, path, content)
        except Cancelled as error:
            raise EditorGone(error.message) from error

    def open(self, path: str, text: str, version: int) -> None:
        self._buffers.set(Path(path), text, version, self)

    def close_all(self) -> None:
        """The editor is gone, with what it had not saved."""
        self._buffers.close_of(self)

    def close(self, path: str) -> None:
        self._buffers.close(Path(path), self)

    def saved(self, path: str) -> None:
        for session in self._sessions:
            session.audience.saved(Path(path))
