"""Snapshots on the disk: one chain of deltas for each workspace, and what its newest state is.

A chain has one head. Whoever appends says which head he knows: where another process was faster
he is told so, takes over what it added, and tries again.
"""

import sqlite3
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Protocol, TypeVar

from sidecar.core.files.tree import Delta, SeenEntry, SnapshotId
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
"""Bytes of an addition that the event loop writes in about a millisecond.

Once in a log's round, after a thousand pages or more, SQLite syncs that log's header there too.
"""

T = TypeVar("T")
Run = Callable[[sqlite3.Connection], T]


class Submit(Protocol):
    """Write something as one unit of about so many bytes, in the thread that writes if need be."""

    def __call__(
        self, run: Run[T], size: int = 0, /, *, synced: bool = True, small: bool = False
    ) -> Awaitable[T]:
        """Give what `run` gave, once it is committed; raises StorageFailed.

        `synced`: it is durable then. Else it is so no later than what is submitted after it, and
        a `small` one may be written before this returns.
        """


class SnapshotRead(Protocol):
    """Look at one consistent state of the store."""

    def __call__(self, look: Run[T], /) -> Awaitable[T]:
        """Give what `look` gave; raises StorageFailed."""


class SnapshotRows:
    """The snapshots of all workspaces. Everything may raise StorageFailed."""

    def __init__(self, submit: Submit, read: SnapshotRead) -> None:
        self._submit = submit
        self._read = read

    async def load(self, root: bytes) -> Workspace | None:
        """Read a workspace by the bytes of its path; `None` when it has no snapshots."""
        return await self._read(partial(chains.load, root=root))

    async def telling(self, root: bytes) -> tuple[int, int] | None:
        """Read how far the beginning of a chain is told: its head, and how many paths.

        `None` where it is told to its end, or there is none.
        """
        return await self._read(partial(chains.telling, root=root))

    async def begin(self, root: bytes, at: int) -> Workspace:
        """Start a chain with a snapshot of a state that is still to be told by `fill`.

        Snapshots that are there stay, but nothing leads from them to this one. It is no more
        waited for the disk than `append` is; and with the first `fill`, which is, it is there.
        """
        return await self._submit(partial(chains.begin, root=root, at=at), synced=False)

    async def fill(
        self, workspace: int, head: SnapshotId, addition: Addition, *, complete: bool = False
    ) -> Appended | ChainMoved:
        """Store what the state at `head` consists of, without another snapshot.

        `addition` has no delta. `complete`: everything has been told now.
        """
        run = partial(
            chains.fill, workspace=workspace, head=head, addition=addition, complete=complete
        )
        return await self._submit(run, chains.weight(addition))

    async def append(
        self, workspace: int, parent: SnapshotId, addition: Addition, at: int
    ) -> Appended | ChainMoved:
        """Store a snapshot that follows `parent`, with its blobs, in one transaction.

        It is not waited for the disk: a snapshot means nothing until a record names it, and that
        one takes it along.
        """
        run = partial(chains.append, workspace=workspace, parent=parent, addition=addition, at=at)
        size = chains.weight(addition)
        return await self._submit(run, size, synced=False, small=size <= SMALL)

    async def deltas(
        self, workspace: int, after: SnapshotId, until: SnapshotId
    ) -> tuple[Delta, ...] | None:
        """Read what led from one snapshot to a later one, in order.

        `None` where nothing leads from the one to the other: one was swept, or a chain began
        anew between them.
        """
        return await self._read(
            partial(chains.deltas, workspace=workspace, after=after, until=until)
        )

    async def tree(self, workspace: int, paths: Iterable[bytes]) -> dict[bytes, SeenEntry]:
        """Read the state at the head, for some paths."""
        return await self._read(partial(chains.some, workspace=workspace, paths=tuple(paths)))

    async def sweep(self, workspace: int, before: SnapshotId, most: int) -> SweptBlobs:
        """Let go of `most` blobs of the oldest snapshot before one, and of it with the last.

        The head always stays.
        """
        run = partial(chains.sweep, workspace=workspace, before=before, most=most)
        return await self._submit(run)

    async def ids(self, workspace: int) -> tuple[SnapshotId, ...]:
        """List a workspace's snapshots, the oldest first."""
        return await self._read(partial(chains.ids, workspace=workspace))

    async def held(self) -> tuple[HeldSpace, ...]:
        """Tell what each workspace takes, the largest first."""
        return await self._read(chains.held)
