"""The sessions of one daemon: open, resume, list, close and delete, by id."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import monotonic

from sidecar.config import Config, Problem
from sidecar.core.errors import Cancelled, StorageFailed
from sidecar.core.parts import Json, JsonObject, MessageId, PartId, SessionId
from sidecar.session.compaction.session_handoff import drafted, handoff, standing
from sidecar.session.desk.delegation import delegate
from sidecar.session.desk.settings_reload import take_over
from sidecar.session.epochs import known_instructions
from sidecar.session.epochs.session_params import not_ours, resolved, told_owner, warn
from sidecar.session.history.log_updates import replay as replay_history
from sidecar.session.interface import Handoff, NewSession, Opened, SessionSummary
from sidecar.session.lifecycle import fresh_window
from sidecar.session.lifecycle.assembly import compose
from sidecar.session.lifecycle.damage import open_log
from sidecar.session.lifecycle.fork import fork
from sidecar.session.lifecycle.new_session import found, summary_of
from sidecar.session.lifecycle.ownership import become_writer
from sidecar.session.lifecycle.session import Session
from sidecar.session.log.events import Event, StatusChanged, Watcher
from sidecar.session.log.losses import tell_damage
from sidecar.session.log.past import version
from sidecar.session.log.session_log import SessionLog
from sidecar.session.meter.widen import widen
from sidecar.session.state import Environment, State
from sidecar.session.transfer.archive import Archived, archive, check_idle, ground_of, require
from sidecar.session.transfer.erasure import delete, erase_archived, put_aside
from sidecar.store.format.values import Owner
from sidecar.tools.tool_contract import Client
from sidecar.workspace.buffers import Buffers

HEARTBEAT = 5.0
"""Seconds between signs of life on this daemon's leases."""
SHUTDOWN = 1.5
"""Seconds that running turns get to make their logs whole when the daemon stops."""
STOPPING = "the daemon is stopping"


class Sessions:
    """All sessions that are open in this daemon, over one store.

    `open_environment` builds what they share when a call first needs it, and fails that call alone.
    """

    def __init__(
        self,
        open_environment: Callable[[JsonObject, Path | None], Awaitable[Environment]],
        buffers: Buffers,
        owner: Owner,
        describe: Callable[[Environment | None], JsonObject],
        check: Callable[[JsonObject], str],
    ) -> None:
        self._open_environment = open_environment
        self._describe = describe
        self._check = check
        self._environment: Environment | None = None
        self._opening = asyncio.Lock()
        self._owner = owner
        self._options: JsonObject = {}
        self._root: Path | None = None
        self._open: dict[SessionId, Session] = {}
        self._started = monotonic()
        self._told_busy = False
        self._group: asyncio.TaskGroup | None = None
        self._ended = asyncio.Event()
        self._stopping = False
        self._buffers = buffers

    async def run(self) -> None:
        """Hold the tasks of all sessions until `shutdown`."""
        async with asyncio.TaskGroup() as group:
            self._group = group
            beat = group.create_task(self._heartbeat())
            await self._ended.wait()
            beat.cancel()

    def configure(self, options: JsonObject, root: Path | None) -> str:
        """Take the editor's `initializationOptions` and its workspace's root folder.

        Gives what is wrong with the options, else nothing. They hold for what is opened
        afterwards; wrong ones are left out as a whole.
        """
        self._root = root
        problem = self._check(options)
        self._options = {} if problem else options
        return problem

    @property
    def root(self) -> Path | None:
        """The workspace's root folder, where the editor named one."""
        return self._root

    async def ready(self) -> Environment:
        """Give what all sessions share, opening the store when it is first needed."""
        async with self._opening:
            if self._stopping:
                raise Cancelled(STOPPING)
            if self._environment is None:
                self._environment = await self._open_environment(self._options, self._root)
                if self._environment.snapshots is not None and self._group is not None:
                    self._group.create_task(self._environment.snapshots.run())
            return self._environment

    def reload(self, config: Config, problems: tuple[Problem, ...]) -> None:
        """Take over settings that changed, where that is safe, and tell every session."""
        take_over(self._environment, self._open.values(), config, problems)

    async def warm_up(self) -> None:
        """Load what is slow, so that the first call that needs it need not wait."""
        with suppress(StorageFailed, Cancelled):
            await self.ready()
        # Before another version is installed over the files of this one.
        await asyncio.to_thread(version)

    def open_document(self, path: str, text: str, version: int) -> None:
        """Remember what the editor shows of a file, saved or not."""
        self._buffers.set(Path(path), text, version)

    def close_document(self, path: str) -> None:
        """From now on the file is read from disk."""
        self._buffers.close(Path(path))

    def saved_document(self, path: str) -> None:
        """The editor has written a file: what changes there is its user's work."""
        for session in self._open.values():
            session.state.tracking.saved(Path(path))

    def revision_of(self, session_id: str) -> int | None:
        """Give an open session's revision."""
        session = self._open.get(SessionId(session_id))
        return None if session is None else session.opened().revision

    def cancel_work(self, token: str | int) -> None:
        """Stop the work that is shown under this token."""
        any(session.rewriting.works.cancel(token) for session in self._open.values())

    async def shutdown(self) -> None:
        """Stop every turn, make every log whole and durable, give up the leases."""
        # What is being opened now would have nobody to end it.
        self._stopping = True
        for session in tuple(self._open.values()):
            await session.end()
        with suppress(TimeoutError):
            async with asyncio.timeout(SHUTDOWN):
                for session in tuple(self._open.values()):
                    await session.ended()
        async with self._opening:
            environment = self._environment
        if environment is not None:
            for session_id in tuple(self._open):
                environment.forget(session_id)
                with suppress(StorageFailed):
                    await environment.store.leases.release(session_id, self._owner.token)
            if environment.snapshots is not None:
                await environment.snapshots.close()
            await environment.store.close()
        self._ended.set()

    def busy(self) -> bool:
        """Whether any turn runs."""
        return any(session.prompts.busy for session in self._open.values())

    def status(self) -> JsonObject:
        """Say how the daemon is, as `daemon/status` answers."""
        sessions: list[Json] = [
            {"sessionId": s.id, "busy": s.prompts.busy, "revision": s.opened().revision}
            for s in self._open.values()
        ]
        return {
            **self._describe(self._environment),
            "uptimeMs": round((monotonic() - self._started) * 1000),
            "sessions": sessions,
        }

    async def new(self, request: NewSession, client: Client, watcher: Watcher) -> Opened:
        """Open a new session in a workspace; it is durable when this returns.

        Raises:
            BadRequest: the folder, a tool or a number cannot be used; `path` says which.
            UnknownSession: there is none like its parent.
            StorageFailed: the store cannot keep it.
        """
        environment = await self.ready()
        session = await self._begin(await found(environment, request))
        session.audience.attach(watcher, client)
        warn(session.state)
        return session.opened()

    async def fork(
        self,
        session_id: SessionId,
        at_message: MessageId | None,
        client: Client,
        watcher: Watcher,
    ) -> Opened:
        """Branch a session off, open it and watch it; see `forking.fork`."""
        session = await self.get(await fork(await self.ready(), session_id, at_message))
        session.audience.attach(watcher, client)
        return session.opened()

    async def handoff(
        self, session_id: SessionId, goal: str, client: Client, watcher: Watcher, *, go_on: bool
    ) -> Handoff:
        """Draft the first prompt of a session with a goal, and with `go_on` open one that knows.

        Raises:
            UnknownSession: there is no such session.
            BadRequest: the goal is empty, or the folder of what is to go on is gone.
        """
        environment = await self.ready()
        if not go_on:
            return Handoff(*await handoff(environment, session_id, goal))
        found = await standing(environment, session_id)
        log = await fresh_window.go_on(environment, found, goal)
        session = await self.get(log.row.id)
        session.audience.attach(watcher, client)
        return Handoff(*drafted(found, goal), session.id)

    async def list(
        self, cwd: str | None, cursor: str | None, limit: int
    ) -> tuple[tuple[SessionSummary, ...], str | None]:
        """Give a page of sessions, newest first, and the cursor of the next page."""
        environment = await self.ready()
        folder = None if cwd is None else await asyncio.to_thread(resolved, cwd)
        page = await environment.store.sessions.page(cwd=folder, before=cursor, limit=limit)
        return tuple(map(summary_of, page.rows)), page.next

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
        """Open a session again, show its history through `emit`, and watch it from then on.

        Succeeds read-only when another daemon writes the session.

        Raises:
            UnknownSession: there is none with this id.
        """
        session = await self.get(session_id, window=True)
        rest = await replay_history(session.state, after, emit) if replay else None
        session.audience.attach(watcher, client)
        # What streams right now is shown without a pause, so that nothing falls between.
        for event in () if rest is None else rest():
            watcher(event)
        if self._open.get(session_id) is not session:
            # The session of a subtask that ended while its history was shown.
            session = await self.get(session_id, window=True)
            session.audience.attach(watcher, client)
        return session.opened()

    async def get(self, session_id: SessionId, *, window: bool = False) -> Session:
        """Give a session, opening it if need be; with `window` a part of its log may do.

        Raises:
            UnknownSession: there is none with this id.
        """
        session = await self._get(session_id)
        if not window:
            await widen(session.state)
        return session

    async def _get(self, session_id: SessionId) -> Session:
        environment = await self.ready()
        async with self._opening:
            known = self._open.get(session_id)
            if known is not None:
                if known.state.read_only and not await self._take_over(known.state):
                    await self._read_again(known.state)
                return known
            await require(environment.store.sessions, environment.config.data_dir, session_id)
            writes, owner = await become_writer(environment.store.leases, session_id, self._owner)
            log, problems = await open_log(environment, session_id, writes=writes)
            session = self._start(self._state(environment, log, read_only=not writes, owner=owner))
            if writes:
                tell_damage(log, session.state.channel, problems)
                await session.recover()
            return session

    async def archive(self, session_id: SessionId) -> tuple[Archived, ...]:
        """Put a session away into a bundle; see `archiving.archive`. A running turn forbids it."""
        environment = await self.ready()
        session = self._open.get(session_id)
        check_idle(session is not None and session.prompts.busy)
        await require(environment.store.sessions, environment.config.data_dir, session_id)
        if session is not None:
            await self.close(session_id)
        return await archive(ground_of(environment, self._owner), session_id)

    async def close(self, session_id: SessionId) -> None:
        """End a session's task and give up its lease; it stays in the store."""
        environment = await self.ready()
        environment.forget(session_id)
        session = self._open.pop(session_id, None)
        if session is None:
            await environment.store.sessions.row(session_id)
            return
        await session.end()
        await session.ended()
        if session_id not in self._open:
            await environment.store.leases.release(session_id, self._owner.token)

    async def delete(self, session_id: SessionId, *, force: bool = False) -> tuple[str, ...]:
        """Remove a session and all that only it held, says where else; `force` ends its turn."""
        environment = await self.ready()
        if await erase_archived(environment, session_id):
            return await put_aside(environment)
        session = await self.get(session_id, window=True)
        if session.state.read_only:
            raise not_ours(session.state)
        check_idle(session.prompts.busy and not force, "delete with force, which cancels it")
        await session.end()
        await session.ended()
        self._open.pop(session_id, None)
        environment.forget(session_id)
        return await delete(environment, self._owner, session.state.log.row)

    def detach(self, watcher: Watcher) -> None:
        """A connection ended: nobody is told through it any more, and nothing waits for it."""
        for session in self._open.values():
            session.audience.detach(watcher)

    def _busy_changed(self, session: Session) -> None:
        """Tell every watcher when the daemon as a whole begins or ends to work."""
        busy = self.busy()
        if busy == self._told_busy:
            return
        self._told_busy = busy
        title = session.state.log.row.title or "a new session"
        self.tell_all(StatusChanged(busy, f"working on: {title}" if busy else "ready"))

    def tell_all(self, event: Event) -> None:
        """Tell whoever watches any session, once."""
        for watcher in {w for s in self._open.values() for w in s.audience.watchers()}:
            watcher(event)

    def waiting(self) -> int:
        """Count the prompts that wait in line in all sessions."""
        return sum(session.prompts.waiting() for session in tuple(self._open.values()))

    async def _begin(self, log: SessionLog) -> Session:
        environment = await self.ready()
        await environment.store.leases.acquire(log.row.id, self._owner)
        return self._start(self._state(environment, log, read_only=False, owner=None))

    def _start(self, state: State) -> Session:
        if self._stopping:
            raise Cancelled(STOPPING)
        session = Session(state, self._busy_changed)
        state.delegate = partial(delegate, session, self._begin, self.close)
        assert self._group is not None
        session.start(self._group)
        self._open[session.id] = session
        known_instructions.follow(state)
        return session

    def _state(
        self, environment: Environment, log: SessionLog, *, read_only: bool, owner: Owner | None
    ) -> State:
        told = told_owner(owner)
        return compose(environment, log, self._take_over, read_only=read_only, owner=told)

    async def _take_over(self, state: State) -> bool:
        """Try to become the writer of a session that another daemon had; its log is read anew."""
        session_id = state.log.row.id
        writes, owner = await become_writer(state.store.leases, session_id, self._owner)
        if not writes:
            state.owner = told_owner(owner)
            return False
        await self._read_again(state)
        state.read_only, state.owner, state.compared = False, None, False
        state.channel.skip_to(state.log.row.seq)
        await self._open[session_id].recover()
        return True

    async def _read_again(self, state: State) -> None:
        stored = await state.store.logs.load(state.log.row.id)
        log = SessionLog(state.store, stored, state.clock.now)
        fresh = self._state(state.environment, log, read_only=True, owner=None)
        state.log, state.view = fresh.log, fresh.view
        state.views, state.cached = fresh.views, fresh.cached

    async def _heartbeat(self) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT)
            if self._environment is not None:
                with suppress(StorageFailed):
                    await self._environment.store.leases.beat(self._owner.token)
