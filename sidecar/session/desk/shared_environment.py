"""Shared by a daemon's sessions, built on first need."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from sidecar.core.errors import Cancelled, SidecarError
from sidecar.core.parts import JsonObject
from sidecar.session.environment import Environment
from sidecar.session.log.log_fold import version

STOPPING = "the daemon is stopping"


class SharedEnvironment:
    """`build` takes the editor's options and root folder; a failure fails only that request.

    `opening` is held while a session opens; `check` returns errors in options.
    """

    def __init__(
        self,
        build: Callable[[JsonObject, Path | None], Awaitable[Environment]],
        check: Callable[[JsonObject], str],
    ) -> None:
        self._build = build
        self._check = check
        self._options: JsonObject = {}
        self._group: asyncio.TaskGroup | None = None
        self.root: Path | None = None
        self.known: Environment | None = None
        self.opening = asyncio.Lock()
        self.stopping = False

    def configure(self, options: JsonObject, root: Path | None) -> str:
        """Set `initializationOptions` and root for later sessions; return any error.

        With an error no session opens: a part could allow more than the whole.
        """
        self.root, self._options = root, options
        return self._check(options)

    def run_in(self, group: asyncio.TaskGroup) -> None:
        self._group = group

    async def ready(self) -> Environment:
        async with self.opening:
            self.check_running()
            if self.known is None:
                self.known = await self._build(self._options, self.root)
                if self._group is not None:
                    self._group.create_task(self.known.workspaces.run())
            return self.known

    async def warm_up(self) -> None:
        """Load slow parts, so that no later call waits; what fails is told to whoever asks."""
        with suppress(SidecarError):
            await self.ready()
        # Read early: another version may be installed over these files later.
        await asyncio.to_thread(version)

    def check_running(self) -> None:
        """Raises `Cancelled` while stopping."""
        if self.stopping:
            raise Cancelled(STOPPING)
