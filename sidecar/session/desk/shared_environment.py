"""Builds environments on first need."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from sidecar.core.errors import Cancelled, SidecarError
from sidecar.core.parts import JsonObject
from sidecar.session.desk.open_sessions import OpenSessions
from sidecar.session.desk.whole_work import begun, outcome
from sidecar.session.desk.window_environments import STOPPING
from sidecar.session.environment import Environment
from sidecar.session.log.log_fold import version


class SharedEnvironment:
    """Calls `build` with the editor's options and root; a failure fails only that request.

    `check` returns errors in options.
    """

    def __init__(
        self,
        build: Callable[[JsonObject, Path | None], Awaitable[Environment]],
        check: Callable[[JsonObject], str],
        sessions: OpenSessions,
    ) -> None:
        self._sessions = sessions
        self._build = build
        self._check = check
        self._options: JsonObject = {}
        self.root: Path | None = None
        self.known: Environment | None = None
        self._building: asyncio.Task[Environment | Exception] | None = None
        self._left = False

    def configure(self, options: JsonObject, root: Path | None) -> str:
        """Sets options for later sessions; returns any error.

        With an error no session opens: some options could allow more than all. An environment
        of other options or another root serves no later session.
        """
        if self.known is not None and (root, options) != (self.root, self._options):
            self._sessions.windows.leave(self.known)
            self.known = None
        self.root, self._options = root, options
        return self._check(options)

    async def ready(self) -> Environment:
        """Raises `Cancelled` while stopping."""
        self._sessions.check_running()
        # What is built may be of no use as it is ready: other options came meanwhile.
        while self.known is None and not self._left:
            if self._building is None:
                # It goes on where the one that asks, or the window, goes: half of it would stay.
                self._building = begun(self._sessions.group, self._built)
            await outcome(self._building)
        if self.known is None or self._left:
            raise Cancelled(STOPPING)
        return self.known

    async def _built(self) -> Environment:
        try:
            built = await self._newest()
        finally:
            self._building = None
        if self._left:
            await self.give_up()
        return built

    async def _newest(self) -> Environment:
        while True:
            given = self._options, self.root
            built = await self._build(*given)
            await self._sessions.windows.enter(built)
            if given == (self._options, self.root):
                break
            self._sessions.windows.leave(built)
        self.known = built
        await self._sessions.end_unused()
        return built

    def leave(self) -> None:
        self._left = True

    async def give_up(self) -> None:
        """Call once no request can open a session."""
        if self.known is not None:
            self._sessions.windows.leave(self.known)
            await self._sessions.end_unused()

    async def warm_up(self) -> None:
        with suppress(SidecarError):
            await self.ready()
        # Read early: another version may be installed over these files later.
        await asyncio.to_thread(version)
