"""Which workspaces the user trusts: a list of folders in the data folder, for this user only."""

import json
import os
import tempfile
from pathlib import Path

from sidecar.store.connection.store_files import SERVERS, make_folder

NAME = "trusted-workspaces.json"


def is_trusted(data: Path, workspace: Path) -> bool:
    """Whether the user has trusted this folder, or one above it; unreadable lists trust nothing."""
    trusted = {Path(folder) for folder in _read(data)}
    return any(folder in trusted for folder in (workspace, *workspace.parents))


def trust(data: Path, workspace: Path) -> None:
    """Remember that the user trusts a folder and all below it; durable when this returns."""
    folders = sorted({*_read(data), str(workspace)})
    make_folder(data)
    descriptor, name = tempfile.mkstemp(dir=data, prefix=NAME)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(folders, file)
        file.flush()
        os.fsync(file.fileno())
    Path(name).replace(data / NAME)


def standing(data: Path, workspace: Path, *, trusted: bool) -> Path:
    """Give the folder in which the user's own programs start: the workspace only where trusted.

    Elsewhere that is an empty folder: npx and its like run what lies in the current one.
    """
    if trusted:
        return workspace
    make_folder(data)
    make_folder(data / SERVERS)
    return data / SERVERS


def _read(data: Path) -> list[str]:
    try:
        folders = json.loads((data / NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return [f for f in folders if isinstance(f, str)] if isinstance(folders, list) else []
