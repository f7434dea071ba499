"""The editor's documents, as it tells of them."""

from pathlib import Path

from sidecar.session.desk.open_sessions import OpenSessions
from sidecar.workspace.buffers import Buffers


class EditorDocuments:
    """The documents of one editor; what it has open wins over the disk, in every session."""

    def __init__(self, buffers: Buffers, sessions: OpenSessions) -> None:
        self._buffers = buffers
        self._sessions = sessions

    def open(self, path: str, text: str, version: int) -> None:
        """Remember what the editor shows of a file, saved or not."""
        self._buffers.set(Path(path), text, version)

    def close(self, path: str) -> None:
        """From now on the file is read from disk."""
        self._buffers.close(Path(path))

    def saved(self, path: str) -> None:
        """The editor has written a file: what changes there is its user's work."""
        for session in self._sessions:
            session.state.tracking.saved(Path(path))
