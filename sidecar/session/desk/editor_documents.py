"""An editor's open documents."""

from pathlib import Path

from sidecar.session.desk.open_sessions import OpenSessions
from sidecar.workspace.buffers import Buffers


class EditorDocuments:
    """In every session these precede the disk."""

    def __init__(self, buffers: Buffers, sessions: OpenSessions) -> None:
        self._buffers = buffers
        self._sessions = sessions

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
