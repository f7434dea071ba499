"""Orders a plan's steps, and chooses staging folders.

Files leave first, then emptied folders; new entries follow, outer before inner. Modes come last.
"""

import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sidecar.core.dataclass import dataclass
from sidecar.core.files.restore_plan import Action
from sidecar.core.files.tree import TreeEntry
from sidecar.store.content.restores import FileMark, RestoreStep
from sidecar.workspace.restore.expectations import Checked, mark_of, missing_folders, only_mode
from sidecar.workspace.restore.places import folder, root_folder, stat_at

OPEN = 0o700
"""Mode bits that let a folder's owner change its contents."""


@dataclass(frozen=True, slots=True)
class Put:
    """A step that empties a path, fills it with `entry`, or both.

    `action`: `None` for a missing parent, which gets the umask's mode.
    """

    path: bytes
    number: int
    stage: int
    old: FileMark | None
    entry: TreeEntry | None
    action: Action | None


@dataclass(frozen=True, slots=True)
class Layout:
    """The ordered steps; `loosened`: folders made writable first.

    `stages`: where staging folders go.
    """

    stages: tuple[bytes, ...]
    puts: tuple[Put, ...]
    loosened: tuple[RestoreStep, ...]
    modes: tuple[RestoreStep, ...]

    def steps(self, staged: Mapping[int, FileMark]) -> tuple[RestoreStep, ...]:
        made = [
            RestoreStep("put", put.path, put.number, put.stage, put.old, staged.get(put.number))
            for put in self.puts
        ]
        closed = [
            RestoreStep(
                "mode", put.path, put.number, put.stage, mark, mark._replace(mode=put.entry.mode)
            )
            for put in self.puts
            if put.entry is not None
            and put.action is not None
            and (mark := staged[put.number]).mode != put.entry.mode
            and put.entry.is_folder
        ]
        last = sorted((*self.modes, *closed), key=_inner_first)
        return (*self.loosened, *made, *last)


def lay_out(root: bytes, checked: Sequence[Checked]) -> Layout:
    with root_folder(root) as top:
        devices = _Devices(top)
        missing = missing_folders(top, checked)
        outs = [c for c in checked if c.action.entry is None and c.found is not None]
        puts: list[Put] = []

        def put(
            path: bytes, old: FileMark | None, entry: TreeEntry | None, action: Action | None
        ) -> None:
            stage = devices.stage(path.rpartition(b"/")[0])
            puts.append(Put(path, len(puts), stage, old, entry, action))

        for one in sorted(outs, key=_folders_last):
            put(one.action.path, one.mark, None, one.action)
        ins: list[tuple[bytes, Checked | None]] = [(path, None) for path in missing]
        ins += [(c.action.path, c) for c in checked if _comes(c)]
        for path, comes in sorted(ins, key=lambda pair: pair[0]):
            if comes is None:
                put(path, None, TreeEntry(stat.S_IFDIR), None)
            else:
                put(path, comes.mark, comes.action.entry, comes.action)
        loosened = _loosened(top, puts)
        modes = _modes(checked, loosened)
        # A folder opened first, then removed, is removed in its opened state.
        last = [replace(p, old=loosened[p.path].new) if p.path in loosened else p for p in puts]
    return Layout(tuple(devices.folders), tuple(last), tuple(loosened.values()), modes)


class _Devices:
    """Chooses a folder on each file system, since moves cannot cross."""

    def __init__(self, top: int) -> None:
        self._top = top
        self._known: dict[bytes, tuple[int, bytes]] = {b"": (os.fstat(top).st_dev, b"")}
        self.folders: list[bytes] = []

    def stage(self, path: bytes) -> int:
        _, outermost = self._place(path)
        if outermost not in self.folders:
            self.folders.append(outermost)
        return self.folders.index(outermost)

    def _place(self, path: bytes) -> tuple[int, bytes]:
        known = self._known.get(path)
        if known is None:
            known = self._place(path.rpartition(b"/")[0])
            found = stat_at(self._top, path)
            if found is not None and stat.S_ISDIR(found.st_mode) and found.st_dev != known[0]:
                known = (found.st_dev, path)
            self._known[path] = known
        return known


def _comes(checked: Checked) -> bool:
    return checked.action.entry is not None and not only_mode(checked.action)


def _loosened(top: int, puts: Sequence[Put]) -> dict[bytes, RestoreStep]:
    found: dict[bytes, RestoreStep] = {}
    for outer in sorted({put.path.rpartition(b"/")[0] for put in puts} - {b""}):
        seen = stat_at(top, outer)
        if seen is None or not stat.S_ISDIR(seen.st_mode):
            continue
        with folder(top, outer) as at:
            if os.access(b".", os.W_OK | os.X_OK, dir_fd=at, effective_ids=True):
                continue
        mark = mark_of(seen)
        opened = mark._replace(mode=mark.mode | OPEN)
        found[outer] = RestoreStep("mode", outer, 0, 0, mark, opened)
    return found


def _modes(
    checked: Sequence[Checked], loosened: Mapping[bytes, RestoreStep]
) -> tuple[RestoreStep, ...]:
    by_path = {c.action.path: c.action for c in checked}
    steps: list[RestoreStep] = []
    for one in checked:
        entry = one.action.entry
        if entry is None or one.mark is None or not only_mode(one.action):
            continue
        opened = loosened.get(one.action.path)
        before = one.mark if opened is None or opened.new is None else opened.new
        if before.mode != entry.mode:
            after = before._replace(mode=entry.mode)
            steps.append(RestoreStep("mode", one.action.path, 0, 0, before, after))
    for path, opened in loosened.items():
        if path not in by_path:
            steps.append(RestoreStep("mode", path, 0, 0, opened.new, opened.old))
    return tuple(steps)


def _folders_last(checked: Checked) -> tuple[bool, int]:
    is_folder = checked.mark is not None and stat.S_ISDIR(checked.mark.mode)
    return is_folder, -checked.action.path.count(b"/")


def _inner_first(step: RestoreStep) -> int:
    return -step.path.count(b"/")
