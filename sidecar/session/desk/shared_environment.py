"""Shared by the sessions that a window opens, built on first need."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from sidecar.core.errors import Cancelled, SidecarError
from sidecar.core.parts import JsonObject
from sidecar.session.desk.open_sessions import OpenSessions
from sidecar.session.desk.window_environments import STOPPING
from sidecar.session.environment import Environment
from sidecar.session.log.log_fold import version


class SharedEnvironment:
    """`build` takes the editor's options and root folder; a failure fails only that request.

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
        self._building = asyncio.Lock()
        self._left = False

    def configure(self, options: JsonObject, root: Path | None) -> str:
        """Set `initializationOptions` and root for later sessions; return any error.

        With an error no session opens: a part could allow more than the whole.
        """
        self.root, self._options = root, options
        return self._check(options)

    async def ready(self) -> Environment:
        """Raises `Cancelled` while stopping."""
        async with self._building:
            self._sessions.check_running()
            if self._left:
                raise Cancelled(STOPPING)
            if self.known is None:
                built = await self._build(self._options, self.root)
                await self._sessions.windows.enter(built)
                self.known = built
            return self.known

    async def leave(self) -> None:
        """The window is gone: what is being built is entered, and nothing more is."""
        self._left = True
        async with self._building:
            return

    async def give_up(self) -> None:
        """No request of the window is under way any more, which could open a session."""
        if self.known is not None:
            self._sessions.windows.leave(self.known)
            await self._sessions.end_unused()

    async def warm_up(self) -> None:
        """Load slow parts, so that no later call waits; what fails is told to whoever asks."""
        with suppress(SidecarError):
            await self.ready()
        # Read early: another version may be installed over these files later.
        await asyncio.to_thread(version)
