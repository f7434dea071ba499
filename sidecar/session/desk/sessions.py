"""A window's sessions."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from time import monotonic

from sidecar.config.layers import Resolved
from sidecar.config.reload import CurrentSettings
from sidecar.core.parts import Json, JsonObject, MessageId, PartId, SessionId
from sidecar.session.compaction.session_handoff import drafted, handoff, standing
from sidecar.session.desk.delegation import delegate
from sidecar.session.desk.editor_documents import EditorDocuments
from sidecar.session.desk.open_sessions import OpenSessions
from sidecar.session.desk.session_search import SessionHits, search
from sidecar.session.desk.settings_reload import passed_over, take_over
from sidecar.session.desk.shared_environment import SharedEnvironment
from sidecar.session.desk.whole_work import begun, outcome
from sidecar.session.environment import Environment
from sidecar.session.epochs.session_params import resolved
from sidecar.session.interface import Handoff, NewSession, Opened, SessionSummary
from sidecar.session.lifecycle import fresh_window
from sidecar.session.lifecycle.assembly import compose
from sidecar.session.lifecycle.damage import open_log
from sidecar.session.lifecycle.fork import fork
from sidecar.session.lifecycle.new_session import found, summary_of
from sidecar.session.lifecycle.session import Session
from sidecar.session.lifecycle.session_title import rename_stored
from sidecar.session.log.channel import tell_damage
from sidecar.session.log.events import Event, Watcher
from sidecar.session.log.session_log import SessionLog
from sidecar.session.ownership import Ownership
from sidecar.session.state import State
from sidecar.session.transfer.archive import (
    Archived,
    Ground,
    archive,
    check_idle,
    ground_of,
    require,
)
from sidecar.session.transfer.erasure import delete, erase_archived, put_aside
from sidecar.tools.tool_contract import Client
from sidecar.workspace.buffers import Buffers


def _nothing(_: Session) -> None: ...


class Sessions:
    """A window's access to sessions; `folder` is its current one.

    `open_environment` runs on first need; its failure fails only that call.
    """

    def __init__(
        self,
        open_environment: Callable[[JsonObject, Path | None], Awaitable[Environment]],
        buffers: Buffers,
        sessions: OpenSessions,
        describe: Callable[[Environment | None], JsonObject],
        check: Callable[[JsonObject], str],
        folder: Path,
    ) -> None:
        self.folder = folder
        self.shared = SharedEnvironment(open_environment, check, sessions)
        self.open = sessions
        self.documents = EditorDocuments(buffers, self.open)
        self._describe = describe
        self._started = monotonic()
        self.heard: Callable[[Session], None] = _nothing
        """Called as turns of this window's sessions begin and end."""

    def reload(self, settings: CurrentSettings, resolved: Resolved) -> None:
        """Has an environment's `settings` and sessions take over what was read again."""
        own = [session for session in self.open if session.environment.settings is settings]
        take_over(settings, own, resolved)

    def leave(self) -> None:
        """Leaves the closed window's turns going."""
        self.documents.close_all()
        self.shared.leave()

    def status(self) -> JsonObject:
        sessions: list[Json] = [
            {"sessionId": s.id, "busy": s.prompts.busy, "revision": s.row.revision}
            for s in self.open
        ]
        return {
            **self._describe(self.shared.known),
            "uptimeMs": round((monotonic() - self._started) * 1000),
            "sessions": sessions,
        }

    async def new(self, request: NewSession, client: Client, watcher: Watcher) -> Opened:
        environment = await self.shared.ready()
        session = await self._begin(environment, await found(environment, request))
        self.join(session, watcher, client)
        session.caveats.tell()
        await self._tell_passed_over(session)
        return session.opened()

    async def fork(
        self,
        session_id: SessionId,
        at_message: MessageId | None,
        client: Client,
        watcher: Watcher,
    ) -> Opened:
        environment = await self.shared.ready()
        made = await fork(environment.store, environment.clock, session_id, at_message)
        session = await self.get(made)
        self.join(session, watcher, client)
        await self._tell_passed_over(session)
        return session.opened()

    async def handoff(
        self, session_id: SessionId, goal: str, client: Client, watcher: Watcher, *, go_on: bool
    ) -> Handoff:
        """Drafts a first prompt; `go_on` also opens a session with the work.

        Raises UnknownSession, BadRequest for an empty goal or, with `go_on`, a missing folder.
        """
        environment = await self.shared.ready()
        store, clock = environment.store, environment.clock
        if not go_on:
            return Handoff(*await handoff(store, clock, session_id, goal))
        found = await standing(store, clock, session_id)
        log = await fresh_window.go_on(environment, found, goal)
        session = await self.get(log.row.id)
        self.join(session, watcher, client)
        await self._tell_passed_over(session)
        return Handoff(*drafted(found, goal), session.id)

    async def list(
        self, cwd: str | None, cursor: str | None, limit: int
    ) -> tuple[tuple[SessionSummary, ...], str | None]:
        """Lists newest first; returns the next page's cursor, too."""
        environment = await self.shared.ready()
        folder = None if cwd is None else await asyncio.to_thread(resolved, cwd)
        page = await environment.store.sessions.page(cwd=folder, before=cursor, limit=limit)
        return tuple(map(summary_of, page.rows)), page.next

    async def search(
        self, query: str, cwd: str | None, cursor: str | None, limit: int
    ) -> tuple[tuple[SessionHits, ...], str | None]:
        """Searches as `session_search.search`."""
        environment = await self.shared.ready()
        folder = None if cwd is None else await asyncio.to_thread(resolved, cwd)
        return await search(environment.store, query, folder, cursor, limit, monotonic)

    async def load(
        self,
        session_id: SessionId,
        client: Client,
        watcher: Watcher,
        *,
        replay: bool,
        after: PartId | None,
        emit: Callable[[Event], Awaitable[None]],
    ) -> Opened:
        """Shows the history through `emit`, then watches.

        The session is read-only while another daemon writes. Raises UnknownSession.
        """
        session = await self.get(session_id)
        rest = await session.replay.tell(after, emit) if replay else None
        self.join(session, watcher, client)
        # The streaming answer is shown without an await between, so that no event is missed.
        for event in () if rest is None else rest():
            watcher(event)
        if self.open.find(session_id) is not session:
            # A subtask's session closed while the history was shown.
            session = await self.get(session_id)
            self.join(session, watcher, client)
        await self._tell_passed_over(session)
        return session.opened()

    def join(self, session: Session, watcher: Watcher, client: Client) -> None:
        session.audience.attach(watcher, client, self.shared.known)
        self.open.busy_changed(session)

    async def _tell_passed_over(self, session: Session) -> None:
        folder, workspace = Path(session.row.cwd), self.shared.root
        if passed := await asyncio.to_thread(passed_over, folder, workspace):
            session.notify("warning", passed)

    async def get(self, session_id: SessionId) -> Session:
        """Opens a session if need be. Raises UnknownSession."""
        environment = await self.shared.ready()
        async with AsyncExitStack() as held:
            await held.enter_async_context(self.open.opening_of(session_id))
            known = self.open.find(session_id)
            if known is not None and not self._takes_over(known, environment):
                await known.refresh()
                return known
            self.open.check_running()
            if known is None:
                environment = self._whose(session_id, environment)
            opening = partial(self._opened_whole, environment, session_id, known, held.pop_all())
            return await outcome(begun(self.open.group, opening))

    def _whose(self, session_id: SessionId, environment: Environment) -> Environment:
        """Chooses a window that has a session which is only out of its hands, else `environment`.

        So nobody's trust and rules come in by opening it just then.
        """
        held = self.open.replaced.get(session_id)
        if held is None or not held.audience.connected:
            return environment
        connected = held.audience.connected
        own = any(map(held.audience.is_own, connected))
        of = held.environment if own else connected[0].environment
        return environment if of is None or self.open.windows.is_left(of) else of

    async def _opened_whole(
        self,
        environment: Environment,
        session_id: SessionId,
        before: Session | None,
        held: AsyncExitStack,
    ) -> Session:
        """To be gone on with if the window closes: others would have half a session."""
        async with held:
            self.open.opening_with = environment
            try:
                return await self._opened(environment, session_id, before)
            finally:
                self.open.opening_with = None
                if before is not None:
                    self.open.replaced.pop(session_id, None)
                await self.open.end_unused()

    async def _opened(
        self, environment: Environment, session_id: SessionId, before: Session | None
    ) -> Session:
        """Replaces `before`, or one out of windows' hands, whose watchers stay."""
        if before is not None:
            self.open.replaced[session_id] = before
            await self.open.close(before)
        await require(environment.store, session_id)
        ownership = Ownership(environment.store, session_id, self.open.owner)
        writes = await ownership.claim()
        log, problems = await open_log(environment, session_id, writes=writes)
        if writes:
            ownership.take()
        state = compose(environment, log, ownership)
        session = self._start(state)
        old = self.open.replaced.get(session_id)
        if old is not None:
            # "Always" holds until the user closes the session, and by another window's rules less.
            session.permissions.go_on(
                old.permissions.answered, allowing=old.environment is environment
            )
        if writes:
            tell_damage(log, state.channel, problems)
            await session.recover()
        for one in () if old is None else old.audience.connected:
            session.audience.attach(one.watcher, one.client, one.environment)
        self.open.replaced.pop(session_id, None)
        return session

    def _takes_over(self, session: Session, environment: Environment) -> bool:
        """Whether `environment` takes over from a window that is lost, or let go of the session."""
        of, audience = session.environment, session.audience
        if of is environment or of.store is not environment.store or session.prompts.busy:
            return False
        # One that nobody has yet is opened for a request that waits for it.
        let_go = bool(audience.connected) and not any(map(audience.is_own, audience.connected))
        return let_go or self.open.windows.is_left(of)

    async def rename(self, session_id: SessionId, wanted: str) -> str:
        """Opens no session: an open one has the rules of the window that opened it.

        Returns the title. Raises as `session_title.rename`, UnknownSession.
        """
        environment = await self.shared.ready()
        async with self.open.opening_of(session_id):
            session = self.open.find(session_id)
            if session is None:
                return await rename_stored(environment.store, session_id, self.open.owner, wanted)
        return await session.rename(wanted)

    async def archive(self, session_id: SessionId) -> tuple[Archived, ...]:
        environment = await self.shared.ready()
        async with self.open.opening_of(session_id):
            session = self.open.find(session_id)
        check_idle(session is not None and session.prompts.busy)
        await require(environment.store, session_id)
        if session is not None:
            await self.close(session_id)
        return await archive(self._ground(environment), session_id)

    async def close(self, session_id: SessionId, watcher: Watcher | None = None) -> None:
        """Ends a session; by a `watcher`, only that watcher's part if others are at it."""
        self.open.check_running()
        session = self.open.find(session_id)
        if session is None:
            environment = await self.shared.ready()
            await environment.store.sessions.row(session_id)
            if watcher is not None and (held := self.open.replaced.get(session_id)):
                held.audience.detach(watcher)
        elif watcher is not None and session.audience.leave(watcher):
            self.open.busy_changed(session, watcher)
        else:
            await self.open.close(session)

    async def delete(self, session_id: SessionId, *, force: bool = False) -> tuple[str, ...]:
        """Deletes the data, too; `force` ends a running turn.

        Returns sentences on damaged stores put aside, which may hold copies.
        """
        environment = await self.shared.ready()
        if await erase_archived(environment.store, session_id):
            return await put_aside(environment.store)
        session = await self.get(session_id)
        await session.writable(None)
        check_idle(session.prompts.busy and not force, "delete with force, which cancels it")
        ground, row = self._ground(environment), session.row
        return await self.open.end(session, lambda: delete(ground, environment.workspaces, row))

    def _ground(self, environment: Environment) -> Ground:
        return ground_of(environment.store, environment.clock.now, self.open.owner)

    def _busy_changed(self, session: Session) -> None:
        self.open.busy_changed(session)
        self.heard(session)

    async def _begin(
        self, environment: Environment, log: SessionLog, above: State | None = None
    ) -> Session:
        ownership = Ownership(environment.store, log.row.id, self.open.owner)
        await ownership.claim()
        ownership.take()
        return self._start(compose(environment, log, ownership, above))

    def _start(self, state: State) -> Session:
        session = Session(state, self._busy_changed)
        # Where the window is gone, the turn goes on.
        begin = partial(self._begin, state.environment)
        session.delegating.delegate = partial(delegate, session, state, begin, self.close)
        self.open.start(session)
        return session


async def watched(
    sessions: Sessions, session_id: SessionId, client: Client, watcher: Watcher
) -> Session:
    """Opens a session in which a window has work done, and has that window watch."""
    session = await sessions.get(session_id)
    if watcher in session.audience.watchers():
        return session
    sessions.join(session, watcher, client)
    # A window that only asked about it, and has it no more, leaves no rules in it.
    return await sessions.get(session_id)
