"""A daemon's open sessions."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import count, product
from time import monotonic
from typing import TypeVar

from sidecar.core.dataclass import dataclass
from sidecar.core.errors import Cancelled, StorageFailed
from sidecar.core.parts import SessionId
from sidecar.session.desk.whole_work import begun, outcome
from sidecar.session.desk.window_environments import STOPPING, WindowEnvironments
from sidecar.session.environment import Environment
from sidecar.session.lifecycle.session import Session
from sidecar.session.log.events import Event, StatusChanged, Watcher
from sidecar.store.format.values import Owner

T = TypeVar("T")

HEARTBEAT = 5.0
"""Seconds between beats on the daemon's leases."""
SHUTDOWN = 1.5
"""Seconds for running turns to end their logs at the daemon's stop."""
NOBODY = (
    "The last turn waited for an answer while no window was open. It ended when the daemon did: "
    "send a prompt to go on."
)
OPENING = 1.0
"""Seconds for a session to be opened then; more only a slow disk takes."""
UNWATCHED = 60.0
"""Seconds until an idle session that nobody watches is closed."""
_WRITERS = count(1)


@dataclass(frozen=True, slots=True)
class RecordedSession:
    """A wrapped agent's session, and who writes it: none of the windows.

    `is_left` tells whether its tap has ended, of which there may be more to record.
    """

    session: Session
    owner: Owner
    is_left: Callable[[], bool]

    @property
    def busy(self) -> bool:
        return self.session.prompts.turning.locked()


class OpenSessions:
    """Open sessions by id; iterating covers those open at the start.

    `owner` names the daemon in leases. `opening` lets one session open at a time; its environment,
    `opening_with`, is kept even if its window closes. `recorded` are open beside these.
    """

    def __init__(self, owner: Owner) -> None:
        self.owner = owner
        self.opening = asyncio.Lock()
        self.opening_with: Environment | None = None
        self.group: asyncio.TaskGroup | None = None
        self.beside: set[asyncio.Task[None]] = set()
        """What `begin_beside` began."""
        self.replaced: dict[SessionId, Session] = {}
        """Sessions that are closed, to be opened anew for the same windows."""
        self._by_id: dict[SessionId, Session] = {}
        self.recorded: dict[SessionId, RecordedSession] = {}
        self.ending: dict[SessionId, tuple[Session | None, asyncio.Event]] = {}
        """Those that end, or are changed while closed; nobody opens them until the event."""
        self._told_busy: set[Watcher] = set()
        self.windows = WindowEnvironments()
        self._idle_since: dict[SessionId, float] = {}
        self._stopping = False
        self._ended = asyncio.Event()

    def __iter__(self) -> Iterator[Session]:
        return iter(tuple(self._by_id.values()))

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            self.group = self.windows.group = group
            beat = group.create_task(self._heartbeat())
            await self._ended.wait()
            beat.cancel()

    def check_running(self) -> None:
        if self._stopping:
            raise Cancelled(STOPPING)

    async def shutdown(self) -> None:
        # A session opened from here on would never be ended.
        self._stopping = True
        for task in self.beside:
            task.cancel()
        for session in self:
            await session.end()
        with suppress(TimeoutError):
            async with asyncio.timeout(SHUTDOWN):
                for session in self:
                    await session.ended()
        with suppress(TimeoutError):
            async with asyncio.timeout(OPENING), self.opening:
                pass
        for session in self:
            session.environment.forget(session.id)
            with suppress(StorageFailed):
                await self._release(session)
        await self.windows.close()
        self._ended.set()

    def find(self, session_id: SessionId) -> Session | None:
        return self._by_id.get(session_id)

    def start(self, session: Session) -> None:
        self.check_running()
        assert self.group is not None
        session.start(self.group)
        self._by_id[session.id] = session

    async def close(self, session: Session) -> None:
        async def let_go() -> None:
            # Another call may have ended it, and somebody opened it anew.
            if self.find(session.id) is None:
                await self._release(session)

        await self.end(session, let_go)
        await self.end_unused()

    async def end_unused(self) -> None:
        used = [session.environment for session in self]
        used += [session.environment for session, _ in self.ending.values() if session]
        opening = () if self.opening_with is None else (self.opening_with,)
        await self.windows.end_unused((*used, *opening))

    async def end(self, session: Session, then: Callable[[], Awaitable[T]]) -> T:
        """Ends a session, then does `then` before anybody opens it, though the caller is cancelled.

        Keeps the lease.
        """
        ends = self.find(session.id) is session
        if ends:
            # First: its clients must hear that its alerts end.
            session.environment.forget(session.id)
            del self._by_id[session.id]
            self.ending[session.id] = session, asyncio.Event()
        ending = partial(self._end_whole, session, then, ends=ends)
        try:
            task = begun(self.group, ending)
        except RuntimeError:
            # The group takes no task any more: the daemon ends.
            return await ending()
        return await outcome(task)

    async def _end_whole(
        self, session: Session, then: Callable[[], Awaitable[T]], *, ends: bool
    ) -> T:
        try:
            if ends:
                await session.end()
                await session.ended()
            else:
                await self._settled(session.id)
            return await then()
        finally:
            if ends:
                _, gone = self.ending.pop(session.id)
                gone.set()

    async def _settled(self, session_id: SessionId) -> None:
        """Waits while a session ends, which still writes."""
        while session_id in self.ending:
            await self.ending[session_id][1].wait()

    @asynccontextmanager
    async def opening_of(self, session_id: SessionId) -> AsyncIterator[None]:
        """Holds `opening` for a session that is not just ending."""
        while True:
            await self._settled(session_id)
            async with self.opening:
                if session_id not in self.ending:
                    yield
                    return

    async def _release(self, session: Session) -> None:
        await session.environment.store.leases.release(session.id, self.owner.token)

    def revision_of(self, session_id: str) -> int | None:
        session = self.find(SessionId(session_id))
        return None if session is None else session.row.revision

    @property
    def busy(self) -> bool:
        recorded = any(one.busy for one in self.recorded.values())
        return recorded or any(session.prompts.busy for session in self)

    def busy_changed(self, session: Session, *left: Watcher) -> None:
        """Tells watchers, those that `left` too, whether any session they watch is busy."""
        title = session.row.title or "a new session"
        busy = {w for one in self if one.prompts.busy for w in one.audience.watchers()}
        for watcher in (*session.audience.watchers(), *left):
            if (watcher in busy) != (watcher in self._told_busy):
                self._told_busy ^= {watcher}
                told = f"working on: {title}" if watcher in busy else "ready"
                watcher(StatusChanged(watcher in busy, told))

    def tell(self, event: Event, session_id: SessionId | None = None) -> None:
        """Tells a session's watchers, or all if there are none."""
        session = None if session_id is None else self.find(session_id)
        everyone = {watcher for one in self for watcher in one.audience.watchers()}
        for watcher in (() if session is None else session.audience.watchers()) or everyone:
            watcher(event)

    def cancel_work(self, token: str | int) -> None:
        any(session.rewriting.works.cancel(token) for session in self)

    def detach(self, watcher: Watcher) -> None:
        self._told_busy.discard(watcher)
        for session in (*self, *self.replaced.values()):
            session.audience.detach(watcher)

    async def _heartbeat(self) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT)
            tokens = {one.owner.token for one in self.recorded.values()}
            # A window may bring another store meanwhile, and one that fails holds no other up.
            for store, token in product(tuple(self.windows.stores), (self.owner.token, *tokens)):
                with suppress(StorageFailed):
                    await store.leases.beat(token)
            with suppress(StorageFailed):
                await self._close_unwatched()

    async def _close_unwatched(self) -> None:
        now = monotonic()
        idle = [s for s in self if s.audience.lasting and not (s.prompts.busy or s.audience.heard)]
        self._idle_since = {s.id: self._idle_since.get(s.id, now) for s in idle}
        for session in idle:
            if now - self._idle_since[session.id] >= UNWATCHED:
                async with self.opening:
                    if not (session.prompts.busy or session.audience.heard):
                        await self.close(session)


def another_writer(sessions: OpenSessions) -> Owner:
    """Whose sessions are to this daemon's windows as another daemon's."""
    return replace(sessions.owner, token=f"{sessions.owner.token}-writer-{next(_WRITERS)}")


def begin_beside(sessions: OpenSessions, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
    """Begins work that may be cut short at the daemon's end."""
    assert sessions.group is not None
    task = sessions.group.create_task(work)
    sessions.beside.add(task)
    task.add_done_callback(sessions.beside.discard)
    return task


def working(sessions: OpenSessions) -> bool:
    """Whether any turn is not awaiting the user."""
    return any(session.prompts.busy and not session.waits for session in sessions)


def give_questions_up(sessions: OpenSessions) -> None:
    """Tells turns awaiting an answer why `shutdown` will end them."""
    for session in sessions:
        if session.prompts.busy and session.delegating.bound is None:
            session.notify("warning", NOBODY)
