"""An editor's open documents."""

from pathlib import Path

from sidecar.session.desk.open_sessions import OpenSessions
from sidecar.workspace.buffers import Buffers


class EditorDocuments:
    """An editor's open documents, which in every session precede the disk."""

    def __init__(self, buffers: Buffers, sessions: OpenSessions) -> None:
        self._buffers = buffers
        self._sessions = sessions

    def open(self, path: str, text: str, version: int) -> None:
        """Take a file's text, saved or not."""
        self._buffers.set(Path(path), text, version)

    def close(self, path: str) -> None:
        """Read from disk from now on."""
        self._buffers.close(Path(path))

    def saved(self, path: str) -> None:
        """Count the change on disk as the user's."""
        for session in self._sessions:
            session.state.tracking.saved(Path(path))
