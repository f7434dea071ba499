"""What is kept of each remote beside the store: who agreed, and how sessions stood at last.

Marks only save reading; without them both sides are compared. Words of sessions that were deleted
or archived wait until their refs are gone.
"""

import json
from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sidecar.core.dataclass import dataclass
from sidecar.session.sync.sync_plan import Mark
from sidecar.store.connection.store_faults import storage_failed
from sidecar.store.connection.store_files import REMOVED, SYNC, make_folder
from sidecar.workspace.files import write_atomically

if TYPE_CHECKING:
    # `sidecar doctor` needs nothing that asks git.
    from sidecar.session.sync.sync_remotes import Remote


@dataclass(frozen=True, slots=True)
class KnownRemote:
    """A remote as people see it, folders whose sessions may go there, and marks by name.

    Those of `sealed` may go there only encrypted; of those of `snapshots`, what files held goes
    along, of those of `sealed_snapshots` only encrypted.
    """

    shown: str
    folders: frozenset[str] = frozenset()
    sealed: frozenset[str] = frozenset()
    snapshots: frozenset[str] = frozenset()
    sealed_snapshots: frozenset[str] = frozenset()
    marks: Mapping[str, Mark] = field(default_factory=dict)

    def agreed(self, folder: str, *, sealed: bool, snapshots: bool) -> "KnownRemote":
        one = frozenset({folder})
        files = one if snapshots else frozenset[str]()
        if sealed:
            # Who wants it encrypted is asked before anything goes legibly again.
            legible = replace(self, folders=self.folders - one, snapshots=self.snapshots - one)
            files |= self.sealed_snapshots
            return replace(legible, sealed=self.sealed | one, sealed_snapshots=files)
        return replace(self, folders=self.folders | one, snapshots=self.snapshots | files)

    def without_snapshots(self, folder: str) -> "KnownRemote":
        legible, sealed = self.snapshots - {folder}, self.sealed_snapshots - {folder}
        return replace(self, snapshots=legible, sealed_snapshots=sealed)

    def may(self, folder: str, *, sealed: bool) -> bool:
        return folder in self.folders or (sealed and folder in self.sealed)

    def may_snapshots(self, folder: str, *, sealed: bool) -> bool:
        return folder in self.snapshots or (sealed and folder in self.sealed_snapshots)

    def marked(self, marks: Mapping[str, Mark | None]) -> "KnownRemote":
        """`None` takes a mark away."""
        merged = {**self.marks, **marks}
        return replace(self, marks={name: mark for name, mark in merged.items() if mark})


def known_remote(data: Path, remote: "Remote") -> KnownRemote:
    """Unreadable files say nothing: all is compared, and the user asked, again. Blocks."""
    return _read(_path(data, remote.key)) or KnownRemote(remote.shown)


def keep_remote(data: Path, remote: "Remote", known: KnownRemote) -> None:
    """Writes durably; raises StorageFailed. Blocks."""
    body = {
        "remote": remote.shown,
        "folders": sorted(known.folders),
        "sealed": sorted(known.sealed),
        "snapshots": sorted(known.snapshots),
        "sealedSnapshots": sorted(known.sealed_snapshots),
        "sessions": {
            name: [mark.tip, mark.revision, mark.folder] for name, mark in known.marks.items()
        },
    }
    path = _path(data, remote.key)
    try:
        make_folder(path.parent)
        write_atomically(path, json.dumps(body), private=True)
    except OSError as error:
        raise storage_failed(error) from error


def known_remotes(data: Path) -> list[KnownRemote]:
    """Lists all remotes with marks or agreements. Blocks."""
    folder = data / SYNC
    paths = sorted(folder.glob("*.json")) if folder.is_dir() else []
    return [known for path in paths if (known := _read(path)) is not None]


def removed_names(data: Path) -> list[str]:
    """Names sessions deleted or archived here. Blocks."""
    folder = data / SYNC / REMOVED
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def settle_removed(data: Path, names: list[str]) -> None:
    """Drops words that no remote's marks name any more. Blocks."""
    held = {name for known in known_remotes(data) for name in known.marks}
    for name in names:
        if name not in held:
            (data / SYNC / REMOVED / name).unlink(missing_ok=True)


def _path(data: Path, key: str) -> Path:
    return data / SYNC / f"{key}.json"


def _read(path: Path) -> KnownRemote | None:
    try:
        body = json.loads(path.read_text("utf-8"))
        listed = body["sessions"].items()
        marks = {str(n): Mark(str(tip), int(at), str(cwd)) for n, (tip, at, cwd) in listed}
        folders, sealed, files, sealed_files = (
            frozenset(map(str, body.get(name, ())))
            for name in ("folders", "sealed", "snapshots", "sealedSnapshots")
        )
        shown = str(body["remote"])
        return KnownRemote(shown, folders, sealed, files, sealed_files, marks)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
