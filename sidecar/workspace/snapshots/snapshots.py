"""Snapshots of one workspace, reading only changes."""

import asyncio
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TypeVar

from sidecar.core.errors import StorageFailed
from sidecar.core.files.tree import Delta, SeenEntry, SnapshotId, TreeEntry, inverse, net
from sidecar.core.parts import JsonObject
from sidecar.store.content.chains import Addition, ChainMoved
from sidecar.store.content.snapshot_rows import SnapshotRows
from sidecar.workspace.snapshots.chain import BRIEFLY, SnapshotChain
from sidecar.workspace.snapshots.ignore import HISTORIES, IgnoreRules
from sidecar.workspace.snapshots.known_paths import KnownPaths, lasting, unread_of
from sidecar.workspace.snapshots.pre_images import Batch, Beginning, pre_image, read_batch, slice_of
from sidecar.workspace.snapshots.roots import check_root
from sidecar.workspace.snapshots.scan.scan import Scan
from sidecar.workspace.snapshots.scan_outcome import ScanOutcome, conclude, missed, take_over
from sidecar.workspace.snapshots.steady_read import USUAL, Limits, Looked, SnapshotBudget, look
from sidecar.workspace.snapshots.watch.changed_paths import Noticing
from sidecar.workspace.snapshots.watch.watch import Noticed, Watch, WatchFailed
from sidecar.workspace.snapshots.watch.watch_choice import ChooseWatch, choose

T = TypeVar("T")
Read = Callable[[Scan], Looked]

TRIES = 8
"""Beginnings of a snapshot, while another process appends to the chain."""
BUSY = "Too many other processes take snapshots of this folder. Try again."
CLOSED = "The snapshots of this folder were closed meanwhile. Try again."


class FolderClosed(StorageFailed):
    """Another user of the folder closed its snapshots."""

    def __init__(self) -> None:
        super().__init__(CLOSED, kind="io")


class Snapshots:
    """Takes and compares snapshots; bound to one event loop.

    Paths are bytes relative to the root, with `/`. All methods may raise StorageFailed.
    """

    def __init__(
        self, root: Path, rows: SnapshotRows, now: Callable[[], int], limits: Limits
    ) -> None:
        self.root = root
        self._base = os.fsencode(root)
        self._now = now
        self._limits = limits
        self._lock = asyncio.Lock()
        self._work = asyncio.Event()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="snapshots")
        self._chain = SnapshotChain(self._base, rows, now)
        self._noticing = Noticing(self._base, self._in_thread)
        self._state = KnownPaths()
        self._rules: dict[bytes, IgnoreRules] = {}
        self._beginning = Beginning()
        self._closed = False

    @classmethod
    async def open(
        cls,
        root: Path,
        rows: SnapshotRows,
        *,
        data_dir: Path,
        now: Callable[[], int],
        limits: Limits = USUAL,
        watch: ChooseWatch | None = choose,
    ) -> "Snapshots":
        """Looks at no file yet.

        `now`: ms since 1970; without `watch` each snapshot looks at everything. Raises BadRequest
        if the folder can have none.
        """
        real = await asyncio.to_thread(check_root, root, data_dir)
        self = cls(real, rows, now, limits)
        known = await self._chain.load(BRIEFLY)
        with lasting():
            self._know(known)
        if watch is None:
            self._noticing.why_rescan = "Events are turned off."
            return self
        try:
            self._noticing.begin(await self._in_thread(partial(watch, real, data_dir / "cookies")))
        except WatchFailed as error:
            self._noticing.why_rescan = str(error)
        return self

    async def snapshot(self) -> SnapshotId:
        """Takes a snapshot of the files as they are; without changes, returns the newest.

        Includes every write whose system call returned before.
        """
        if not self._lock.locked() and self._chain.head and self._noticing.quiet(self._state):
            return self._chain.head
        async with self._lock:
            return await self._take()

    async def ready(self) -> None:
        """Waits until first contents are stored, as commands may overwrite files."""
        while not self._chain.complete:
            async with self._lock:
                await (self._read_more() if self._chain.head else self._take())

    async def run(self) -> None:
        while True:
            await self._work.wait()
            self._work.clear()
            if self._closed:
                return
            await self.ready()
            full = self._chain.held > self._limits.workspace * 9 // 10
            while full and self._chain.held > self._limits.workspace * 8 // 10:
                async with self._lock:
                    if not await self._chain.sweep(self._chain.head):
                        break
            async with self._lock:
                await self._chain.keep()

    async def note_edit(self, path: bytes) -> TreeEntry | None:
        """Stores a file's content before a tool's write; returns `None` if missing.

        Later snapshots include the file even if ignored.
        """
        async with self._lock:
            if not self._chain.head:
                await self._take()
            return await self._note(path)

    async def stands(self) -> bool:
        return not self._chain.head or await self._chain.stands()

    def mark_dirty(self, *paths: bytes) -> None:
        for path in paths:
            self._noticing.waiting.add(path)

    async def delta(self, before: SnapshotId, after: SnapshotId) -> Delta | None:
        """Returns changes in either direction; `None` if a snapshot was swept."""
        first, last = sorted((before, after))
        deltas = await self._chain.deltas(first, last)
        if deltas is None:
            return None
        return net(deltas) if before <= after else inverse(net(deltas))

    async def recheck(self) -> tuple[bytes, ...]:
        """Looks at all files; returns those changed without an event.

        Causes are writes through `mmap` or outside hard links.
        """
        async with self._lock:
            await self._take()
            known, rules = self._state.copy(), dict(self._rules)
        scan = Scan(self.root, known, rules, None, self._noticing.unwatched)
        # In another thread, so that no snapshot waits.
        await asyncio.to_thread(partial(scan.everything, deep=False))
        suspects = missed(scan, known)
        if not suspects:
            return ()
        async with self._lock:
            if self._closed:
                return ()
            # Events have reported most of these meanwhile; remaining differences came without one.
            scan = self._scan(None)
            await self._in_thread(partial(scan.noticed, Noticed(suspects), rules=False))
            noticed, _ = await self._noticing.gather(self._state)
            found = {path for path in missed(scan, self._state) if not noticed.covers(path)}
            self._noticing.waiting.merge(noticed)
            if found:
                self._noticing.give_up("Files changed without an event, so all are looked at.")
            return tuple(sorted(found))

    async def sweep(self, before: SnapshotId) -> None:
        while True:
            async with self._lock:
                if not await self._chain.sweep(before):
                    return

    @property
    def quick(self) -> bool:
        """Whether the disk is local: few files are read sooner without a thread."""
        return self._noticing.quick

    def status(self) -> JsonObject:
        """Returns watch mode and reason, known paths, stored bytes and limit.

        `unread`: number of files without stored first content.
        """
        return {
            "mode": self._noticing.mode,
            "reason": self._noticing.why_rescan,
            "paths": len(self._state),
            "unread": self._beginning.count(self._state),
            "bytes": self._chain.held,
            "limit": self._limits.workspace,
        }

    def entry(self, path: bytes) -> TreeEntry | None:
        seen = self._state.get(path)
        return None if seen is None else seen.entry

    def entries(self) -> dict[bytes, TreeEntry]:
        return {path: seen.entry for path, seen in self._state.items()}

    async def close(self) -> None:
        self._chain.hurry()
        async with self._lock:
            if self._closed:
                return
            try:
                if self._chain.complete:
                    await self._chain.keep()
            finally:
                self._closed = True
                self._noticing.close()
                self._pool.shutdown(wait=False)
                self._work.set()

    async def _take(self) -> SnapshotId:
        for _ in range(TRIES):
            noticed, rules = await self._noticing.gather(self._state)
            if not noticed and self._chain.head:
                return self._chain.head
            try:
                if not self._chain.head:
                    with lasting():
                        await self._begin()
                    return self._chain.head
                done = await self._look(noticed, rules)
            except BaseException:
                self._noticing.waiting.merge(noticed)
                raise
            if done is None:
                return self._chain.head
            self._noticing.waiting.merge(noticed)
            await self._adopt(done)
        raise StorageFailed(BUSY, kind="io")

    async def _begin(self) -> None:
        at = self._now()
        scan, nothing = await self._scanned(Noticed(all=True), False, lambda _: Looked())
        unread = {path: unread_of(found, at) for path, found in scan.stats.items()}
        await self._chain.begin()
        self._state.begin(scan.unread)
        self._beginning.begin()
        self._accept(ScanOutcome((), unread), scan, nothing)
        self._work.set()

    async def _look(self, noticed: Noticed, rules: bool) -> ChainMoved | None:
        scan, looked = await self._scanned(noticed, rules, partial(self._read, at=self._now()))
        outcome = conclude(self._state, scan, looked)
        if outcome.delta:
            # Followed files are stored at once, because no delta has them.
            told = [(path, seen) for path, seen in outcome.known.items() if seen and seen.followed]
            moved = await self._chain.append(Addition(outcome.delta, looked.blobs, told))
            if moved is not None:
                return moved
        if self._chain.learn(outcome.known) or self._chain.held > self._limits.workspace * 9 // 10:
            self._work.set()
        self._beginning.told(outcome.known)
        self._accept(outcome, scan, looked)
        return None

    def _accept(self, outcome: ScanOutcome, scan: Scan, looked: Looked) -> None:
        take_over(self._state, outcome.known)
        self._noticing.waiting.paths |= looked.restless
        if scan.root_stat is not None:
            self._state.root = scan.root_stat
        unwatched = self._noticing.unwatched
        if scan.rules.keep():
            unwatched.rules(self._rules.values())
        if self._noticing.watch is not None and scan.linked and not unwatched.link(scan.linked):
            self._noticing.give_up("Many files here have several names (hard links).")

    async def _read_more(self) -> None:
        left = await self._in_thread(partial(self._beginning.left, self._state))
        batch = slice_of(left)
        # Half of a workspace's room is kept for later changes.
        room = max(0, self._limits.workspace // 2 - self._chain.held)
        scan = self._scan(None)
        looked = await self._in_thread(
            partial(read_batch, self._base, batch, partial(self._limit, scan), room, self._now)
        )
        if await self._tell(batch, looked, complete=len(batch) == len(left)):
            self._beginning.told(batch)

    async def _tell(self, batch: Batch, looked: Looked, *, complete: bool = False) -> bool:
        known = {path: looked.seen.get(path, seen) for path, seen in batch.items()}
        addition = Addition((), looked.blobs, list(known.items()))
        moved = await self._chain.fill(addition, complete=complete)
        if moved is not None:
            await self._adopt(moved)
            return False
        take_over(self._state, known)
        self._noticing.waiting.paths |= looked.restless
        return True

    async def _note(self, path: bytes) -> TreeEntry | None:
        if not HISTORIES.isdisjoint(path.split(b"/")):
            return None
        scan = self._scan(None)
        follow = self._noticing.unwatched.follow
        ignored = await self._in_thread(partial(scan.rules.ignores, path))
        known = self._state.get(path)
        image = await self._in_thread(
            partial(pre_image, self._base, path, known, self._limits, self._now)
        )
        if ignored or (known is not None and known.entry.lost in ("large", "full")):
            follow.add(path)
        if image is None:
            return None
        told = image.followed(path in follow)
        # Content changed since the newest snapshot is stored now, but recorded by the next one.
        batch = {path: told} if image.same or (known is None and ignored) else {}
        for _ in range(TRIES):
            if await self._tell(batch, image.looked(path, told)):
                self._beginning.told(batch)
                return told.entry
            # The chain was moved by others, who report their own changes at this path.
            batch = {}
        raise StorageFailed(BUSY, kind="io")

    async def _adopt(self, moved: ChainMoved) -> None:
        known = await self._chain.adopt(moved)
        if known is None:
            self._state, self._rules, self._beginning = KnownPaths(), {}, Beginning()
            self._noticing.waiting.lose()
            self._know(await self._chain.load())
            return
        # Paths reported by others need no further report here.
        await self._in_thread(partial(self._beginning.left, self._state))
        self._beginning.told(known)
        self._know(known)
        for path, seen in known.items():
            if seen is not None and seen.entry.is_folder:
                self._noticing.waiting.folders.add(path)
            else:
                self._noticing.waiting.add(path)

    def _know(self, known: Mapping[bytes, SeenEntry | None]) -> None:
        take_over(self._state, known)
        self._noticing.unwatched.follow |= {p for p, s in known.items() if s and s.followed}

    async def _scanned(self, noticed: Noticed, rules: bool, read: Read) -> tuple[Scan, Looked]:
        def both() -> Looked:
            scan.noticed(noticed, rules)
            return read(scan)

        while True:
            scan = self._scan(self._noticing.watch, None if self._chain.head else self._now())
            try:
                if not (self.quick and noticed.few):
                    return scan, await self._in_thread(both)
                scan.noticed(noticed, rules)
            except WatchFailed as error:
                self._noticing.give_up(str(error))
                noticed.lose()
                continue
            if scan.few:
                return scan, read(scan)
            return scan, await self._in_thread(partial(read, scan))

    def _scan(self, watch: Watch | None, begun: int | None = None) -> Scan:
        return Scan(self.root, self._state, self._rules, watch, self._noticing.unwatched, begun)

    def _read(self, scan: Scan, at: int) -> Looked:
        budget = SnapshotBudget(self._limits.snapshot, self._limits.workspace - self._chain.held)
        limit = partial(self._limit, scan)
        looked = look(self._base, scan.stats, self._state.get, limit, budget, self._now, at)
        for path in looked.seen.keys() & self._noticing.unwatched.follow:
            seen = looked.seen[path]
            looked.seen[path] = None if seen is None else seen._replace(followed=True)
        return looked

    def _limit(self, scan: Scan, path: bytes, size: int) -> int:
        if size <= self._limits.untracked:
            return self._limits.untracked
        generous = path in self._noticing.unwatched.follow or scan.rules.outside(path).tracked(path)
        return self._limits.tracked if generous else self._limits.untracked

    async def _in_thread(self, work: Callable[[], T]) -> T:
        if self._closed:
            raise FolderClosed
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)
