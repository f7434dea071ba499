"""Carries out a plan and logs it, completely or not at all.

New content is written beside the files, and moves are stored so that a restart can undo them; then
one transaction ends the restore.
"""

import asyncio
import os
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from sidecar.core.dataclass import dataclass
from sidecar.core.errors import BadRequest, Overloaded, StorageFailed
from sidecar.core.files.restore_plan import Action
from sidecar.store.content.blobs import PressedBlob, press
from sidecar.store.content.restores import (
    Begun,
    FileMark,
    RestoreClaim,
    RestoreRows,
    RestoreStep,
    Running,
    Unfinished,
)
from sidecar.store.format.values import StoreChange
from sidecar.store.journal import Store
from sidecar.workspace.restore.apply_steps import StateMoved, apply
from sidecar.workspace.restore.expectations import Checked, check, check_plan
from sidecar.workspace.restore.layout import Layout, Put, lay_out
from sidecar.workspace.restore.places import Blocked, around, content_in, root_folder, stat_in
from sidecar.workspace.restore.recovery import OnTouched, claimed, clean, end, take_back
from sidecar.workspace.restore.restore_outcome import (
    BUSY,
    SWEPT,
    FilesRestored,
    RestoreOutcome,
    RestoreRefused,
    failure,
)
from sidecar.workspace.restore.staging import EMPTY, batches, make_stages, sync_stages, write_batch
from sidecar.workspace.snapshots.ignore import STAGING
from sidecar.workspace.snapshots.known_paths import join

StepsDone = Callable[[int, int], None]
RecordChanges = Callable[[], Awaitable[Sequence[StoreChange]]]

TRIES = 3
INLINE_PATHS = 8
INLINE_BYTES = 256 * 1024
"""Limits for checks on the event loop, where a thread takes longer."""


async def _nothing() -> Sequence[StoreChange]:
    return ()


class _Stopped(Exception):
    """The caller cancelled before the commit."""


@dataclass(frozen=True, slots=True)
class _Work:
    root: bytes
    rows: RestoreRows
    claim: RestoreClaim
    stop: threading.Event
    tell: StepsDone | None
    stands: Callable[[], None]

    def check(self) -> None:
        if self.stop.is_set():
            raise _Stopped

    def progress(self, done: int, total: int) -> None:
        if self.tell is not None:
            self.tell(done, total)

    def stages(self, folders: Sequence[bytes]) -> tuple[bytes, ...]:
        name = STAGING + self.claim.owner.token.encode()
        return tuple(join(folder, name) for folder in folders)


@dataclass(frozen=True, slots=True)
class _Found:
    root: bytes
    layout: Layout
    checked: Sequence[Checked]


async def restore(
    root: Path,
    actions: Sequence[Action],
    store: Store,
    *,
    record: RecordChanges = _nothing,
    touched: OnTouched | None = None,
    stands: Callable[[], None] = lambda: None,
    progress: StepsDone | None = None,
    quick: bool = False,
) -> RestoreOutcome:
    """Carries out a plan.

    `record`, called once after all moves, returns the session's changes to commit with the files.
    `touched` gets paths before and after moves, and after an undo. `stands`, called once durable,
    must not raise. `progress` gets steps done and total. `quick`: few small files need no thread.
    Raises BadRequest for an impossible plan or unwritable files, Overloaded while another window
    restores, StorageFailed, and CancelledError before the commit. Then files are unchanged, or
    undone later if the message says so.
    """
    check_plan(actions)
    stop = threading.Event()

    async def work() -> RestoreOutcome:
        try:
            if quick and _few(actions):
                found = _look(root, actions, stop)
            else:
                found = await asyncio.to_thread(_look, root, actions, stop)
        except OSError as error:
            raise failure(error) from error
        if isinstance(found, RestoreRefused):
            return found
        with claimed(found.root) as claim:
            one = _Work(found.root, store.restores, claim, stop, progress, stands)
            return await _restore(one, found, record, touched or _touch_nobody)

    return await _whole(work(), stop)


async def _restore(
    work: _Work, found: _Found, record: RecordChanges, touched: OnTouched
) -> RestoreOutcome:
    stages = work.stages(found.layout.stages)
    try:
        begun = await _begin(work, stages, found.layout, touched)
    except OSError as error:
        raise failure(error) from error
    try:
        steps = found.layout.steps(await _stage(work, begun, found.layout, stages))
        await work.rows.intend(begun.id, work.claim.owner.token, steps)
    except BaseException as error:
        # Whether the store took it in or not, no file was touched.
        await clean(work.root, work.rows, begun.id, stages)
        raise failure(error) if isinstance(error, Exception) else error from error
    touch = partial(touched, *(one.action.path for one in found.checked))
    touch()
    try:
        ended = await _apply(work, begun.id, stages, steps, found.checked, record, touch)
    except BaseException:
        touch()
        raise
    if isinstance(ended, RestoreRefused):
        touch()
    return ended


async def _apply(
    work: _Work,
    number: int,
    stages: tuple[bytes, ...],
    steps: Sequence[RestoreStep],
    checked: Sequence[Checked],
    record: RecordChanges,
    touch: Callable[[], None],
) -> RestoreOutcome:
    found = [(c.action.path, c.found) for c in checked if c.found is not None]
    names = Counter((one.st_dev, one.st_ino) for _, one in found)
    # Moving one name of a file changes the time of all of them.
    changed = {p: one.st_ctime_ns for p, one in found if names[one.st_dev, one.st_ino] == 1}
    unfinished = Unfinished(number, "applying", stages, tuple(steps))
    loop = asyncio.get_running_loop()
    staged = sum(step.new is not None and step.kind == "put" for step in steps)
    total = staged + len(steps)

    def done(count: int) -> None:
        work.check()
        if work.tell is not None:
            loop.call_soon_threadsafe(work.tell, staged + count, total)

    try:
        kept = await asyncio.to_thread(apply, work.root, stages, steps, changed, done)
        touch()
        work.check()
        await _finish(work, number, record)
    except StateMoved as moved:
        left = await take_back(work.root, work.rows, unfinished)
        return RestoreRefused((moved.conflict, *left))
    except Exception as error:
        await take_back(work.root, work.rows, unfinished)
        raise failure(error) from error
    small = len(checked) <= INLINE_PATHS
    leftover = await clean(work.root, work.rows, number, stages, work.stands, small=small)
    return FilesRestored(tuple(sorted(kept)), leftover)


async def _finish(work: _Work, number: int, record: RecordChanges) -> None:
    changes = await record()
    try:
        await work.rows.finish(number, work.claim.owner.token, changes)
    except StorageFailed:
        # A disk that fails during a commit may have committed.
        if not await work.rows.finished(number):
            raise


def _few(actions: Sequence[Action]) -> bool:
    read = sum(action.expect.size for action in actions if action.expect is not None)
    return len(actions) <= INLINE_PATHS and read <= INLINE_BYTES


def _look(root: Path, actions: Sequence[Action], stop: threading.Event) -> _Found | RestoreRefused:
    base = os.fsencode(os.path.realpath(root))
    checked, conflicts = check(base, actions, stop.is_set)
    if stop.is_set():
        raise _Stopped
    if conflicts:
        return RestoreRefused(tuple(conflicts))
    return _Found(base, lay_out(base, checked), checked)


async def _begin(
    work: _Work, stages: tuple[bytes, ...], layout: Layout, touched: OnTouched
) -> Begun:
    coming = {_needed(put) for put in layout.puts} - {""}
    going = {put.old.hash for put in layout.puts if put.old is not None} - {""}
    for _ in range(TRIES):
        found = await work.rows.begin(work.claim, stages, coming, going)
        match found:
            case Begun():
                return found
            case Unfinished():
                ended = await end(work.root, work.rows, found, touched)
                if ended.leftover:
                    raise StorageFailed(ended.leftover, kind="io")
            case Running(owner):
                raise Overloaded(BUSY.format(pid=owner.pid))
    raise Overloaded(BUSY.format(pid="unknown"))


async def _stage(
    work: _Work, begun: Begun, layout: Layout, stages: tuple[bytes, ...]
) -> dict[int, FileMark]:
    swept = sorted(put.path for put in layout.puts if _needed(put) in begun.missing)
    if swept:
        raise BadRequest(SWEPT.format(path=_shown(swept[0])), "params.paths")
    for put in layout.puts:
        if put.old is not None and put.old.hash in begun.missing:
            work.check()
            blob = await asyncio.to_thread(_pre_image, work.root, put)
            if blob is not None:
                await work.rows.keep(begun.id, [blob])
    marks: dict[int, FileMark] = {}
    total = sum(2 if put.entry is not None else 1 for put in layout.puts)
    total += len(layout.loosened) + len(layout.modes)
    portions = list(batches(layout.puts)) or [[]]
    for number, batch in enumerate(portions, 1):
        work.check()
        contents = begun.contents
        if not contents.keys() >= (names := {_needed(put) for put in batch} - {""}):
            contents = await work.rows.contents(names)
        write = partial(_write, work.root, stages, batch, contents)
        marks |= await asyncio.to_thread(write, first=number == 1, last=number == len(portions))
        work.progress(len(marks), total)
    work.check()
    return marks


def _write(
    root: bytes,
    stages: tuple[bytes, ...],
    batch: Sequence[Put],
    contents: Mapping[str, bytes],
    *,
    first: bool,
    last: bool,
) -> dict[int, FileMark]:
    if first:
        make_stages(root, stages)
    marks = write_batch(root, stages, batch, contents)
    if last:
        sync_stages(root, stages)
    return marks


async def _whole(work: Awaitable[RestoreOutcome], stop: threading.Event) -> RestoreOutcome:
    """Lets the work end even when cancelled: nothing stays half done."""
    cancelled: asyncio.CancelledError | None = None

    async def guarded() -> RestoreOutcome | Exception:
        try:
            return await work
        except Exception as error:  # noqa: BLE001 - a task group would wrap it; raised below
            return error
        finally:
            stop.set()

    async with asyncio.TaskGroup() as group:
        task = group.create_task(guarded())
        while not task.done():
            try:
                await asyncio.shield(task)
            except asyncio.CancelledError as error:
                if task.cancelled():
                    raise
                cancelled = error
                stop.set()
    ended = task.result()
    if isinstance(ended, FilesRestored):
        current = asyncio.current_task()
        if cancelled is not None and current is not None:
            current.uncancel()
        return ended
    if cancelled is not None:
        raise cancelled
    if isinstance(ended, Exception):
        raise ended
    return ended


def _needed(put: Put) -> str:
    if put.entry is None or put.entry.is_folder or put.entry.hash == EMPTY:
        return ""
    return "" if put.action is not None and put.action.content is not None else put.entry.hash


def _pre_image(root: bytes, put: Put) -> PressedBlob | None:
    try:
        with root_folder(root) as top, around(top, put.path) as (at, name):
            found = stat_in(at, name)
            data = None if found is None else content_in(at, name, found)
    except Blocked:
        return None
    return None if data is None else press(data)


def _touch_nobody(*paths: bytes) -> None: ...


def _shown(path: bytes) -> str:
    return path.decode("utf-8", "backslashreplace")
