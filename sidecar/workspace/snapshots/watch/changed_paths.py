"""Changes since the last snapshot, from events, tools and stats."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from sidecar.workspace.snapshots.known_paths import KnownPaths
from sidecar.workspace.snapshots.watch.inotify import InotifyWatch
from sidecar.workspace.snapshots.watch.unwatched_paths import Unwatched
from sidecar.workspace.snapshots.watch.watch import Mode, Noticed, Watch, WatchFailed

T = TypeVar("T")


class InThread(Protocol):
    """Runs a blocking function in a thread."""

    def __call__(self, work: Callable[[], T], /) -> Awaitable[T]: ...


class Noticing:
    """Collects changed paths; `why_rescan`: why no watch, or ""."""

    def __init__(self, base: bytes, in_thread: InThread) -> None:
        self._base = base
        self._in_thread = in_thread
        self.watch: Watch | None = None
        self.why_rescan = ""
        self.waiting = Noticed(all=True)
        self.unwatched = Unwatched(base)

    @property
    def mode(self) -> Mode:
        return "rescan" if self.watch is None else self.watch.mode

    @property
    def quick(self) -> bool:
        return self.mode == "inotify"

    def begin(self, watch: Watch) -> None:
        self.watch = watch
        if isinstance(watch, InotifyWatch):
            # The queue is emptied as it fills, because the system drops events beyond its limit.
            asyncio.get_running_loop().add_reader(watch.descriptor, self._read_some, watch)

    def give_up(self, why: str) -> None:
        self.close()
        self.why_rescan = why
        self.waiting.lose()

    def close(self) -> None:
        watch, self.watch = self.watch, None
        if watch is None:
            return
        if isinstance(watch, InotifyWatch):
            asyncio.get_running_loop().remove_reader(watch.descriptor)
        watch.close()

    def quiet(self, state: KnownPaths) -> bool:
        """Whether nothing has changed; quick, `False` where unknown."""
        watch, waiting = self.watch, self.waiting
        if watch is None or waiting or not watch.idle() or self._moved(state):
            return False
        return not self.unwatched or not (self.unwatched.notice(state, waiting) or waiting)

    async def gather(self, state: KnownPaths) -> tuple[Noticed, bool]:
        """Also tells whether rules outside the workspace changed."""
        noticed, self.waiting = self.waiting, Noticed()
        try:
            if self.watch is None:
                noticed.lose()
            elif not self.watch.drain(noticed):
                await self._settle(self.watch, noticed)
            if not noticed.all and self._moved(state):
                noticed.lose()
        except BaseException:
            self.waiting.merge(noticed)
            raise
        rules = self.unwatched.notice(state, noticed)
        if rules:
            noticed.lose()
        return noticed, rules

    async def _settle(self, watch: Watch, into: Noticed) -> None:
        try:
            complete = await self._in_thread(lambda: watch.settle(into))
        except WatchFailed as error:
            self.give_up(str(error))
            complete = False
        if not complete:
            into.lose()

    def _moved(self, state: KnownPaths) -> bool:
        try:
            found = os.lstat(self._base)
        except OSError:
            return True
        known = state.root
        return known is None or (found.st_ino, found.st_dev) != (known.st_ino, known.st_dev)

    def _read_some(self, watch: InotifyWatch) -> None:
        watch.read(self.waiting)
