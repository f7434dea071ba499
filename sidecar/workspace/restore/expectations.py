"""Compares files with a plan. Blocks."""

import os
import stat
from collections.abc import Callable, Sequence

from sidecar.core.dataclass import dataclass
from sidecar.core.errors import BadRequest
from sidecar.core.files.restore_plan import Action
from sidecar.core.files.tree import TreeEntry
from sidecar.core.text.digest import digest
from sidecar.store.content.restores import FileMark
from sidecar.workspace.restore.places import (
    Blocked,
    around,
    check_path,
    content_in,
    folder,
    root_folder,
    spelt,
    stat_in,
)
from sidecar.workspace.snapshots.known_paths import ancestors, same_stat

CHANGED = "It was changed meanwhile, so nothing was restored. Look at it, and try again."
GONE = "It is gone meanwhile, so nothing was restored."
THERE = "Something was put there meanwhile, so nothing was restored."
OTHER_KIND = "It is something else by now (a file, a folder or a link), so nothing was restored."
OTHER_MODE = "Its mode was changed meanwhile, so nothing was restored."
BLOCKED = "A folder on the way to it is a file or a link by now, so nothing was restored."
HOLDS_OTHERS = "The folder holds other files, so nothing can take its place."


@dataclass(frozen=True, slots=True)
class Conflict:
    """A path unlike the plan, and why."""

    path: bytes
    reason: str


@dataclass(frozen=True, slots=True)
class Checked:
    """An action whose path is as expected; `found`: `None` if nothing is there.

    `mark` has the hash of the bytes read.
    """

    action: Action
    found: os.stat_result | None
    mark: FileMark | None


def check_plan(actions: Sequence[Action]) -> None:
    """Raises BadRequest for a forbidden or repeated path, or content not stored."""
    seen: set[bytes] = set()
    for action in actions:
        check_path(action.path)
        shown = action.path.decode("utf-8", "backslashreplace")
        if action.path in seen:
            raise BadRequest(f"{shown} stands in the plan twice.", "params.paths")
        seen.add(action.path)
        entry = action.entry
        if entry is None or entry.is_folder or action.content is not None:
            continue
        if not entry.hash and not only_mode(action):
            raise BadRequest(
                f"What {shown} held is not stored, so it cannot be restored. Leave it out.",
                "params.paths",
            )


def only_mode(action: Action) -> bool:
    entry, expect = action.entry, action.expect
    if entry is None or expect is None or entry.kind != expect.kind:
        return False
    if entry.is_folder:
        return True
    same = (entry.hash, entry.size, entry.version) == (expect.hash, expect.size, expect.version)
    return same and action.content is None


def check(
    root: bytes, actions: Sequence[Action], stopped: Callable[[], bool]
) -> tuple[list[Checked], list[Conflict]]:
    """Compares actions' paths with the files; raises OSError."""
    made = {a.path for a in actions if a.entry is not None and a.entry.is_folder}
    taken = {a.path for a in actions if a.entry is None}
    checked: list[Checked] = []
    conflicts: list[Conflict] = []
    with root_folder(root) as top:
        for action in actions:
            if stopped():
                break
            found = _check(top, action, made)
            if isinstance(found, Checked) and _is_replaced_folder(action):
                found = _check_emptied(top, found, taken)
            if isinstance(found, Checked):
                checked.append(found)
            else:
                conflicts.append(Conflict(action.path, found))
    return checked, conflicts


def expected(entry: TreeEntry, at: int, name: bytes) -> tuple[os.stat_result, FileMark] | str:
    """Returns stat and mark, or the difference for people."""
    found = stat_in(at, name)
    if found is None:
        return GONE
    if stat.S_IFMT(found.st_mode) != stat.S_IFMT(entry.mode):
        return OTHER_KIND
    if found.st_mode != entry.mode and not stat.S_ISLNK(found.st_mode):
        return OTHER_MODE
    if entry.is_folder:
        return found, mark_of(found)
    if found.st_size != entry.size:
        return CHANGED
    if not entry.hash:
        # Only the time stamp is known of unread files.
        return (found, mark_of(found)) if found.st_mtime_ns == entry.version else CHANGED
    data = content_in(at, name, found)
    after = stat_in(at, name)
    if data is None or after is None or not same_stat(found, after) or digest(data) != entry.hash:
        return CHANGED
    return found, mark_of(found, entry.hash)


def mark_of(found: os.stat_result, name: str = "") -> FileMark:
    return FileMark(found.st_mode, found.st_ino, found.st_mtime_ns, found.st_size, name)


def _check(top: int, action: Action, made: set[bytes]) -> Checked | str:
    try:
        with around(top, action.path) as (at, name):
            if action.expect is None:
                there = stat_in(at, name) is not None
                if there and spelt(action.path, lambda outer: names_in(top, outer)):
                    return THERE
                return Checked(action, None, None)
            seen = expected(action.expect, at, name)
            return seen if isinstance(seen, str) else Checked(action, *seen)
    except Blocked as blocked:
        if action.expect is not None:
            return GONE if blocked.missing else BLOCKED
        # A missing folder is made, by the plan or on the way.
        return Checked(action, None, None) if blocked.missing or blocked.at in made else BLOCKED


def _is_replaced_folder(action: Action) -> bool:
    entry, expect = action.entry, action.expect
    if entry is None or expect is None:
        return False
    return expect.is_folder and not entry.is_folder


def _check_emptied(top: int, checked: Checked, taken: set[bytes]) -> Checked | str:
    path = checked.action.path
    for inner in names_in(top, path):
        if path + b"/" + inner not in taken:
            return HOLDS_OTHERS
    return checked


def names_in(top: int, path: bytes) -> list[bytes]:
    with folder(top, path) as at:
        descriptor = os.open(b".", os.O_RDONLY | os.O_CLOEXEC, dir_fd=at)
        try:
            return [os.fsencode(name) for name in os.listdir(descriptor)]
        finally:
            os.close(descriptor)


def missing_folders(top: int, checked: Sequence[Checked]) -> list[bytes]:
    made = {c.action.path for c in checked if c.action.entry is not None}
    found: set[bytes] = set()
    there: set[bytes] = set()
    for one in checked:
        if one.action.entry is None:
            continue
        for outer in ancestors(one.action.path):
            if outer in made or outer in found or outer in there:
                continue
            try:
                with folder(top, outer):
                    there.add(outer)
            except Blocked:
                found.add(outer)
    return sorted(found)
