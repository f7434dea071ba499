"""Erases deleted sessions, with free pages and write-ahead log.

Interrupted work continues at the next start.
"""

import asyncio
import logging
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from sidecar.core.errors import SidecarError, UnknownSession
from sidecar.core.parts import SessionId
from sidecar.session.compaction import milestones
from sidecar.session.transfer import archive
from sidecar.session.transfer.archive import PAUSE, Ground, remove_rest
from sidecar.session.transfer.removed_words import forget_copies, leave_word
from sidecar.store.connection.free_pages import FreePages
from sidecar.store.connection.store_files import ARCHIVE, ASIDE, EXPORTS, REPORTS
from sidecar.store.content.removal import DELETED
from sidecar.store.format.values import SessionRow
from sidecar.store.journal import Store
from sidecar.workspace.workspaces import Workspaces

logger = logging.getLogger("sidecar.session")


async def delete(ground: Ground, workspaces: Workspaces, row: SessionRow) -> tuple[str, ...]:
    """Deletes a session open nowhere; returns `put_aside`'s notes.

    After StorageFailed the session stays.
    """
    await asyncio.to_thread(leave_word, ground.store.folder, row)
    await ground.store.delete(row.id)
    await asyncio.to_thread(forget_copies, ground.store.folder)
    await workspaces.read_anew(row.cwd)
    await erase(ground)
    return await put_aside(ground.store)


async def erase(ground: Ground) -> bool:
    """Finishes erasures; returns whether nothing is left.

    Others' long reads keep content in the write-ahead log.
    """
    store = ground.store
    try:
        leaving = await store.leaving.unfinished()
        names = [name for name, at in leaving.items() if at == DELETED]
        if not names:
            return True
        for name in names:
            await remove_rest(store.leaving, name)
            await asyncio.to_thread(remove_files, store.folder, name)
        await clear_free(store.pages)
        if not await store.pages.empty_log():
            logger.warning("the log could not be emptied: another process reads the store")
            return False
        for name in names:
            await store.leaving.finish(name)
    except (SidecarError, OSError) as error:
        # The session is gone for everyone; what is left is tried again.
        logger.warning("a deleted session is not overwritten yet: %s", error)
        return False
    return True


async def erase_archived(store: Store, session_id: SessionId) -> bool:
    """Returns whether there were any bundles."""
    try:
        await store.sessions.row(session_id)
    except UnknownSession:
        found = await asyncio.to_thread(archive.bundles_of, store.folder, session_id)
        await asyncio.to_thread(remove_files, store.folder, session_id)
        await asyncio.to_thread(forget_copies, store.folder)
        return bool(found)
    return False


def _unheard(_: int) -> None:
    pass


async def clear_free(pages: FreePages, tell: Callable[[int], None] = _unheard) -> None:
    """Returns free pages in slices, or overwrites them if the file cannot shrink.

    `tell` hears the bytes still free.
    """
    left = await pages.space()
    if not left.shrinks:
        await pages.overwrite()
        return
    while left.free:
        before = left.free
        left = await pages.shrink()
        tell(left.free)
        if left.free >= before:
            return
        await asyncio.sleep(PAUSE)


def remove_files(data_dir: Path, session_id: SessionId) -> None:
    """Removes files beside the store. Blocks; raises OSError."""
    with suppress(ValueError, FileNotFoundError):
        shutil.rmtree(milestones.folder_of(data_dir, session_id))
    for path in _beside(data_dir, session_id):
        path.unlink(missing_ok=True)


async def put_aside(store: Store) -> tuple[str, ...]:
    """Tells of damaged stores put aside, perhaps with deleted sessions.

    They are kept: nothing is lost unasked.
    """
    return await asyncio.to_thread(_put_aside, store.folder / ASIDE)


def _put_aside(folder: Path) -> tuple[str, ...]:
    found = sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    match found:
        case []:
            return ()
        case [one]:
            return (f"A damaged store put aside on {day_of(one)} may still hold it: delete {one}.",)
        case [*_]:
            days = f"from {day_of(found[0])} to {day_of(found[-1])}"
            return (f"Damaged stores put aside {days} may still hold it: delete {folder}.",)


def day_of(aside: Path) -> str:
    try:
        at = aside.stat().st_mtime
    except OSError:
        # What is deleted is deleted, also where somebody takes this away just now.
        return "an unknown day"
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d")


def _beside(data_dir: Path, session_id: SessionId) -> Iterator[Path]:
    # An export or a bundle has a time behind the id, a report has not.
    ours = (f"{session_id}-", f"{session_id}.html")
    for name in (EXPORTS, ARCHIVE, REPORTS):
        folder = data_dir / name
        for path in folder.iterdir() if folder.is_dir() else ():
            # Those that were not finished begin with a dot.
            if path.name.lstrip(".").startswith(ours):
                yield path
