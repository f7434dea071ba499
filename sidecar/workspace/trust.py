"""Trusted workspaces: a list in the data folder."""

import json
import os
import tempfile
from pathlib import Path

from sidecar.core.dataclass import dataclass
from sidecar.store.connection.store_files import SERVERS, make_folder

NAME = "trusted-workspaces.json"
MARK = b'{"private": true}\n'


@dataclass(frozen=True, slots=True)
class StartingPlaces:
    """Where the user's own programs start: in `workspace` if `trusted`, else in `empty`."""

    workspace: Path
    empty: Path
    trusted: bool


def is_trusted(data: Path, workspace: Path, said: bool | None = None) -> bool:
    """Whether this very folder is trusted; an unreadable list trusts none.

    `said`: a setting or an editor, which go before the list. A trusted parent does not count, as
    others' code is cloned into it.
    """
    return workspace in map(Path, _read(data)) if said is None else said


def trust(data: Path, workspace: Path) -> None:
    folders = sorted({*_read(data), str(workspace)})
    make_folder(data)
    descriptor, name = tempfile.mkstemp(dir=data, prefix=NAME)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(folders, file)
        file.flush()
        os.fsync(file.fileno())
    Path(name).replace(data / NAME)


def standing(data: Path, workspace: Path, *, trusted: bool) -> StartingPlaces:
    return StartingPlaces(workspace, data / SERVERS, trusted)


def make_empty(empty: Path) -> None:
    """Makes the empty folder, or mends its mark.

    The mark is a package.json that names nothing, as npx takes the nearest file's `bin`.
    """
    make_folder(empty.parent)
    make_folder(empty)
    mark = empty / "package.json"
    if mark.is_symlink() or not mark.is_file() or mark.read_bytes() != MARK:
        descriptor, name = tempfile.mkstemp(dir=empty)
        with os.fdopen(descriptor, "wb") as file:
            file.write(MARK)
        Path(name).replace(mark)


def _read(data: Path) -> list[str]:
    try:
        folders = json.loads((data / NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return [f for f in folders if isinstance(f, str)] if isinstance(folders, list) else []
