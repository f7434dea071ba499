"""The environment that all sessions of a daemon share, built when a call first needs it."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from sidecar.core.errors import Cancelled, StorageFailed
from sidecar.core.parts import JsonObject
from sidecar.session.log.past import version
from sidecar.session.state import Environment

STOPPING = "the daemon is stopping"


class SharedEnvironment:
    """`build` makes the environment from the editor's options and root folder.

    Where `build` fails, the call that needed it fails alone. `opening` is held while something is
    opened, and `check` gives what is wrong with options. `known` is `None` before the first call.
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
        """Take the editor's `initializationOptions` and its workspace's root folder.

        Gives what is wrong with the options, else nothing. They hold for what is opened
        afterwards; wrong ones are left out as a whole.
        """
        self.root = root
        problem = self._check(options)
        self._options = {} if problem else options
        return problem

    def run_in(self, group: asyncio.TaskGroup) -> None:
        """Name the tasks that the environment's own work joins."""
        self._group = group

    async def ready(self) -> Environment:
        """Give what all sessions share, opening the store when it is first needed."""
        async with self.opening:
            self.check_running()
            if self.known is None:
                self.known = await self._build(self._options, self.root)
                if self.known.snapshots is not None and self._group is not None:
                    self._group.create_task(self.known.snapshots.run())
            return self.known

    async def warm_up(self) -> None:
        """Load what is slow, so that the first call that needs it need not wait."""
        with suppress(StorageFailed, Cancelled):
            await self.ready()
        # Before another version is installed over the files of this one.
        await asyncio.to_thread(version)

    def check_running(self) -> None:
        """Raise `Cancelled` when nothing is to be opened any more."""
        if self.stopping:
            raise Cancelled(STOPPING)
