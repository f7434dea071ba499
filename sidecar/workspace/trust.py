"""Which workspaces the user trusts: a list of folders in the data folder, for this user only."""

import json
import os
import tempfile
from pathlib import Path

from sidecar.store.files import make_folder

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


def _read(data: Path) -> list[str]:
    try:
        folders = json.loads((data / NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return [f for f in folders if isinstance(f, str)] if isinstance(folders, list) else []
