"""An editor's open documents."""

from pathlib import Path

from sidecar.session.desk.open_sessions import OpenSessions
from sidecar.workspace.buffers import Buffers


class EditorDocuments:
    """An editor's open documents; in every session open text takes precedence over the disk."""

    def __init__(self, buffers: Buffers, sessions: OpenSessions) -> None:
        self._buffers = buffers
        self._sessions = sessions

    def open(self, path: str, text: str, version: int) -> None:
        """Record a file's text in the editor, saved or not."""
        self._buffers.set(Path(path), text, version)

    def close(self, path: str) -> None:
        """Read the file from disk from now on."""
        self._buffers.close(Path(path))

    def saved(self, path: str) -> None:
        """Count the file's change on disk as the user's work."""
        for session in self._sessions:
            session.state.tracking.saved(Path(path))
