"""Open documents."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sidecar.core.errors import Cancelled, EditorGone
from sidecar.core.parts import SessionId
from sidecar.session.desk.open_sessions import OpenSessions
from sidecar.workspace.buffers import Buffers, DocumentEditor


class EditorDocuments:
    """The editor's open texts, which every session prefers to the disk."""

    def __init__(self, buffers: Buffers, sessions: OpenSessions) -> None:
        self._buffers = buffers
        self._sessions = sessions
        self.editor: DocumentEditor | None = None

    @property
    def can_apply_edits(self) -> bool:
        return self.editor is not None and self.editor.can_apply_edits

    @property
    def can_write_files(self) -> bool:
        return self.editor is not None and self.editor.can_write_files

    async def apply_edit(self, label: str, path: str, content: str) -> bool:
        with _gone():
            return self.editor is not None and await self.editor.apply_edit(label, path, content)

    async def write_text_file(self, session_id: SessionId, path: str, content: str) -> None:
        assert self.editor is not None
        with _gone():
            await self.editor.write_text_file(session_id, path, content)

    def open(self, path: str, text: str, version: int) -> None:
        self._buffers.set(Path(path), text, version, self)

    def close_all(self) -> None:
        self._buffers.close_of(self)

    def close(self, path: str) -> None:
        self._buffers.close(Path(path), self)

    def saved(self, path: str) -> None:
        for session in self._sessions:
            session.audience.saved(Path(path))


@contextmanager
def _gone() -> Iterator[None]:
    try:
        yield
    except Cancelled as error:
        raise EditorGone(error.message) from error
