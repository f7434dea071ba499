"""Syncs a session's folder after each turn, where the setting wants it and the user agreed."""

import logging

from sidecar.core.errors import Cancelled, SidecarError
from sidecar.session.desk.open_sessions import begin_beside
from sidecar.session.desk.sessions import Sessions
from sidecar.session.lifecycle.session import Session

logger = logging.getLogger("sidecar.session")

FAILED = "This session was not synced after the turn: {why}"


class TurnSyncs:
    """One sync of a folder at a time; turns that end meanwhile are in the next."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._running: dict[str, bool] = {}
        """Folders, and whether a turn ended since their sync began."""
        self._told: dict[str, str] = {}

    def heard(self, session: Session) -> None:
        """To be called as a session's turns begin and end."""
        config, folder = session.environment.settings.config, session.row.cwd
        if session.prompts.busy or not config.sync.after_turns:
            return
        if folder not in self._running:
            begin_beside(self._sessions.open, self._follow(session, folder))
        self._running[folder] = True

    async def _follow(self, session: Session, folder: str) -> None:
        try:
            while self._running[folder]:
                self._running[folder] = False
                await self._once(session, folder)
        finally:
            del self._running[folder]

    async def _once(self, session: Session, folder: str) -> None:
        # Few daemons ever need these.
        from sidecar.session.desk.session_sync import sync  # noqa: PLC0415 - see above
        from sidecar.session.sync.sync_outcome import SyncWish  # noqa: PLC0415 - see above

        why = ""
        try:
            done = await sync(self._sessions, SyncWish(folder, if_agreed=True))
            why = next((note for note in done.notes if " refused it: " in note), "")
        except Cancelled:
            # The daemon ends, or the window is gone while its turn went on: the next sync sends it.
            return
        except SidecarError as error:
            why = error.message
        except Exception:
            # Whatever it is, it is no reason to end the daemon's work.
            logger.exception("a sync after a turn failed")
        if why and why != self._told.get(folder):
            session.notify("warning", FAILED.format(why=why))
        self._told[folder] = why
