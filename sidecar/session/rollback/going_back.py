"""Restores and redoes conversation, files or both.

Files, and the record that determines the conversation, become durable in one transaction.
"""

import asyncio
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Protocol

from sidecar.core.conversation.turns import title_of
from sidecar.core.dataclass import dataclass
from sidecar.core.errors import BadRequest, NothingToDo, RestoreConflict
from sidecar.core.files.changeset import ChangeSet
from sidecar.core.files.restore_plan import Fate
from sidecar.core.files.tree import SnapshotId
from sidecar.core.parts import JsonObject, Message, MessageId
from sidecar.core.prompt.observation import RestoreDone
from sidecar.session.changes.path_fates import conflict, files_of, nothing
from sidecar.session.changes.timeline import Point, Timeline, typed
from sidecar.session.environment import Environment
from sidecar.session.epochs.session_params import check_stays
from sidecar.session.history.checkpoint_list import Checkpoints, named, not_followed
from sidecar.session.interface import Done, Scope, Wish
from sidecar.session.log.change_records import sets_to_json, shown
from sidecar.session.log.events import EpochChanged
from sidecar.session.log.restore_records import Restored, written
from sidecar.session.log.rewrite_records import Recorded
from sidecar.session.log.session_log import SessionLog
from sidecar.session.rollback.conversation_restore import ConversationPlans, TalkMove
from sidecar.session.rollback.file_restore import FilePlans, Files, others_meanwhile, sets_of
from sidecar.session.turn.prompt_line import PromptLine
from sidecar.store.format.values import StoreChange
from sidecar.store.format.view_records import ReachedRecord, RestoreRecord
from sidecar.workspace.restore.restore import restore as carry_out
from sidecar.workspace.restore.restore_outcome import RestoreRefused


class RollbackHost(Protocol):
    """Session services for a restore."""

    async def writable(self, expected_revision: int | None) -> None: ...

    def rewritten(self, event: EpochChanged | None, cause: str) -> None: ...


@dataclass(frozen=True, slots=True)
class _Aim:
    """The state to reach; `redone` is the restore to undo, with its index."""

    point: Point
    scope: Scope
    title: str
    head: str | None
    redone: tuple[int, Restored] | None = None


class Rollback:
    """Restores and redoes, holding `gate`: no answer streams, no view changes."""

    def __init__(
        self,
        environment: Environment,
        log: SessionLog,
        conversation: ConversationPlans,
        files: FilePlans,
        checkpoints: Checkpoints,
        host: RollbackHost,
        prompts: PromptLine,
        gate: asyncio.Lock,
    ) -> None:
        self._environment = environment
        self._log = log
        self._conversation = conversation
        self._plans = files
        self._checkpoints = checkpoints
        self._host = host
        self._prompts = prompts
        self._gate = gate

    async def restore(self, wish: Wish) -> Done:
        """Goes back to a checkpoint, or before a message.

        Raises BadRequest (no such place, or a turn runs), NothingToDo (a dry run: an empty plan),
        RestoreConflict, RevisionConflict, SessionOwned, Overloaded (another process restores),
        StorageFailed.
        """
        return await self._go(wish, lambda timeline: self._aim(timeline, wish))

    async def redo(self, wish: Wish) -> Done:
        """Undoes a restore, by default the newest not undone; errors as in `restore`."""
        return await self._go(wish, lambda timeline: _undone(timeline, wish.checkpoint_id))

    async def _go(self, wish: Wish, find: Callable[[Timeline], _Aim | str]) -> Done:
        await self._host.writable(wish.expected_revision)
        await check_stays(self._log.row.cwd)
        await self._log.whole()
        if self._prompts.busy or self._prompts.turning.locked():
            raise BadRequest(
                "a turn is running or waiting in this session: cancel it first (session/cancel), "
                "then go back",
                "params.sessionId",
            )
        async with self._prompts.turning, self._gate:
            begun = monotonic()
            await self._host.writable(wish.expected_revision)
            timeline = self._checkpoints.timeline()
            aim = find(timeline)
            if isinstance(aim, str):
                return self._nothing(wish, aim)
            talk = None if aim.scope == "files" else self._conversation.plan(timeline, aim.point)
            files = None
            if aim.scope != "conversation":
                files = await self._files(timeline, aim, wish)
            fates, notes = ((), ()) if files is None else (files.plan.fates, files.notes)
            diffs = await self._plans.show_conflicts(fates)
            acts = files is not None and bool(files.plan.actions)
            conflicts = [fate for fate in fates if fate.fate == "conflict"]
            if not talk and not acts and not conflicts:
                return self._nothing(wish, nothing(fates, notes), None if files is None else fates)
            prompt = None if talk is None else talk.prompt
            revision = self._log.row.revision
            if wish.dry_run:
                seen = {} if files is None else await self._plans.foresee(files)
                return Done("", revision, prompt, fates, diffs, seen, notes)
            if conflicts and (wish.on_conflict == "refuse" or not (talk or acts)):
                raise RestoreConflict(
                    "files that would be restored were changed since, so nothing was touched: "
                    "choose with onConflict what becomes of them",
                    conflicts=[conflict(fate, diffs) for fate in conflicts],
                )
            undo = await self._carry_out(aim, talk, files if acts else None, fates)
            took = monotonic() - begun
            self._environment.observe(RestoreDone(self._log.row.id, took))
        return Done(undo, self._log.row.revision, prompt, fates, diffs, notes=notes)

    def _nothing(self, wish: Wish, why: str, fates: Sequence[Fate] | None = None) -> Done:
        if wish.dry_run:
            revision = self._log.row.revision
            return Done("", revision, None, tuple(fates or ()), {}, reason=why)
        told: JsonObject = {} if fates is None else {"files": files_of(fates, {}, {})}
        raise NothingToDo(why, **told)

    # --- what is to be done ------------------------------------------------------------------

    def _aim(self, timeline: Timeline, wish: Wish) -> _Aim:
        if (wish.checkpoint_id is None) == (wish.before_message_id is None):
            raise BadRequest("give one of checkpointId and beforeMessageId", "params.checkpointId")
        if wish.checkpoint_id is not None:
            found = named(timeline, wish.checkpoint_id, "params.checkpointId")
            head: str | None = found.id
            if found.kind == "restore":
                head = timeline.head_before(found.point.talk)
            return _Aim(found.point, wish.scope, found.title, head)
        point = timeline.before(MessageId(wish.before_message_id or ""))
        if point is None:
            raise BadRequest(
                f"there is no message {wish.before_message_id!r} in this session: give the "
                "messageId of an update",
                "params.beforeMessageId",
            )
        event = timeline.events[point.talk].of
        title = title_of(typed(event)) if isinstance(event, Message) else ""
        return _Aim(
            point,
            wish.scope,
            f"before “{title}”" if title else "before an answer",
            timeline.head_before(point.talk),
        )

    async def _files(self, timeline: Timeline, aim: _Aim, wish: Wish) -> Files:
        if not timeline.follows_files(aim.point.files):
            raise not_followed(self._log.records, "params.scope")
        sets = timeline.since(aim.point.files)
        redone: ChangeSet | None = None
        if aim.redone is not None and aim.redone[1].sets:
            redone, sets = aim.redone[1].sets[-1], timeline.since(aim.redone[0] + 1)
        beside = timeline.beside(aim.point.files)
        return await self._plans.plan(sets, redone, wish, beside)

    # --- doing it ----------------------------------------------------------------------------

    async def _carry_out(
        self, aim: _Aim, talk: TalkMove | None, files: Files | None, fates: Sequence[Fate]
    ) -> str:
        """Restores as a whole; returns the former state's id."""
        log = self._log
        restored = Restored(
            self._environment.clock.new_id("cp"),
            aim.scope,
            aim.title,
            aim.head,
            next((message.id for message in reversed(log.messages)), None),
            None if aim.redone is None else aim.redone[1].id,
            () if talk is None else talk.left,
            () if talk is None else talk.back,
            () if files is None else sets_of(files),
            tuple((shown(fate.path), fate.fate) for fate in fates),
        )
        recorded = None if talk is None else self._conversation.recorded(restored, talk)
        record = written(restored, recorded, () if talk is None else talk.standing)
        if files is None:
            await self._commit(record)
            self._show(recorded)
        else:
            await self._with_files(record, files, recorded)
            await self._plans.show_in_editor(files)
        return restored.id

    async def _commit(self, record: RestoreRecord) -> None:
        """Commits to the end, even when cancelled."""
        log = self._log
        unit = log.writer.unit(record)
        written = self._environment.store.write(*unit)
        while not written.done():
            try:
                await asyncio.wait({written})
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if task is not None:
                    task.uncancel()
        if (error := written.exception()) is not None:
            log.writer.withdraw(unit)
            raise error

    async def _with_files(
        self, record: RestoreRecord, files: Files, recorded: Recorded | None
    ) -> None:
        log, made = self._log, files.snapshots
        told: list[tuple[tuple[StoreChange, ...], SnapshotId, tuple[ChangeSet, ...]]] = []

        async def after() -> Sequence[StoreChange]:
            # The state after it, so that what it changes is nobody's work.
            at = await made.snapshot()
            theirs = await others_meanwhile(files, at)
            reached = ReachedRecord(snapshot=at, sets=sets_to_json(theirs))
            before = log.row.revision
            unit = log.writer.unit(reached, first=record)
            told.append((unit, at, theirs))
            if recorded is None:
                self._conversation.stays(before)
            return unit

        def stands() -> None:
            # From here on nothing is withdrawn, whatever comes of telling people.
            _, at, theirs = told.pop()
            self._plans.reached(at, theirs)
            self._show(recorded)

        try:
            ended = await carry_out(
                made.root,
                files.plan.actions,
                self._environment.store,
                record=after,
                touched=made.mark_dirty,
                stands=stands,
                quick=made.quick,
            )
        except BaseException:
            for unit, *_ in told:
                log.writer.withdraw(unit, 2)
            raise
        if isinstance(ended, RestoreRefused):
            # No event told of it, or it came too late: the next plan looks for itself.
            made.mark_dirty(*(one.path for one in ended.conflicts))
            raise RestoreConflict(
                "files changed while they were about to be restored, so nothing was touched: "
                "try again",
                conflicts=[
                    {"path": shown(one.path), "reason": one.reason} for one in ended.conflicts
                ],
            )

    def _show(self, recorded: Recorded | None) -> None:
        self._log.look_again()
        event = None if recorded is None else self._conversation.moved(recorded)
        self._host.rewritten(event, "restored")


def _undone(timeline: Timeline, name: str | None) -> _Aim | str:
    """Finds the named or newest restore to undo, else says why not."""
    restores = [(n, e.of) for n, e in enumerate(timeline.events) if isinstance(e.of, Restored)]
    redone = {restored.undoes for _, restored in restores}
    fitting = [
        (place, restored)
        for place, restored in restores
        if (restored.id == name if name else not restored.undoes and restored.id not in redone)
    ]
    if not fitting:
        why = f"there is no restore {name!r} in this session" if name else "nothing was restored"
        return f"{why} that could be taken back"
    place, restored = fitting[-1]
    checkpoint = timeline.checkpoint(restored.id)
    assert checkpoint is not None
    scope: Scope = restored.scope
    head = timeline.head_before(place)
    return _Aim(checkpoint.point, scope, restored.title, head, (place, restored))
