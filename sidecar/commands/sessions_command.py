"""`sidecar sessions`."""

import asyncio
import os
import re
from pathlib import Path

from rich.table import Table

from sidecar.commands.terminal import refused, shown, terminal, when
from sidecar.config import load
from sidecar.core.errors import SidecarError, StorageFailed
from sidecar.core.parts import JsonObject
from sidecar.daemon.stores import open_store
from sidecar.store.format.values import SessionRow

OFFERED = 200
"""Sessions from which a shell chooses, the newest."""
UNSAFE = re.compile(r"[^\w ,./-]")
"""What a shell may give a meaning: zsh evaluates what it is offered."""


def show(folder: Path | None, limit: int, search: str = "") -> int:
    if search:
        from sidecar.commands.search_command import find  # noqa: PLC0415 - a list needs none of it

        return find(folder, limit, search)
    console = terminal()
    try:
        rows = asyncio.run(_rows(None if folder is None else str(folder.resolve()), limit))
    except StorageFailed as error:
        return refused(console, error.message)
    if not rows:
        place = "" if folder is None else f" in {folder}"
        console.print(
            shown(f"There are no sessions{place} yet. `sidecar demo` plays one of its own."),
            soft_wrap=True,
        )
        return 0
    table = Table(box=None, pad_edge=False)
    for heading in ("session", "last used", "turns", "cost", "folder", "title"):
        table.add_column(heading, justify="right" if heading in ("turns", "cost") else "left")
    for row in rows:
        about = map(shown, (row.cwd, row.title or "(untitled)"))
        table.add_row(shown(row.id), when(_used(row)), str(row.turns), shown(_cost(row)), *about)
    console.print(table)
    return 0


def offered(incomplete: str) -> list[tuple[str, str]]:
    """Gives a shell ids and titles; none where the store fails, as nobody asked to hear why."""
    try:
        rows = asyncio.run(_rows(None, OFFERED))
    except (SidecarError, OSError):
        return []
    return [(row.id, UNSAFE.sub("", row.title)) for row in rows if row.id.startswith(incomplete)]


def _recorded(row: SessionRow) -> JsonObject:
    found = row.settings.get("recorded")
    return found if isinstance(found, dict) else {}


def _used(row: SessionRow) -> int:
    """Of another agent's session, when that was used last, until it is used here."""
    ended = _recorded(row).get("ended")
    unused = _recorded(row).get("turns") == row.turns
    return ended if isinstance(ended, int) and ended and unused else row.updated


def _cost(row: SessionRow) -> str:
    here = "unknown" if row.cost is None else f"${row.cost}"
    before = _recorded(row).get("cost")
    if not isinstance(before, str):
        return here
    return f"{here} + ${float(before):.2f} by {_recorded(row).get('by')}"


async def _rows(folder: str | None, limit: int) -> tuple[SessionRow, ...]:
    config, _ = load(workspace=None, environment=os.environ, options={})
    store = await asyncio.to_thread(open_store, config.data_dir)
    page = await store.sessions.page(cwd=folder, before=None, limit=limit)
    await store.close()
    return page.rows
