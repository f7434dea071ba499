"""Attributes changes, by snapshots around steps."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import field, replace
from pathlib import Path
from time import monotonic
from typing import TypeVar

from sidecar.core.dataclass import dataclass
from sidecar.core.errors import BadRequest, SidecarError
from sidecar.core.files.authorship import Intent, vouched
from sidecar.core.files.changeset import ChangeSet, ToolWrite, attribute, same
from sidecar.core.files.reconcile import Sizes
from sidecar.core.files.tree import SnapshotId, TreeEntry
from sidecar.core.parts import MessageId, PartId
from sidecar.core.text.digest import digest
from sidecar.session.log.change_records import Patch, cut_short, newest, part_of, untold
from sidecar.session.log.session_log import SessionLog
from sidecar.store.format.log_records import PatchedRecord
from sidecar.workspace.present_state import beside, written_lately
from sidecar.workspace.shared_snapshots import SharedSnapshots
from sidecar.workspace.snapshots.snapshots import Snapshots

logger = logging.getLogger("sidecar.session")


_REGULAR = 0o100644
MOST_HELD = 3.0
"""Seconds that a step waits for those who write."""

T = TypeVar("T")


@dataclass(slots=True)
class _Interval:
    """What is known of the time since the log's last snapshot.

    `open`: a step's tools may write; earlier changes are `early`. `unsaved` writes are in open
    buffers; `calls` may change anything. `seen`: what others left, before a tool reports a write.
    `lost`: without an earlier state, authors are unknown. `held`: since when its end waits.
    """

    open: bool = False
    early: tuple[ChangeSet, ...] = ()
    calls: list[Intent] = field(default_factory=list)
    writes: list[ToolWrite] = field(default_factory=list)
    saved: set[bytes] = field(default_factory=set)
    unsaved: dict[bytes, ToolWrite] = field(default_factory=dict)
    seen: dict[bytes, TreeEntry | None] = field(default_factory=dict)
    lost: bool = False
    held: float | None = None


class Tracking:
    """Follows a session's file changes; a failure is told once and stops no turn.

    Without `shared` nothing is followed. `took` hears each snapshot's seconds. `step` is the
    running step's message. `late` tells, after a turn's first snapshot, whether the agent may have
    begun before. `above` tracks a delegating session, whose agent authors a subtask's
    writes.
    """

    def __init__(
        self,
        shared: SharedSnapshots | None,
        log: SessionLog,
        new_part_id: Callable[[], PartId],
        tell: Callable[[str], None],
        took: Callable[[float], None] = lambda _: None,
    ) -> None:
        self._shared = shared
        self._log = log
        self._new_part_id = new_part_id
        self._tell = tell
        self._took = took
        self._lock = asyncio.Lock()
        self._snapshots: Snapshots | None = None
        self._off = shared is None
        self._told: set[str] = set()
        self._read: int | None = None
        self._at: SnapshotId | None = None
        self._untold: tuple[ChangeSet, ...] = ()
        self._opens: MessageId | None = None
        self.step: MessageId | None = None
        self._interval = _Interval()
        self.above: Tracking | None = None
        self.late: Callable[[], bool] = _never

    # --- what a turn says --------------------------------------------------------------------

    def turn_begins(self, message_id: MessageId) -> None:
        """Announces a turn; `settle` or the first tool takes its snapshot."""
        self._off = self._shared is None
        self._opens = message_id

    async def settle(self) -> None:
        await self._safely(self._settle)

    async def step_ended(self, *, goes_on: bool = False) -> bool:
        """Logs a step's changes. If tools may write on, a next step begins at the same look.

        Returns whether such an end waits, as somebody may be amid writing a file.
        """
        if not self._interval.open:
            return False
        return bool(await self._safely(lambda: self._end_step(goes_on=goes_on)))

    def turn_ended(self) -> None:
        """Rescans files: events may be missed."""
        if self._shared is not None and self._snapshots is not None:
            self._shared.recheck(self._snapshots)

    @asynccontextmanager
    async def editing(self, real: Path, text: str) -> AsyncIterator[None]:
        path = self._inside(real)
        if path is None:
            if self._off:
                self.note(_lost)
            yield
            return
        await self.step_opens()
        before = await self._safely(lambda: self._pre_image(path))
        try:
            yield
        finally:
            await self._safely(lambda: self._wrote(path, before, text))

    @asynccontextmanager
    async def running(self, call: Intent) -> AsyncIterator[None]:
        await self.step_opens()
        self.note(_lost if self._off else lambda interval: interval.calls.append(call))
        await self._safely(self._all_stored)
        yield

    async def edited(self, *real: Path) -> None:
        """Takes paths' changes for those of a tool that has ended; notes what others have left.

        A tool may have begun to write at any time since the step's beginning, except what others
        had left alone for a while.
        """
        paths = {path for one in real if (path := self._inside(one)) is not None}
        if paths or not real:
            await self._safely(lambda: self._edited(paths))

    async def step_opens(self) -> None:
        """Takes a snapshot: earlier changes are the user's."""
        if self.above is not None:
            await self.above.step_opens()
        await self._safely(self._open_step)

    def note(self, take: "Callable[[_Interval], None]") -> None:
        take(self._interval)
        if self.above is not None:
            self.above.note(take)

    def saved(self, real: Path) -> None:
        path = self._inside(real)
        if path is not None:
            self._interval.saved.add(path)

    async def recover(self) -> None:
        if self._shared is not None:
            await self._shared.recover(self._log.row.cwd)

    def opened(self, *, writes: bool) -> None:
        """Reports an interrupted restore; if `writes`, reads files ahead."""
        self._tell_news()
        if writes and self._shared is not None and self._snapshots is None:
            self._shared.look_ahead(self._log.row.cwd)

    # --- what a restore needs ----------------------------------------------------------------

    @property
    def limits(self) -> Sizes | None:
        return None if self._shared is None else self._shared.sizes

    async def since(self) -> tuple[Snapshots, ChangeSet]:
        """Takes a snapshot; returns changes since the log's newest snapshot.

        During a step the changes are the tools'. Raises BadRequest where no snapshots are taken,
        StorageFailed.
        """
        async with self._lock:
            made = await self._ready()
            known = self._interval
            found = await self._found(made, known, in_step=known.open)
            if self._untold:
                every = (change for one in (*self._untold, found) for change in one.changes)
                found = replace(found, changes=tuple(every))
            return made, found

    def reached(self, at: SnapshotId, untold: tuple[ChangeSet, ...] = ()) -> None:
        """Notes that the log is complete up to `at`; the next turn logs `untold`."""
        self._at, self._untold = at, untold

    # --- pieces ------------------------------------------------------------------------------

    async def _settle(self) -> None:
        async with self._lock:
            await self._begin_turn(await self._ready())

    async def _begin_turn(self, made: Snapshots) -> None:
        message_id, self._opens = self._opens, None
        if message_id is None:
            return
        before, found = self._at, await self._look(made)
        sets, self._at = _some(found), found.after
        if before is not None and self.late():
            # Claims of the step tell what of this is the agent's; nobody can tell of the rest.
            sets, self._at, self._interval.open = (), before, True
            self._interval.calls.append(Intent())
        names = await asyncio.to_thread(beside, made.root, made.entry)
        patch = Patch(self._at, (*self._untold, *sets), names)
        self._untold = ()
        self._log.writer.put_part(message_id, part_of(self._new_part_id(), patch))

    async def _open_step(self) -> None:
        async with self._lock:
            made = await self._ready()
            await self._begin_turn(made)
            if not self._interval.open:
                found = await self._look(made)
                self._at = found.after
                self._interval.open, self._interval.early = True, _some(found)

    async def _all_stored(self) -> None:
        await (await self._ready()).ready()

    async def _pre_image(self, path: bytes) -> TreeEntry | None:
        return await (await self._ready()).note_edit(path)

    async def _wrote(self, path: bytes, before: TreeEntry | None, text: str) -> None:
        """Records a tool's write before others write to the file."""
        made = await self._ready()
        made.mark_dirty(path)
        await made.snapshot()
        now = made.entry(path)
        data = text.encode("utf-8", "surrogateescape")
        left = TreeEntry(before.mode if before else _REGULAR, digest(data), len(data))
        if same(now, before) and (now is None or now.hash != left.hash):
            self.note(
                lambda interval: interval.unsaved.update({path: ToolWrite(path, before, left)})
            )
        else:
            self.note(lambda interval: interval.writes.append(ToolWrite(path, before, now)))

    async def _edited(self, paths: Collection[bytes]) -> None:
        made = await self._ready()
        made.mark_dirty(*paths)
        at = await made.snapshot()
        delta = () if self._at is None else await made.delta(self._at, at) or ()
        known, changed = self._interval, {change.path: change for change in delta}
        own = {write.path: write.after for write in known.writes}
        for path in paths:
            now = made.entry(path)
            begun = changed[path].old if path in changed else now
            before = known.seen.pop(path, own.get(path, begun))
            if same(now, before):
                # It changed before another snapshot, for a listing perhaps.
                known.calls.append(Intent(names=(os.fsdecode(path),)))
            else:
                known.writes.append(ToolWrite(path, before, now))
        rest = [c for c in delta if c.path not in paths and not _is(own, c.path, c.new)]
        fresh = await asyncio.to_thread(written_lately, made.root, [c.path for c in rest])
        known.seen.update((c.path, c.new) for c in rest if c.new and c.path not in fresh)

    async def _end_step(self, *, goes_on: bool) -> bool:
        """Whether it waits."""
        async with self._lock:
            made = await self._ready()
            known, early = self._interval, self._interval.early
            found = await self._look(made, in_step=True)
            if goes_on:
                others = [c.path for c in found.changes if c.author in ("user", "unknown")]
                known.held = known.held or monotonic()
                patient = monotonic() - known.held < MOST_HELD
                fresh = await asyncio.to_thread(written_lately, made.root, others)
                if patient and fresh:
                    self._interval = known
                    return True
                self._interval.open = True
            self._at = found.after
            sets = (*early, *_some(found))
            if sets and self.step is not None:
                log, patch = self._log, Patch(found.after, sets)
                log.writer.put_part(self.step, part_of(self._new_part_id(), patch))
                await log.writer.commit(PatchedRecord(message_id=self.step))
            return False

    async def _look(self, made: Snapshots, *, in_step: bool = False) -> ChangeSet:
        known, self._interval = self._interval, _Interval()
        try:
            found = await self._found(made, known, in_step=in_step)
        except BaseException:
            self._interval.lost |= known.lost or known.open
            raise
        paths = {change.path for change in found.changes}
        self._interval.unsaved = {p: w for p, w in known.unsaved.items() if p not in paths}
        if not in_step:
            self._interval.open, self._interval.early = known.open, known.early
        return found

    async def _found(self, made: Snapshots, known: _Interval, *, in_step: bool) -> ChangeSet:
        log = self._log
        if log.readings != self._read:
            self._read, self._at = log.readings, newest(log)
            self._untold = untold(log)
            known.lost |= cut_short(log)
        begun = monotonic()
        at = await made.snapshot()
        self._took(monotonic() - begun)
        before = at if self._at is None else self._at
        delta = () if before == at else await made.delta(before, at)
        if delta is None:
            logger.warning("what changed in %s since snapshot %d is unknown", made.root, before)
            delta, before = (), at
        if not delta:
            return ChangeSet(before, at, ())
        if self._shared is not None:
            delta = await self._shared.without_own(made.root, delta)
        came = {change.path: change.new for change in delta}
        # What a tool has put into an open buffer is its work also when the user saves it.
        unsaved = (_saved(w, came[path]) for path, w in known.unsaved.items() if path in came)
        writes = [] if known.lost else [*known.writes, *unsaved]
        changes = attribute(
            delta,
            tools=writes,
            shell=bool(known.calls) or known.lost,
            saved=known.saved,
            between_steps=not (in_step or writes or known.lost),
            vouched=vouched(() if known.lost else known.calls, os.fspath(made.root)),
        )
        return ChangeSet(before, at, changes)

    def _tell_news(self) -> None:
        news = "" if self._shared is None else self._shared.news.pop(self._log.row.cwd, "")
        if news:
            self._tell(news)

    async def _ready(self) -> Snapshots:
        if self._shared is None:
            raise BadRequest("no snapshots are taken here, so no change can be undone")
        if self._snapshots is None:
            self._snapshots = await self._shared.of(self._log.row.cwd)
            self._tell_news()
        return self._snapshots

    async def _safely(self, work: Callable[[], Awaitable[T]]) -> T | None:
        """A failure ends tracking until the next turn."""
        if self._off:
            return None
        try:
            return await work()
        except (SidecarError, OSError) as error:
            known = self._interval
            lost = known.lost or known.open or bool(known.calls or known.writes)
            self._off, self._interval = True, _Interval(lost=lost)
            why = error.message if isinstance(error, SidecarError) else str(error)
            if why not in self._told:
                self._told.add(why)
                refused = isinstance(error, BadRequest)
                self._tell(why if refused else f"What this turn changes cannot be undone: {why}")
            return None

    def _inside(self, real: Path) -> bytes | None:
        if self._off:
            return None
        root = self._log.row.cwd
        inside = real.is_relative_to(root) and str(real) != root
        return os.fsencode(real.relative_to(root)) if inside else None


def _never() -> bool:
    return False


def _lost(interval: _Interval) -> None:
    interval.lost = True


def _is(own: Mapping[bytes, TreeEntry | None], path: bytes, now: TreeEntry | None) -> bool:
    return path in own and same(own[path], now)


def _saved(write: ToolWrite, now: TreeEntry | None) -> ToolWrite:
    made = now is not None and write.after is not None and now.hash == write.after.hash
    return replace(write, after=now) if made else write


def _some(found: ChangeSet) -> tuple[ChangeSet, ...]:
    return (found,) if found.changes else ()
