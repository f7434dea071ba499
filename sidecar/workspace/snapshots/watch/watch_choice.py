"""Chooses a workspace's watch (docs/decisions/own-inotify.md).

Without a watch, every snapshot looks at everything.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from sidecar.workspace.snapshots.watch.watch import Watch, WatchFailed

NO_EVENTS = frozenset(
    {
        "9p", "afs", "autofs", "ceph", "cifs", "drvfs", "fuse", "fuseblk", "glusterfs", "gpfs",
        "lustre", "ncpfs", "nfs", "nfs4", "prl_fs", "smb3", "smbfs", "vboxsf", "virtiofs",
        "vmhgfs",
    }
)  # fmt: skip
"""File systems where others write without an event here."""


def why_no_events(root: bytes, mounts: str | None = None) -> str:
    """Names the remote file system at, around or below `root`, or "".

    `mounts`: text of /proc/self/mountinfo, by default read on Linux; may raise OSError.
    """
    if mounts is None:
        if not sys.platform.startswith("linux"):
            return ""
        mounts = os.fsdecode(Path("/proc/self/mountinfo").read_bytes())
    path = os.fsdecode(root)
    over, kind = "", ""
    for line in mounts.splitlines():
        fields, _, rest = line.partition(" - ")
        if not rest:
            continue
        point = _unescaped(fields.split(" ")[4])
        name = rest.split(" ")[0]
        inside = point == path or point.startswith(path.rstrip("/") + "/")
        if inside and point != path and _is_remote(name):
            return _untold(point, name)
        around = point in ("/", path) or path.startswith(point + "/")
        # Of several mounts on one point the last one counts.
        if around and len(point) >= len(over):
            over, kind = point, name
    if _is_remote(kind):
        return _untold("The folder", kind)
    return ""


def _untold(where: str, kind: str) -> str:
    return f"{where} is on {kind}, which does not tell of changes made elsewhere."


def _is_remote(kind: str) -> bool:
    return kind in NO_EVENTS or kind.startswith("fuse.")


def _unescaped(point: str) -> str:
    for code, char in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        point = point.replace(code, char)
    return point


ChooseWatch: TypeAlias = Callable[[Path, Path], Watch]


def choose(root: Path, cookies: Path) -> Watch:
    """Raises WatchFailed where there is none. Blocks."""
    reason = why_no_events(os.fsencode(root))
    if reason:
        raise WatchFailed(reason)
    # Each is loaded only where it is used: one needs a C library, the other takes a tenth of a
    # second to import.
    if sys.platform.startswith("linux"):
        from sidecar.workspace.snapshots.watch.inotify import InotifyWatch  # noqa: PLC0415 - see above

        return InotifyWatch(root)
    from sidecar.workspace.snapshots.watch.cookies import CookieWatch  # noqa: PLC0415 - see above

    return CookieWatch(root, cookies)
