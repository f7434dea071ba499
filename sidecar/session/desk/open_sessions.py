"""The open sessions of a daemon."""

from collections.abc import Iterator

from sidecar.core.parts import SessionId
from sidecar.session.lifecycle.session import Session
from sidecar.session.log.events import Event, StatusChanged, Watcher


class OpenSessions:
    """Sessions by id. Iteration covers those open at the start."""

    def __init__(self) -> None:
        self._by_id: dict[SessionId, Session] = {}
        self._told_busy = False

    def __iter__(self) -> Iterator[Session]:
        return iter(tuple(self._by_id.values()))

    def find(self, session_id: SessionId) -> Session | None:
        return self._by_id.get(session_id)

    def add(self, session: Session) -> None:
        self._by_id[session.id] = session

    def drop(self, session_id: SessionId) -> Session | None:
        return self._by_id.pop(session_id, None)

    def revision_of(self, session_id: str) -> int | None:
        session = self.find(SessionId(session_id))
        return None if session is None else session.opened().revision

    def waiting(self) -> int:
        return sum(session.prompts.waiting() for session in self)

    def busy_changed(self, session: Session) -> None:
        busy = any(session.prompts.busy for session in self)
        if busy == self._told_busy:
            return
        self._told_busy = busy
        title = session.row.title or "a new session"
        self.tell_all(StatusChanged(busy, f"working on: {title}" if busy else "ready"))

    def tell_all(self, event: Event) -> None:
        for watcher in {w for session in self for w in session.audience.watchers()}:
            watcher(event)

    def cancel_work(self, token: str | int) -> None:
        any(session.rewriting.works.cancel(token) for session in self)

    def detach(self, watcher: Watcher) -> None:
        for session in self:
            session.audience.detach(watcher)
