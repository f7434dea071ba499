"""Undoes steps from last to first; may be repeated. Blocks.

Finished steps are recognised on disk, since a restore may be killed at any time.
"""

import errno
import os
import stat
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sidecar.store.content.restores import FileMark, RestoreStep
from sidecar.workspace.restore.apply_steps import same
from sidecar.workspace.restore.expectations import Conflict, names_in
from sidecar.workspace.restore.moves import At, exchange, move
from sidecar.workspace.restore.places import (
    Blocked,
    around,
    folder,
    root_folder,
    set_mode,
    stat_at,
    stat_in,
    sync,
)
from sidecar.workspace.restore.staging import new_name, old_name

BESIDE = (
    "Somebody changed it while a restore was taken back, so it stays as it is; what was there "
    "before the restore is beside it, as {name}."
)
STAYS = "Somebody changed it while a restore was taken back, so it stays as it is."
FOLDER_STAYS = "Something was put into this new folder while a restore was taken back, so it stays."
NOT_STORED = (
    "What was there before the restore is gone: somebody removed the folder in which it stood "
    "meanwhile, and it was too large to be stored."
)
NO_WAY = (
    "The folder that it lies in is gone, so what was there before the restore was put into {name}."
)
REST = b".before-restore"


def undo(
    root: bytes,
    stages: Sequence[bytes],
    steps: Sequence[RestoreStep],
    contents: Mapping[str, bytes],
) -> list[Conflict]:
    """Undoes the steps; returns paths changed by somebody meanwhile, with their outcome.

    `contents`: bytes by hash, for `lacking` hashes. Raises OSError if a step cannot be undone,
    after all others.
    """
    left: list[Conflict] = []
    failed: OSError | None = None
    with root_folder(root) as top:
        for step in reversed(steps):
            try:
                conflict = _undo(top, stages, step, contents)
            except OSError as error:
                failed = error
                continue
            if conflict is not None:
                left.append(conflict)
        for path in sorted({step.path.rpartition(b"/")[0] for step in steps}):
            sync(top, path)
    if failed is not None:
        raise failed
    return left


def lacking(root: bytes, stages: Sequence[bytes], steps: Sequence[RestoreStep]) -> frozenset[str]:
    """Returns hashes of former entries whose staging folder somebody removed."""
    found: set[str] = set()
    with root_folder(root) as top:
        for step in steps:
            if step.kind == "put" and step.old is not None and step.old.hash:
                now = _now(top, stages, step)
                gone = now.target is None or (step.new is not None and same(step.new, now.target))
                if not now.staged and gone:
                    found.add(step.old.hash)
    return frozenset(found)


class _Now(NamedTuple):
    """A step's path and staging folder on disk.

    `staged`: the folder exists. `aside`: the former entry's name in it. `waiting`: the new entry is
    there.
    """

    target: os.stat_result | None
    staged: bool
    aside: bytes | None
    waiting: bool


def _now(top: int, stages: Sequence[bytes], step: RestoreStep) -> _Now:
    target = stat_at(top, step.path)
    try:
        with folder(top, stages[step.stage]) as staged:
            new = stat_in(staged, new_name(step.number))
            waiting = new is not None and step.new is not None and new.st_ino == step.new.inode
            aside: bytes | None = None
            if stat_in(staged, old_name(step.number)) is not None:
                aside = old_name(step.number)
            elif new is not None and not waiting:
                # After an exchange, the former entry has the new entry's staging name.
                aside = new_name(step.number)
    except Blocked:
        return _Now(target, False, None, False)
    return _Now(target, True, aside, waiting)


def _undo(
    top: int, stages: Sequence[bytes], step: RestoreStep, contents: Mapping[str, bytes]
) -> Conflict | None:
    if step.kind == "mode":
        return _undo_mode(top, step)
    now = _now(top, stages, step)
    ours = now.target is not None and step.new is not None and _is_ours(step.new, now.target)
    if now.aside is None:
        return _without_aside(top, step, now, ours=ours, contents=contents)
    with folder(top, stages[step.stage]) as staged:
        source = At(staged, now.aside)
        try:
            with around(top, step.path) as (at, name):
                target = At(at, name)
                return _put_back(step, source, target, ours=ours, there=now.target is not None)
        except Blocked:
            kept = _free_name(At(top, step.path.rpartition(b"/")[2]))
            move(source, At(top, kept))
            return Conflict(step.path, NO_WAY.format(name=_shown(kept)))


def _put_back(
    step: RestoreStep, source: At, target: At, *, ours: bool, there: bool
) -> Conflict | None:
    if not there:
        move(source, target)
        return None
    if ours:
        assert step.new is not None
        spare = At(source.folder, b"%d.undone" % step.number)
        if exchange(source, target):
            out = source
        else:
            move(target, spare)
            move(source, target)
            out = spare
        found = stat_in(out.folder, out.name)
        filled = stat.S_ISDIR(step.new.mode) and bool(names_in(out.folder, out.name))
        if found is not None and _is_ours(step.new, found) and not filled:
            return None
        # Changed at this very moment: the changed entry goes back, ours beside it.
        if out is source:
            exchange(source, target)
        else:
            move(target, source)
            move(spare, target)
    kept = _free_name(target)
    move(source, At(target.folder, kept))
    return Conflict(step.path, BESIDE.format(name=_shown(kept)))


def _without_aside(
    top: int, step: RestoreStep, now: _Now, *, ours: bool, contents: Mapping[str, bytes]
) -> Conflict | None:
    data = None if step.old is None else contents.get(step.old.hash)
    folder_left = step.old is not None and stat.S_ISDIR(step.old.mode)
    # A former entry found nowhere was lost with its staging folder; with that folder there, it was
    # never set aside, so somebody else removed it. Folders are not set aside everywhere.
    again = data is not None or folder_left
    if not ours and (now.target is not None or not again):
        came = step.old is None and now.staged and not now.waiting and now.target is not None
        return Conflict(step.path, STAYS) if came else None
    if step.old is not None and not again:
        return Conflict(step.path, NOT_STORED)
    try:
        with around(top, step.path) as (at, name):
            if ours and not _removed(At(at, name), step):
                return Conflict(step.path, FOLDER_STAYS)
            if step.old is not None:
                _make_again(At(at, name), step.old, data)
    except Blocked:
        return None
    return None


def _removed(target: At, step: RestoreStep) -> bool:
    assert step.new is not None
    if not stat.S_ISDIR(step.new.mode):
        os.unlink(target.name, dir_fd=target.folder)
        return True
    try:
        os.rmdir(target.name, dir_fd=target.folder)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        return False
    return True


def _make_again(target: At, mark: FileMark, data: bytes | None) -> None:
    if stat.S_ISDIR(mark.mode):
        os.mkdir(target.name, 0o700, dir_fd=target.folder)
        set_mode(target.folder, target.name, stat.S_IMODE(mark.mode))
    elif data is None:
        return
    elif stat.S_ISLNK(mark.mode):
        os.symlink(data, target.name, dir_fd=target.folder)
    else:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        descriptor = os.open(target.name, flags, 0o600, dir_fd=target.folder)
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(descriptor, stat.S_IMODE(mark.mode))
            os.fsync(descriptor)


def _undo_mode(top: int, step: RestoreStep) -> Conflict | None:
    assert step.old is not None
    assert step.new is not None
    try:
        with around(top, step.path) as (at, name):
            found = stat_in(at, name)
            if found is not None and found.st_ino == step.new.inode:
                if found.st_mode == step.new.mode:
                    set_mode(at, name, stat.S_IMODE(step.old.mode))
                elif found.st_mode != step.old.mode:
                    return Conflict(step.path, STAYS)
    except Blocked:
        return None
    return None


def _is_ours(mark: FileMark, found: os.stat_result) -> bool:
    if stat.S_ISDIR(mark.mode):
        return mark.inode == found.st_ino and stat.S_ISDIR(found.st_mode)
    return same(mark, found)


def _free_name(target: At) -> bytes:
    name = target.name + REST
    number = 1
    while stat_in(target.folder, name) is not None:
        number += 1
        name = target.name + REST + b"-%d" % number
    return name


def _shown(name: bytes) -> str:
    return name.decode("utf-8", "backslashreplace")
