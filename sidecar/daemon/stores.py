"""A data folder's store; imports no session."""

from pathlib import Path

from sidecar.daemon.clock_and_ids import offset, read_clock
from sidecar.store.connection.seen_time import uptime
from sidecar.store.journal import Store


def look_into(folder: Path) -> Store:
    """Whoever writes; raises StorageFailed where missing."""
    return Store.look(folder, now=read_clock)


def open_store(folder: Path) -> Store:
    """Imported late: `initialize` does not need it."""
    return Store.open(folder, now=read_clock, uptime=lambda: uptime(offset()[0]))
