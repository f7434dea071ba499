"""A workspace whose states are remembered, and plans that lead from one to another."""

import os
import stat
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path

import pytest

from sidecar.core.files.restore_plan import Action
from sidecar.core.files.tree import TreeEntry
from sidecar.core.parts import SessionId
from sidecar.store.format.values import (
    AppendRecord,
    PutBlob,
    PutSession,
    Record,
    SessionRow,
    StoreChange,
)
from sidecar.store.journal import Store
from sidecar.workspace.restore import restore as carrying_out
from sidecar.workspace.restore.restore_outcome import RestoreOutcome
from tests.core.trees import holding

SES = SessionId("ses_1")
Tree = dict[bytes, TreeEntry]


def now() -> int:
    return time.time_ns() // 1_000_000


def row(revision: int) -> SessionRow:
    return SessionRow(SES, "/w", "", 1, revision, revision, 0, 0, None, {})


def record(revision: int, name: str) -> tuple[StoreChange, ...]:
    body = Record(revision, "restore", 1, {"to": name})
    return (PutSession(row(revision)), AppendRecord(SES, body))


def recording(revision: int, name: str) -> Callable[[], Awaitable[tuple[StoreChange, ...]]]:
    """Give what a restore asks for its records."""

    async def record_it() -> tuple[StoreChange, ...]:
        return record(revision, name)

    return record_it


async def nothing() -> tuple[StoreChange, ...]:
    return ()


def look(root: Path) -> tuple[Tree, dict[str, bytes]]:
    """Give everything in a folder, and its contents by hash."""
    tree: Tree = {}
    contents: dict[str, bytes] = {}
    base = os.fsencode(root)
    for folder, folders, files in os.walk(base):
        folders[:] = [name for name in folders if name != b".git"]
        for name in (*folders, *files):
            real = folder + b"/" + name
            found = os.lstat(real)
            path = real[len(base) + 1 :]
            if stat.S_ISDIR(found.st_mode):
                tree[path] = TreeEntry(found.st_mode)
                continue
            link = stat.S_ISLNK(found.st_mode)
            data = os.readlink(real) if link else Path(os.fsdecode(real)).read_bytes()
            tree[path] = holding(data, found.st_mode)
            contents[tree[path].hash] = data
    return tree, contents


def plan(now: Tree, then: Tree) -> list[Action]:
    """Give what leads from one state to another."""
    return [
        Action(path, then.get(path), now.get(path))
        for path in sorted(now.keys() | then.keys())
        if now.get(path) != then.get(path)
    ]


class Site:
    def __init__(self, folder: Path, *, quick: bool = False) -> None:
        self.root = folder / "work"
        self.data = folder / "data"
        self.root.mkdir(exist_ok=True)
        self.base = os.fsencode(os.path.realpath(self.root))
        self.store = Store.open(self.data, now=now)
        self.quick = quick

    def write(self, path: str | bytes, data: bytes = b"text\n", mode: int = 0o644) -> Path:
        real = self.root / os.fsdecode(path)
        real.parent.mkdir(parents=True, exist_ok=True)
        real.write_bytes(data)
        real.chmod(mode)
        return real

    async def remember(self) -> Tree:
        """Give the state, and keep what the files hold."""
        tree, contents = look(self.root)
        await self.store.write(*(PutBlob(name, data) for name, data in contents.items()))
        return tree

    def tree(self) -> Tree:
        return look(self.root)[0]

    async def go(self, before: Tree, after: Tree) -> RestoreOutcome:
        return await self.restore(plan(before, after))

    async def restore(
        self,
        actions: Sequence[Action],
        record: carrying_out.RecordChanges = nothing,
        progress: carrying_out.StepsDone | None = None,
    ) -> RestoreOutcome:
        return await carrying_out.restore(
            self.root,
            actions,
            self.store,
            record=record,
            progress=progress,
            quick=self.quick,
        )


@pytest.fixture(params=[False, True], ids=["threads", "quick"])
async def site(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Site]:
    """A folder to restore files in, by threads and on the event loop; its store ends whole."""
    monkeypatch.setattr(carrying_out, "INLINE_PATHS", 1000)
    monkeypatch.setattr(carrying_out, "INLINE_BYTES", 2**30)
    made = Site(tmp_path, quick=request.param)
    yield made
    assert (await made.store.verify()).problems == ()
    await made.store.close()
