"""Stores each workspace's snapshots: a chain of deltas and the newest state.

Writers name the head they expect; on `ChainMoved` they read the new deltas and retry.
"""

from collections.abc import Iterable
from functools import partial

from sidecar.core.files.tree import Delta, SeenEntry, SnapshotId
from sidecar.store.connection.store_access import StoreRead, Submit
from sidecar.store.content import chains
from sidecar.store.content.chains import (
    Addition,
    Appended,
    ChainMoved,
    HeldSpace,
    SweptBlobs,
    Workspace,
)

SMALL = 32 * 1024
"""Bytes written on the event loop in a millisecond. Once per round of the log SQLite also syncs the
log's header."""


class SnapshotRows:
    """Methods may raise StorageFailed."""

    def __init__(self, submit: Submit, read: StoreRead) -> None:
        self._submit = submit
        self._read = read

    async def load(self, root: bytes) -> Workspace | None:
        return await self._read(partial(chains.load, root=root))

    async def telling(self, root: bytes) -> tuple[int, int] | None:
        """Returns head and number of stored paths while a first state is incomplete."""
        return await self._read(partial(chains.telling, root=root))

    async def begin(self, root: bytes, at: int) -> Workspace:
        """Begins a chain; `fill` then stores the first state, and syncs both."""
        return await self._submit(partial(chains.begin, root=root, at=at), synced=False)

    async def fill(
        self, workspace: int, head: SnapshotId, addition: Addition, *, complete: bool = False
    ) -> Appended | ChainMoved:
        """Adds paths to the state at `head`, without a delta, until `complete`."""
        run = partial(
            chains.fill, workspace=workspace, head=head, addition=addition, complete=complete
        )
        return await self._submit(run, chains.weight(addition))

    async def append(
        self, workspace: int, parent: SnapshotId, addition: Addition, at: int
    ) -> Appended | ChainMoved:
        """Stores a snapshot; the first record about the snapshot syncs both."""
        run = partial(chains.append, workspace=workspace, parent=parent, addition=addition, at=at)
        size = chains.weight(addition)
        return await self._submit(run, size, synced=False, small=size <= SMALL)

    async def deltas(
        self, workspace: int, after: SnapshotId, until: SnapshotId
    ) -> tuple[Delta, ...] | None:
        """Returns `None` if a delta is no longer stored."""
        return await self._read(
            partial(chains.deltas, workspace=workspace, after=after, until=until)
        )

    async def tree(self, workspace: int, paths: Iterable[bytes]) -> dict[bytes, SeenEntry]:
        return await self._read(partial(chains.some, workspace=workspace, paths=tuple(paths)))

    async def sweep(self, workspace: int, before: SnapshotId, most: int) -> SweptBlobs:
        """Releases `most` blobs of the oldest snapshot before `before`, then its row."""
        run = partial(chains.sweep, workspace=workspace, before=before, most=most)
        return await self._submit(run)

    async def ids(self, workspace: int) -> tuple[SnapshotId, ...]:
        """Oldest first."""
        return await self._read(partial(chains.ids, workspace=workspace))

    async def held(self) -> tuple[HeldSpace, ...]:
        """Largest workspace first."""
        return await self._read(chains.held)
