"""A folder with snapshots that are closed and opened again."""

import os
import time
from pathlib import Path
from typing import TypeAlias

from sidecar.store.journal import Store
from sidecar.workspace.snapshots.snapshots import Snapshots
from sidecar.workspace.snapshots.steady_read import USUAL, Limits
from sidecar.workspace.snapshots.watch.watch_choice import ChooseWatch, choose


def now() -> int:
    return time.time_ns() // 1_000_000


def held(snapshots: Snapshots) -> int:
    """Give the bytes that the snapshots of a workspace take."""
    found = snapshots.status()["bytes"]
    assert isinstance(found, int)
    return found


Watch: TypeAlias = ChooseWatch | None
EVENTS: Watch = choose
"""The system tells what changes, as daemons have it."""
RESCAN: Watch = None
"""Each snapshot looks at everything."""


class Work:
    def __init__(self, folder: Path) -> None:
        self.root = folder / "work"
        self.data = folder / "data"
        self.root.mkdir()
        self.store = Store.open(self.data, now=now)
        self.open_ones: list[Snapshots] = []

    async def open(self, watch: Watch = EVENTS, limits: Limits = USUAL) -> Snapshots:
        one = await Snapshots.open(
            self.root,
            self.store.snapshots,
            data_dir=self.data,
            now=now,
            limits=limits,
            watch=watch,
        )
        self.open_ones.append(one)
        return one

    def write(self, path: str | bytes, data: bytes = b"text\n") -> Path:
        real = self.root / os.fsdecode(path)
        real.parent.mkdir(parents=True, exist_ok=True)
        real.write_bytes(data)
        return real
