"""The sessions that are open in a daemon: found, told and asked as one."""

from collections.abc import Iterator

from sidecar.core.parts import SessionId
from sidecar.session.lifecycle.session import Session
from sidecar.session.log.events import Event, StatusChanged, Watcher


class OpenSessions:
    """Sessions by id. Iterating takes those that were open when it began."""

    def __init__(self) -> None:
        self._by_id: dict[SessionId, Session] = {}
        self._told_busy = False

    def __iter__(self) -> Iterator[Session]:
        return iter(tuple(self._by_id.values()))

    def find(self, session_id: SessionId) -> Session | None:
        """Give an open session; `None` if it is not open here."""
        return self._by_id.get(session_id)

    def add(self, session: Session) -> None:
        """A session was opened."""
        self._by_id[session.id] = session

    def drop(self, session_id: SessionId) -> Session | None:
        """A session is not to be found any more; gives it if it was open."""
        return self._by_id.pop(session_id, None)

    def revision_of(self, session_id: str) -> int | None:
        """Give an open session's revision."""
        session = self.find(SessionId(session_id))
        return None if session is None else session.opened().revision

    def busy(self) -> bool:
        """Whether any turn runs."""
        return any(session.prompts.busy for session in self)

    def waiting(self) -> int:
        """Count the prompts that wait in line in all sessions."""
        return sum(session.prompts.waiting() for session in self)

    def busy_changed(self, session: Session) -> None:
        """Tell every watcher when the daemon as a whole begins or ends to work."""
        busy = self.busy()
        if busy == self._told_busy:
            return
        self._told_busy = busy
        title = session.state.log.row.title or "a new session"
        self.tell_all(StatusChanged(busy, f"working on: {title}" if busy else "ready"))

    def tell_all(self, event: Event) -> None:
        """Tell whoever watches any session, once."""
        for watcher in {w for session in self for w in session.audience.watchers()}:
            watcher(event)

    def cancel_work(self, token: str | int) -> None:
        """Stop the work that is shown under this token."""
        any(session.rewriting.works.cancel(token) for session in self)

    def detach(self, watcher: Watcher) -> None:
        """A connection ended: nobody is told through it any more, and nothing waits for it."""
        for session in self:
            session.audience.detach(watcher)
