"""Leaves word of deleted and archived sessions, for the next sync to clear their refs."""

import shutil
from contextlib import suppress
from pathlib import Path

from sidecar.session.session_settings import synced_as
from sidecar.store.connection.store_files import REMOVED, SYNC, SYNC_COPIES, make_folder
from sidecar.store.format.values import SessionRow


def leave_word(data: Path, row: SessionRow) -> None:
    """Does nothing where nothing was ever synced. Blocks.

    A word that cannot be left is lost: the ref stays, and nothing else.
    """
    if (data / SYNC).is_dir():
        with suppress(OSError, ValueError):
            word = _word(data, row)
            make_folder(word.parent)
            word.touch()


def forget_copies(data: Path) -> None:
    """Removes what was fetched or sent: a deleted session may be in it. Blocks."""
    for name in SYNC_COPIES:
        shutil.rmtree(data / SYNC / name, ignore_errors=True)


def take_word_back(data: Path, row: SessionRow) -> None:
    """Blocks."""
    with suppress(OSError, ValueError):
        _word(data, row).unlink()


def _word(data: Path, row: SessionRow) -> Path:
    # A name may come from elsewhere.
    return data / SYNC / REMOVED / Path(synced_as(row)).name
