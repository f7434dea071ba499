"""Chains of snapshots, as this process knows them."""

import asyncio
from collections.abc import Callable, Iterable, Mapping

from sidecar.core.files.tree import Delta, SeenEntry, SnapshotId, net
from sidecar.store.content.chains import Addition, Appended, ChainMoved, Workspace
from sidecar.store.content.snapshot_rows import SnapshotRows
from sidecar.workspace.snapshots.known_paths import lasting

SWEPT_AT_ONCE = 2000
"""Blobs in a sweep's transaction of some tens of milliseconds."""
MOST_UNTOLD = 1000
"""Paths with stats known only here; beyond, `keep` is due. Also the longest delta kept at hand,
usually requested at once."""

PAUSE = 0.1
PATIENCE = 50
"""Seconds between looks at another process's progress; idle looks before giving up."""
BRIEFLY = 5
"""Idle looks at a perhaps dead process."""


class SnapshotChain:
    """A workspace's chain of snapshots; `held`: bytes.

    `head`: 0 before the first; `complete`: whether its content is stored.
    """

    def __init__(self, base: bytes, rows: SnapshotRows, now: Callable[[], int]) -> None:
        self._base = base
        self._rows = rows
        self._now = now
        self._id = 0
        self.head = SnapshotId(0)
        self.held = 0
        self.complete = False
        self._untold: dict[bytes, SeenEntry | None] = {}
        self._newest: tuple[SnapshotId, SnapshotId, Delta] | None = None
        self._patient = True

    async def wait(self, patience: int) -> None:
        """Waits while another process stores a first snapshot.

        Gives up after `patience` looks without progress. Else two processes could replace each
        other's new chain for ever.
        """
        before, still = None, 0
        while self._patient and still < patience:
            now = await self._rows.telling(self._base)
            if now is None:
                return
            before, still = now, still + 1 if now == before else 0
            await asyncio.sleep(PAUSE)

    def hurry(self) -> None:
        self._patient = False

    async def load(self, patience: int = 0) -> dict[bytes, SeenEntry]:
        self._untold = {}
        found = await self._stored()
        if patience and found is not None and not found.complete:
            await self.wait(patience)
            found = await self._stored()
        # A first snapshot never completed does not tell the former state.
        if found is None or not found.complete:
            self.head, self.complete = SnapshotId(0), False
            return {}
        self._stand(found)
        return found.tree

    async def begin(self) -> None:
        self._stand(await self._rows.begin(self._base, self._now()))

    async def append(self, addition: Addition) -> ChainMoved | None:
        parent = self.head
        moved = self._done(await self._rows.append(self._id, parent, addition, self._now()))
        few = moved is None and len(addition.delta) <= MOST_UNTOLD
        self._newest = (parent, self.head, addition.delta) if few else None
        return moved

    async def fill(self, addition: Addition, *, complete: bool = False) -> ChainMoved | None:
        """Adds to the head's state; returns the head if another process moved it."""
        moved = self._done(await self._rows.fill(self._id, self.head, addition, complete=complete))
        self.complete = self.complete or (complete and moved is None)
        if moved is None:
            self._forget(path for path, _ in addition.tree)
        return moved

    def learn(self, known: Mapping[bytes, SeenEntry | None]) -> bool:
        self._untold.update(known)
        return len(self._untold) > MOST_UNTOLD

    async def keep(self) -> None:
        if self._untold:
            await self.fill(Addition((), [], list(self._untold.items())))

    async def adopt(self, moved: ChainMoved) -> dict[bytes, SeenEntry | None] | None:
        """Moves to the stored head; returns the state of paths changed by other processes.

        Waits while another process begins a new chain, and returns `None`: call `load` then.
        """
        deltas = await self._rows.deltas(self._id, self.head, moved.head)
        if deltas is None:
            await self.wait(PATIENCE)
            return None
        paths = [change.path for change in net(deltas)]
        seen = await self._rows.tree(self._id, paths)
        self.head = moved.head
        self._forget(paths)
        return {path: _to_look_at(path, seen.get(path)) for path in paths}

    async def deltas(self, first: SnapshotId, last: SnapshotId) -> tuple[Delta, ...] | None:
        if self._newest is not None and self._newest[:2] == (first, last):
            return (self._newest[2],)
        return await self._rows.deltas(self._id, first, last)

    async def stands(self) -> bool:
        return self.head in await self._rows.ids(self._id)

    async def sweep(self, before: SnapshotId) -> bool:
        done = await self._rows.sweep(self._id, before, SWEPT_AT_ONCE)
        self.held = done.held
        return done.looked > 0

    async def _stored(self) -> Workspace | None:
        with lasting():
            return await self._rows.load(self._base)

    def _done(self, done: Appended | ChainMoved) -> ChainMoved | None:
        if isinstance(done, ChainMoved):
            return done
        self.head, self.held = done.id, done.held
        return None

    def _forget(self, paths: Iterable[bytes]) -> None:
        for path in paths:
            self._untold.pop(path, None)

    def _stand(self, at: Workspace) -> None:
        self._id, self.head, self.held, self.complete = at.id, at.head, at.held, at.complete
        self._newest = None


def _to_look_at(path: bytes, seen: SeenEntry | None) -> SeenEntry | None:
    """Distrusts others' stats of folders and .gitignore files, which are read here."""
    rules = path.rpartition(b"/")[2] == b".gitignore"
    return seen._replace(ctime=0) if seen and (rules or seen.entry.is_folder) else seen
