"""Data folders opened: by a daemon, by a command, and for reading only."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sidecar.core.parts import JsonObject
from sidecar.daemon.clock_and_ids import offset, read_clock
from sidecar.session.transfer.sweep import see_time_pass
from sidecar.store.connection.seen_time import uptime
from sidecar.store.journal import Store
from sidecar.workspace.shared_snapshots import SharedSnapshots

if TYPE_CHECKING:
    from sidecar.observe.observer import Observer


@dataclass(frozen=True, slots=True)
class SharedStore:
    """What all windows share that keep sessions in one folder."""

    store: Store
    snapshots: SharedSnapshots
    observer: "Observer"
    swept: JsonObject


def look_into(folder: Path) -> Store:
    """For reading only, whoever writes; raises StorageFailed where missing."""
    return Store.look(folder, now=read_clock)


def open_store(folder: Path) -> Store:
    """Imported late: `initialize` does not need it."""
    return Store.open(folder, now=read_clock, uptime=lambda: uptime(offset()[0]))


async def open_in_time(folder: Path) -> Store:
    store = await asyncio.to_thread(open_store, folder)
    if not store.read_only:
        await see_time_pass(store.keeping)
    return store
