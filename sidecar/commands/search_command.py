"""`sidecar sessions --search`."""

import os
from pathlib import Path
from time import monotonic

from rich.console import Console
from rich.text import Text

from sidecar.commands.terminal import refused, run_async, shown, terminal, when
from sidecar.config import load
from sidecar.core.errors import SidecarError
from sidecar.daemon.stores import open_store
from sidecar.session.desk.session_search import SessionHits, search


def find(folder: Path | None, limit: int, query: str) -> int:
    """Prints what each page finds as soon as it is read."""
    console = terminal()
    where = None if folder is None else str(folder.resolve())
    try:
        found = run_async(_find(console, where, limit, query))
    except SidecarError as error:
        return refused(console, error.message)
    if not found:
        console.print("No session has all of these words in one of its texts.")
    return 0 if found else 1


async def _find(console: Console, folder: str | None, limit: int, query: str) -> int:
    config, _ = load(workspace=None, environment=os.environ, options={})
    store = open_store(config.data_dir)
    found, cursor = 0, None
    try:
        while found < limit:
            page, cursor = await search(store, query, folder, cursor, limit - found, monotonic)
            for one in page:
                _show(console, one)
            found += len(page)
            if cursor is None:
                break
    finally:
        await store.close()
    return found


def _show(console: Console, found: SessionHits) -> None:
    about = found.session
    console.print(shown(about.session_id), when(about.updated), shown(about.cwd))
    console.print(shown(about.title or "(untitled)", "bold"), soft_wrap=True)
    for hit in found.hits:
        if hit.speaker != "title":
            around = hit.found
            line = Text.assemble(
                f"  {hit.speaker}: ", around.before, (around.match, "bold"), around.after
            )
            console.print(line, soft_wrap=True)
    if found.more:
        console.print("  and more")
