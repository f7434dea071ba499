"""Carries out a restore's steps: check again, move, check what was moved. Blocks."""

import errno
import os
import stat
from collections.abc import Callable, Mapping, Sequence

from sidecar.store.content.restores import FileMark, RestoreStep
from sidecar.workspace.restore.expectations import (
    BLOCKED,
    CHANGED,
    GONE,
    HOLDS_OTHERS,
    THERE,
    Conflict,
    names_in,
)
from sidecar.workspace.restore.moves import At, exchange, move
from sidecar.workspace.restore.places import (
    Blocked,
    around,
    folder,
    root_folder,
    set_mode,
    stat_in,
    sync,
)
from sidecar.workspace.restore.staging import new_name, old_name


class StateMoved(Exception):
    """A path changed meanwhile, so the whole restore must be undone."""

    def __init__(self, conflict: Conflict) -> None:
        super().__init__(conflict.reason)
        self.conflict = conflict


class _Kept(Exception):
    """A folder stays, since others' entries are in it."""


def apply(
    root: bytes,
    stages: Sequence[bytes],
    steps: Sequence[RestoreStep],
    changed: Mapping[bytes, int],
    done: Callable[[int], None],
) -> list[bytes]:
    """Carries out all steps; returns folders kept for other entries.

    `changed`: `ctime` (ns) by path at the check. `done` gets the number of finished steps, and may
    raise. After any error the caller must undo.
    """
    kept: list[bytes] = []
    with root_folder(root) as top:
        for number, step in enumerate(steps, 1):
            try:
                _do(top, stages, step, changed.get(step.path))
            except _Kept:
                kept.append(step.path)
            except Blocked as blocked:
                reason = GONE if blocked.missing else BLOCKED
                raise StateMoved(Conflict(step.path, reason)) from blocked
            done(number)
        for path in sorted(_touched(steps, stages)):
            sync(top, path)
        _settled(top, stages, steps)
    return kept


def same(mark: FileMark, found: os.stat_result) -> bool:
    if mark.inode != found.st_ino or mark.mode != found.st_mode:
        return False
    if stat.S_ISDIR(mark.mode):
        return True
    return mark.mtime == found.st_mtime_ns and mark.size == found.st_size


def _do(top: int, stages: Sequence[bytes], step: RestoreStep, changed: int | None) -> None:
    with around(top, step.path) as (at, name):
        target = At(at, name)
        found = stat_in(at, name)
        if step.kind == "mode":
            assert step.old is not None
            assert step.new is not None
            _expect(step, step.old, found, None)
            set_mode(at, name, stat.S_IMODE(step.new.mode))
            return
        if step.old is None:
            if found is not None:
                raise StateMoved(Conflict(step.path, THERE))
        else:
            is_folder = stat.S_ISDIR(step.old.mode)
            _expect(step, step.old, found, None if is_folder else changed)
            if is_folder and names_in(top, step.path):
                _leave(step)
        with folder(top, stages[step.stage]) as staged:
            _put(step, target, At(staged, new_name(step.number)), At(staged, old_name(step.number)))


def _put(step: RestoreStep, target: At, new: At, old: At) -> None:
    try:
        if step.old is None:
            move(new, target)
        elif step.new is None:
            _set_aside(step, step.old, target, old)
        elif exchange(new, target):
            _look(step, step.old, new, lambda: exchange(new, target))
        else:
            _set_aside(step, step.old, target, old)
            move(new, target)
    except FileExistsError as error:
        raise StateMoved(Conflict(step.path, THERE)) from error
    except FileNotFoundError as error:
        raise StateMoved(Conflict(step.path, GONE)) from error


def _set_aside(step: RestoreStep, mark: FileMark, target: At, old: At) -> None:
    try:
        move(target, old)
    except OSError as error:
        if not stat.S_ISDIR(mark.mode) or error.errno not in (errno.EXDEV, errno.EACCES):
            raise
        # Some file systems do not move folders, and a closed one cannot be moved by anybody.
        os.rmdir(target.name, dir_fd=target.folder)
        return
    _look(step, mark, old, lambda: move(old, target))


def _look(step: RestoreStep, mark: FileMark, aside: At, back: Callable[[], object]) -> None:
    found = stat_in(aside.folder, aside.name)
    if found is None or not same(mark, found):
        back()
        raise StateMoved(Conflict(step.path, CHANGED))
    if stat.S_ISDIR(mark.mode) and names_in(aside.folder, aside.name):
        back()
        _leave(step)


def _leave(step: RestoreStep) -> None:
    if step.new is None:
        raise _Kept
    raise StateMoved(Conflict(step.path, HOLDS_OTHERS))


def _expect(
    step: RestoreStep, mark: FileMark, found: os.stat_result | None, changed: int | None
) -> None:
    if found is None:
        raise StateMoved(Conflict(step.path, GONE))
    if not same(mark, found) or (changed is not None and changed != found.st_ctime_ns):
        raise StateMoved(Conflict(step.path, CHANGED))


def _settled(top: int, stages: Sequence[bytes], steps: Sequence[RestoreStep]) -> None:
    """Raises StateMoved if an old descriptor wrote to a set-aside entry."""
    for step in steps:
        if step.kind != "put" or step.old is None or stat.S_ISDIR(step.old.mode):
            continue
        with folder(top, stages[step.stage]) as staged:
            found = stat_in(staged, old_name(step.number))
            if found is None:
                found = stat_in(staged, new_name(step.number))
        if found is None or not same(step.old, found):
            raise StateMoved(Conflict(step.path, CHANGED))


def _touched(steps: Sequence[RestoreStep], stages: Sequence[bytes]) -> set[bytes]:
    puts = [step for step in steps if step.kind == "put"]
    return {step.path.rpartition(b"/")[0] for step in puts} | {stages[s.stage] for s in puts}
