"""Connections to a session, and whom to ask."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sidecar.core.dataclass import dataclass
from sidecar.core.errors import Cancelled, EditorGone, SidecarError
from sidecar.core.parts import Json, JsonObject, SessionId
from sidecar.session.changes.tracker import Tracking
from sidecar.session.environment import Environment
from sidecar.session.log.channel import Channel
from sidecar.session.log.events import Watcher
from sidecar.session.ownership import Ownership
from sidecar.tools.tool_contract import Client, PermissionOption, Terminals

NOBODY = "no editor is connected to this session any more"


@dataclass(frozen=True, slots=True, eq=False)
class Connected:
    """A connection; `environment` is its window's, if not the session's."""

    watcher: Watcher
    client: Client
    environment: Environment | None = None

    def shares(self, other: "Connected") -> bool:
        return self.environment is not None and self.environment is other.environment


class Audience:
    """A session's connections, newest last.

    `lasting`: the daemon outlives them, so a question waits for the next. `asker` returns the
    environment whose prompt runs.
    """

    def __init__(
        self,
        channel: Channel,
        tracking: Tracking,
        ownership: Ownership,
        environment: Environment,
        asker: Callable[[], object],
    ) -> None:
        self._asker = asker
        self._channel = channel
        self._environment = environment
        self._tracking = tracking
        self._ownership = ownership
        self.connected: tuple[Connected, ...] = ()
        self._stirred = asyncio.Event()
        self.lasting = environment.resident
        self.everyone = Everyone(self)

    def attach(
        self, watcher: Watcher, client: Client, environment: Environment | None = None
    ) -> None:
        """Sends events to `watcher`, and questions to `client`.

        A known connection becomes the newest, and keeps its questions.
        """
        known = (one for one in self.connected if (one.watcher, one.client) == (watcher, client))
        one = next(known, None) or Connected(watcher, client, environment)
        self._drop(watcher)
        self.connected = (*self.connected, one)
        self.stir()
        self._channel.attach(watcher)
        self._tracking.opened(writes=not self._ownership.read_only)

    def follow(self, watcher: Watcher) -> None:
        """Connects a watcher that cannot be asked."""
        self._channel.attach(watcher)

    def detach(self, watcher: Watcher) -> None:
        self._drop(watcher)
        self.stir()
        self._channel.detach(watcher)

    def leave(self, watcher: Watcher) -> bool:
        """Detaches a watcher if others listen, or have the turn that runs; returns whether."""
        own = next((one for one in self.connected if one.watcher == watcher), None)
        works_for = self._asker()
        of_another = works_for is not None and (own is None or own.environment is not works_for)
        if not of_another and all(one == watcher for one in self._channel.watchers):
            return False
        self.detach(watcher)
        return True

    def saved(self, path: Path) -> None:
        self._tracking.saved(path)

    def watchers(self) -> tuple[Watcher, ...]:
        return tuple(one.watcher for one in self.connected)

    def prompts(self, one: Connected) -> bool:
        return one.environment is not None and one.environment is self._asker()

    def is_own(self, one: Connected) -> bool:
        return one.environment in (None, self._environment)

    def _drop(self, watcher: Watcher) -> None:
        self.connected = tuple(one for one in self.connected if one.watcher != watcher)

    @property
    def heard(self) -> bool:
        """Whether any client or delegating session listens."""
        return bool(self._channel.watchers)

    def stir(self) -> None:
        """Wakes who waits for a connection or an answer."""
        self._stirred.set()

    async def stirred(self) -> None:
        self._stirred.clear()
        await self._stirred.wait()


class Everyone:
    """Puts questions to all windows, and other requests to one.

    Files: of windows that can, the one whose prompt runs, else the session's opener, else the
    newest. Tools: the opener, else the newest.

    If the asked window closes, its request fails with EditorGone and the turn goes on; with
    Cancelled if the daemon ends, too.
    """

    def __init__(self, audience: Audience) -> None:
        self._audience = audience

    @property
    def can_read_files(self) -> bool:
        return any(one.client.can_read_files for one in self._audience.connected)

    @property
    def can_write_files(self) -> bool:
        return any(one.client.can_write_files for one in self._audience.connected)

    @property
    def terminals(self) -> Terminals | None:
        """Terminals of the session's own window: another's secrets are unknown."""
        own = [one for one in self._audience.connected if self._audience.is_own(one)]
        return own[-1].client.terminals if own else None

    async def request_permission(
        self, session_id: SessionId, tool_call: JsonObject, options: tuple[PermissionOption, ...]
    ) -> str | None:
        """Returns the first answer; other clients' questions are withdrawn.

        Fails only once nobody present can be asked.
        """
        answers: dict[Connected, str | None] = {}
        failures: dict[Connected, SidecarError] = {}

        async def put(one: Connected) -> None:
            try:
                answers[one] = await one.client.request_permission(session_id, tool_call, options)
            except SidecarError as error:
                failures[one] = error
            self._audience.stir()

        asked: dict[Connected, asyncio.Task[None]] = {}
        vain: SidecarError | None = None
        async with asyncio.TaskGroup() as group:
            try:
                while not (answers or vain):
                    for one in self._audience.connected:
                        open_at = asked.keys() - failures.keys()
                        if one not in asked and not any(one.shares(other) for other in open_at):
                            asked[one] = group.create_task(put(one))
                    if len(failures) < len(asked) or not (vain := self._vain(failures)):
                        await self._audience.stirred()
            finally:
                for task in asked.values():
                    task.cancel()
        if vain is not None:
            raise vain
        return next(iter(answers.values()))

    def _vain(self, failures: dict[Connected, SidecarError]) -> SidecarError | None:
        """Says why no answer can come."""
        for one in reversed(self._audience.connected):
            if not isinstance(failures[one], Cancelled):
                return failures[one]
        return None if self._audience.lasting else Cancelled(NOBODY)

    async def call_tool(
        self, session_id: SessionId, call_id: str, name: str, tool_input: Json
    ) -> JsonObject:
        connected = self._audience.connected
        owner = max(reversed(connected), key=self._audience.is_own, default=None)
        with self._asking(owner) as client:
            return await client.call_tool(session_id, call_id, name, tool_input)

    async def read_text_file(self, session_id: SessionId, path: str) -> str:
        with self._asking(self._foremost(lambda client: client.can_read_files)) as client:
            return await client.read_text_file(session_id, path)

    async def write_text_file(self, session_id: SessionId, path: str, content: str) -> None:
        with self._asking(self._foremost(lambda client: client.can_write_files)) as client:
            await client.write_text_file(session_id, path, content)

    def _foremost(self, can: Callable[[Client], bool]) -> Connected | None:
        audience = self._audience
        able = [one for one in audience.connected if can(one.client)]
        ranks = {one: (audience.prompts(one), audience.is_own(one)) for one in able}
        return max(reversed(able), key=lambda one: ranks[one], default=None)

    @contextmanager
    def _asking(self, one: Connected | None) -> Iterator[Client]:
        gone = EditorGone if self._audience.lasting else Cancelled
        if one is None:
            raise gone(NOBODY)
        try:
            yield one.client
        except Cancelled as error:
            raise gone(error.message) from error
