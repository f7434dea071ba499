"""A scan's results: the delta, and the new state."""

from collections.abc import Mapping

from sidecar.core.dataclass import dataclass
from sidecar.core.files.tree import Delta, SeenEntry, TreeChange
from sidecar.workspace.snapshots.known_paths import KnownPaths, left_out
from sidecar.workspace.snapshots.scan.scan import Scan
from sidecar.workspace.snapshots.steady_read import Looked


@dataclass(frozen=True, slots=True)
class ScanOutcome:
    """`delta`: changes since the last snapshot; `known`: new states."""

    delta: Delta
    known: Mapping[bytes, SeenEntry | None]


def conclude(state: KnownPaths, scan: Scan, looked: Looked) -> ScanOutcome:
    changes: list[TreeChange] = []
    known: dict[bytes, SeenEntry | None] = {}
    for path, now in (looked.seen | dict.fromkeys(scan.gone)).items():
        before = state.get(path)
        if before is None and now is None:
            continue
        known[path] = now
        old = None if before is None else before.entry
        new = None if now is None else now.entry
        if old is None and new is not None and path in scan.shown:
            old = left_out(new.mode, new.size)
        if old != new:
            changes.append(TreeChange(path, old, new))
    return ScanOutcome(tuple(sorted(changes, key=lambda change: change.path)), known)


def take_over(state: KnownPaths, known: Mapping[bytes, SeenEntry | None]) -> None:
    for path in sorted((p for p, seen in known.items() if seen is None), reverse=True):
        state.put(path, None)
    for path, seen in known.items():
        if seen is not None:
            state.put(path, seen)


def missed(scan: Scan, state: KnownPaths) -> set[bytes]:
    """Returns scanned paths that differ, except by a folder's time alone."""
    found = set(scan.gone)
    for path, now in scan.stats.items():
        seen = state.get(path)
        if seen is None:
            found.add(path)
        elif seen.entry.is_folder:
            if seen.entry.mode != now.st_mode:
                found.add(path)
        elif (seen.ctime, seen.mtime, seen.inode) != (
            now.st_ctime_ns,
            now.st_mtime_ns,
            now.st_ino,
        ):
            found.add(path)
    return found
