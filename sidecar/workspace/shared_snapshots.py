"""Shares snapshots of folders among sessions."""

import asyncio
import logging
import os
from collections import defaultdict
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from sidecar.core.errors import BadRequest, SidecarError
from sidecar.core.files.reconcile import Sizes
from sidecar.core.files.tree import Delta, above
from sidecar.core.parts import Json, JsonObject
from sidecar.core.text.digest import digest
from sidecar.store.journal import Store
from sidecar.workspace.paths import printable
from sidecar.workspace.restore.recovery import OnTouched, recover, settle
from sidecar.workspace.restore.restore_outcome import Recovered
from sidecar.workspace.snapshots.snapshots import FolderClosed, Snapshots
from sidecar.workspace.snapshots.steady_read import USUAL, Limits
from sidecar.workspace.snapshots.watch.watch_choice import ChooseWatch, choose

logger = logging.getLogger("sidecar.workspace")

RECHECK_EVERY = 10 * 60_000
"""Milliseconds between looks at all files where events are trusted."""


class _How(Protocol):
    async def __call__(
        self, root: Path, store: Store, *, touched: OnTouched | None = None
    ) -> Recovered | None: ...


class SharedSnapshots:
    """Opened on first use, and kept until `close`.

    `now`: milliseconds since 1970. Bound to one event loop.
    """

    def __init__(
        self,
        store: Store,
        data_dir: Path,
        now: Callable[[], int],
        limits: Limits = USUAL,
        watch: ChooseWatch | None = choose,
        recheck_every: int = RECHECK_EVERY,
    ) -> None:
        self._store = store
        self._data_dir = data_dir
        self._now = now
        self._limits = limits
        self._watch = watch
        self._recheck_every = recheck_every
        self._rechecked: dict[Snapshots, int] = {}
        self._open: dict[str, Snapshots] = {}
        self._refused: dict[str, BadRequest] = {}
        self.news: dict[str, str] = {}
        """Outcomes of interrupted restores by folder, each to be told once."""
        self._ending: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._opening = asyncio.Lock()
        self._group: asyncio.TaskGroup | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._ended = asyncio.Event()

    @property
    def sizes(self) -> Sizes:
        """Limits in bytes."""
        most = self._limits
        return Sizes(most.untracked, most.tracked, most.snapshot, most.workspace)

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            self._group = group
            self._tasks.append(group.create_task(self._settle_all()))
            for made in self._open.values():
                self._follow(made)
            await self._ended.wait()
            self._group = None
            for task in self._tasks:
                task.cancel()

    async def of(self, folder: str) -> Snapshots:
        """Raises BadRequest if impossible, or StorageFailed."""
        root = await asyncio.to_thread(os.path.realpath, folder)
        async with self._opening:
            if self._ended.is_set():
                raise BadRequest("Sidecar is stopping, so no snapshots are taken any more.")
            if root in self._refused:
                raise self._refused[root]
            if root not in self._open:
                self._open[root] = await self._begin(root)
            return self._open[root]

    async def recover(self, folder: str) -> None:
        """Ends a dead process's restore; puts the outcome into `news`."""
        root = await asyncio.to_thread(os.path.realpath, folder)
        try:
            ended = await self._end(root, recover)
        except SidecarError as error:
            self.news[root] = error.message
        else:
            if ended is not None:
                # An outcome settled in this process is more precise.
                self.news.setdefault(root, _told(ended))

    async def _settle_all(self) -> None:
        try:
            roots = [os.fsdecode(root) for root in await self._store.restores.roots()]
        except SidecarError as error:
            logger.warning("restores that were broken off are not known: %s", error)
            return
        for root in roots:
            try:
                ended = await self._end(root, settle)
            except (SidecarError, OSError) as error:
                logger.warning("a restore in %s: %s", printable(root), error)
                continue
            if ended is not None:
                self.news[root] = _told(ended)
                logger.warning("in %s: %s", printable(root), self.news[root])

    async def _end(self, root: str, how: _How) -> Recovered | None:
        # Users of a folder wait until its restore has ended.
        async with self._ending[root]:
            made = self._open.get(root)
            touched = None if made is None else made.mark_dirty
            return await how(Path(root), self._store, touched=touched)

    def recheck(self, made: Snapshots) -> None:
        now = self._now()
        due = self._rechecked.get(made, -self._recheck_every) + self._recheck_every
        if self._group is None or now < due or made.status()["mode"] == "rescan":
            return
        self._rechecked[made] = now
        self._in_background(_recheck(made))

    def look_ahead(self, folder: str) -> None:
        """Snapshots in the background, so turns find only changes."""
        if self._group is not None:
            self._in_background(self._look(folder))

    async def own(self, real: Path, text: str) -> None:
        """Notes durably that the daemon will write a file; raises StorageFailed."""
        name = digest(text.encode("utf-8", "surrogateescape"))
        await self._store.facts.writes(os.fsencode(real), name)

    async def without_own(self, root: Path, delta: Delta) -> Delta:
        base = os.fsencode(root)
        written = await self._store.facts.written(base)
        own = {
            c.path
            for c in delta
            if c.new is not None and (base + b"/" + c.path, c.new.hash) in written
        }
        around = {folder for path in own for folder in above(path)}
        return tuple(
            c for c in delta if c.path not in own and not (c.old is None and c.path in around)
        )

    async def read_anew(self, folder: str) -> None:
        """Drops an outdated chain; a new one starts after the last session's end."""
        root = await asyncio.to_thread(os.path.realpath, folder)
        made = self._open.get(root)
        if made is not None and not await made.stands():
            async with self._opening:
                self._open.pop(root, None)
            await made.close()

    async def _begin(self, root: str) -> Snapshots:
        await self.recover(root)
        try:
            made = await Snapshots.open(
                Path(root),
                self._store.snapshots,
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

    async def _look(self, folder: str) -> None:
        try:
            made = await self.of(folder)
            await made.snapshot()
        except (SidecarError, OSError) as error:
            # A turn tells the user.
            logger.info("%s was not looked at ahead: %s", printable(folder), error)

    def _follow(self, made: Snapshots) -> None:
        if self._group is not None:
            self._in_background(_run(made))

    def _in_background(self, work: Coroutine[None, None, None]) -> None:
        assert self._group is not None
        self._tasks = [task for task in self._tasks if not task.done()]
        self._tasks.append(self._group.create_task(work))

    def status(self) -> list[Json]:
        told: list[Json] = [
            {"root": printable(root), **made.status()} for root, made in self._open.items()
        ]
        refused: list[JsonObject] = [
            {"root": printable(root), "mode": "none", "reason": error.message}
            for root, error in self._refused.items()
        ]
        return [*told, *refused]

    async def close(self) -> None:
        async with self._opening:
            self._ended.set()
            for made in self._open.values():
                with suppress(SidecarError, OSError):
                    await made.close()
            self._open.clear()


async def _run(made: Snapshots) -> None:
    try:
        await made.run()
    except FolderClosed:
        return
    except (SidecarError, OSError) as error:
        logger.warning("snapshots of %s: %s", made.root, error)


async def _recheck(made: Snapshots) -> None:
    try:
        found = await made.recheck()
    except (SidecarError, OSError) as error:
        logger.warning("files of %s were not looked at again: %s", made.root, error)
        return
    if found:
        logger.warning("%d files of %s changed without an event", len(found), made.root)


def _told(ended: Recovered) -> str:
    how = (
        "had been done already, and stands"
        if ended.how == "finished"
        else "was taken back: files and conversation are as before it"
    )
    left = ", ".join(printable(os.fsdecode(one.path)) for one in ended.left)
    kept = f" What was changed meanwhile stays: {left}." if left else ""
    leftover = f" {ended.leftover}" if ended.leftover else ""
    return f"A restore was broken off when Sidecar stopped. It {how}.{kept}{leftover}"
