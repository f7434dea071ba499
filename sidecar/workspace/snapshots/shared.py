"""The snapshots of the folders that are worked in: one for each, whoever asks for it."""

import asyncio
import logging
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from sidecar.core.errors import BadRequest, SidecarError
from sidecar.core.parts import Json, JsonObject
from sidecar.store.snapshots import SnapshotRows
from sidecar.workspace.snapshots.choosing import Choose, choose
from sidecar.workspace.snapshots.reading import Limits
from sidecar.workspace.snapshots.snapshots import Snapshots

logger = logging.getLogger("sidecar.workspace")


class SharedSnapshots:
    """Opens a folder's snapshots when they are first asked for, and keeps them until `close`.

    `now` gives milliseconds since 1970. Methods belong to one event loop.
    """

    def __init__(
        self,
        rows: SnapshotRows,
        data_dir: Path,
        now: Callable[[], int],
        limits: Limits | None = None,
        watch: Choose | None = choose,
    ) -> None:
        self._rows = rows
        self._data_dir = data_dir
        self._now = now
        self._limits = limits
        self._watch = watch
        self._open: dict[str, Snapshots] = {}
        self._refused: dict[str, BadRequest] = {}
        self._opening = asyncio.Lock()
        self._group: asyncio.TaskGroup | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._ended = asyncio.Event()

    async def run(self) -> None:
        """Store in the background what the folders held at first, until `close`."""
        async with asyncio.TaskGroup() as group:
            self._group = group
            for made in self._open.values():
                self._follow(made)
            await self._ended.wait()
            self._group = None
            for task in self._tasks:
                task.cancel()

    async def of(self, folder: str) -> Snapshots:
        """Give a folder's snapshots.

        Raises:
            BadRequest: this folder can have none; the message says why.
            StorageFailed: the store cannot be read.
        """
        root = await asyncio.to_thread(os.path.realpath, folder)
        async with self._opening:
            if self._ended.is_set():
                raise BadRequest("Sidecar is stopping, so no snapshots are taken any more.")
            if root in self._refused:
                raise self._refused[root]
            if root not in self._open:
                self._open[root] = await self._begin(root)
            return self._open[root]

    async def _begin(self, root: str) -> Snapshots:
        try:
            made = await Snapshots.open(
                Path(root),
                self._rows,
                data_dir=self._data_dir,
                now=self._now,
                limits=self._limits,
                watch=self._watch,
            )
        except BadRequest as error:
            self._refused[root] = error
            raise
        self._follow(made)
        return made

    def _follow(self, made: Snapshots) -> None:
        if self._group is not None:
            self._tasks.append(self._group.create_task(_in_background(made)))

    def status(self) -> list[Json]:
        """Say for each folder how changes are noticed and what is stored, or why it has none."""
        told: list[Json] = [
            {"root": _legible(root), **made.status()} for root, made in self._open.items()
        ]
        refused: list[JsonObject] = [
            {"root": _legible(root), "mode": "none", "reason": error.message}
            for root, error in self._refused.items()
        ]
        return [*told, *refused]

    async def close(self) -> None:
        """Keep what was learned for the next start; twice is once."""
        async with self._opening:
            self._ended.set()
            for made in self._open.values():
                with suppress(SidecarError, OSError):
                    await made.close()
            self._open.clear()


async def _in_background(made: Snapshots) -> None:
    """Store the beginning and sweep; what fails here fails again, and louder, where it matters."""
    try:
        await made.run()
    except (SidecarError, OSError) as error:
        logger.warning("snapshots of %s: %s", made.root, error)


def _legible(root: str) -> str:
    return os.fsencode(root).decode("utf-8", "backslashreplace")
