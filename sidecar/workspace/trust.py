"""Workspaces trusted by the user: a list in the user's data folder."""

import json
import os
import tempfile
from pathlib import Path

from sidecar.store.connection.store_files import SERVERS, make_folder

NAME = "trusted-workspaces.json"


def is_trusted(data: Path, workspace: Path) -> bool:
    """Whether the user trusts this folder or one above; an unreadable list trusts none."""
    trusted = {Path(folder) for folder in _read(data)}
    return any(folder in trusted for folder in (workspace, *workspace.parents))


def trust(data: Path, workspace: Path) -> None:
    """Trust a folder with everything below; durable on return."""
    folders = sorted({*_read(data), str(workspace)})
    make_folder(data)
    descriptor, name = tempfile.mkstemp(dir=data, prefix=NAME)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(folders, file)
        file.flush()
        os.fsync(file.fileno())
    Path(name).replace(data / NAME)


def standing(data: Path, workspace: Path, *, trusted: bool) -> Path:
    """Starting folder of the user's own programs: the workspace only if trusted.

    Otherwise an empty folder: npx and similar tools run files of the current one.
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
