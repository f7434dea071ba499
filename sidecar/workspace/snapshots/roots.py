"""Decides which folders may have snapshots."""

import os
from pathlib import Path

from sidecar.core.errors import BadRequest


def check_root(root: Path, data_dir: Path, home: Path | None = None) -> Path:
    """Returns the real path.

    Raises BadRequest for no folder, the disk's root, the home folder or one above, a folder around
    or inside Sidecar's data.
    """
    real = Path(os.path.realpath(root))
    own = Path(os.path.realpath(data_dir))
    user = Path(os.path.realpath(Path("~").expanduser() if home is None else home))
    if not real.is_dir():
        raise BadRequest(f"{root} is no folder, so it can have no snapshots.", "params.cwd")
    if real == Path(real.anchor):
        why = "is the whole file system"
    elif user.is_relative_to(real):
        why = "is or contains your home folder"
    elif real != root:
        why = f"has become a link, to {real}"
    elif own.is_relative_to(real) or real.is_relative_to(own):
        why = "contains Sidecar's own data" if own.is_relative_to(real) else "is Sidecar's own data"
    else:
        return real
    raise BadRequest(
        f"{root} {why}, so no snapshots are taken there and nothing can be rolled back. "
        "Open the folder of a project.",
        "params.cwd",
    )
