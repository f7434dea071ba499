"""Commits rewrites."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from sidecar.core.conversation.fact import Fact
from sidecar.core.errors import NothingToDo, RevisionConflict
from sidecar.core.parts import Json, JsonObject, PartId, StepFinishPart
from sidecar.core.plans.plan import Plan
from sidecar.core.prompt.prompt import Static
from sidecar.core.prompt.visibility import Dropped, Rewrite, Shown, fold_rewrites
from sidecar.session.compaction.decision import Decision
from sidecar.session.epochs.static_prompt import epoch_record
from sidecar.session.log.channel import Channel
from sidecar.session.log.events import EpochChanged
from sidecar.session.log.rewrite_records import Recorded, written
from sidecar.session.log.session_log import SessionLog
from sidecar.session.turn.clock import Clock
from sidecar.session.view.kept_notes import KeptIds, KeptNotes
from sidecar.session.view.kept_text import pack, packable
from sidecar.session.view.model_view import ModelView
from sidecar.session.view.stale_thinking import unbound
from sidecar.session.view.view_history import Views
from sidecar.store.format.view_records import RewriteRecord, UndoneRecord

TellEpoch = Callable[[EpochChanged | None], None]
"""Called once, when a change of the view is durable or has failed."""


class RewriteCommits:
    """Makes rewrites durable, and undoes them."""

    def __init__(
        self, log: SessionLog, view: ModelView, views: Views, channel: Channel, clock: Clock
    ) -> None:
        self._log = log
        self._view = view
        self._views = views
        self._channel = channel
        self._clock = clock

    async def carry_out(
        self, decision: Decision, tell: TellEpoch, facts: tuple[Fact, ...] = ()
    ) -> Recorded:
        """Logs a rewrite, changes the view, and tells clients once durable.

        Goes on if the caller is cancelled. `facts` share the transaction. `tell` gets `None` where
        only unsent parts were cut: no epoch begins. Raises RevisionConflict, or StorageFailed,
        which restores the view.
        """
        planned, newest = decision.plan.revision, self._log.row.revision
        if planned != newest:
            raise RevisionConflict(
                f"the plan was made for revision {planned} and the session is at {newest}: "
                "plan again",
                revision=newest,
            )
        rewrite = decision.recorded.rewrite
        # Four in five of a long session's notes say again what others did, which logs hold, too.
        said = {note.text: note.text for note in self._views.view().notes.values()}
        notes = KeptNotes(
            replace(note, id=self._clock.part_id(), text=said.get(note.text, note.text))
            for note in rewrite.notes
        )
        kept = replace(rewrite, notes=notes, retired=KeptIds(rewrite.retired))
        recorded = replace(decision.recorded, rewrite=kept)
        static = decision.view.static
        await self._log_rewrite(written(recorded, RewriteRecord), recorded, tell, static, facts)
        if texts := packable(self._log.messages, rewrite.shown):
            await asyncio.to_thread(pack, texts)
        return recorded

    def newest(self) -> str:
        """Raises NothingToDo without a compaction in effect."""
        for recorded in reversed(self._views.standing()):
            if recorded.rewrite.cause not in ("restore", "undo"):
                return recorded.rewrite.id
        raise NothingToDo("no compaction is in effect in this session, so none can be taken back")

    async def undo(self, compaction_id: str, tell: TellEpoch) -> None:
        """Undoes a rewrite, whatever came later; its parts are shown again.

        Raises NothingToDo if not in effect, or StorageFailed, which restores the view.
        """
        views, messages = self._views, tuple(self._log)
        if views.find(compaction_id) is None or views.is_undone(compaction_id):
            raise NothingToDo(
                f"there is no compaction {compaction_id!r} in effect: it was taken back, or never "
                "was"
            )
        others = [r.rewrite for r in views.standing() if r.rewrite.id != compaction_id]
        back: dict[PartId, Shown | None] = dict.fromkeys(dropped_by_undoing(others))
        again = Rewrite(compaction_id, "undo", back)
        dropped = unbound(messages, views.epochs(), fold_rewrites((*others, again)))
        taken_back = replace(again, shown=back | dict.fromkeys(dropped, Dropped()))
        shown = fold_rewrites((*others, taken_back))
        view = self._view.imagined()
        view.reshape(shown, None, self._clock.now())
        recorded = Recorded(
            taken_back,
            "",
            "taken back",
            self._view.size(self._log).total,
            view.size(messages).total,
            None,
            sum(isinstance(p, StepFinishPart) for m in messages for p in m.parts),
            None,
            True,
            view.calibration.factor,
            view.calibration.observations,
            view.calibration.bias,
        )
        await self._log_rewrite(written(recorded, UndoneRecord), recorded, tell, self._view.static)

    async def _log_rewrite(
        self,
        record: RewriteRecord | UndoneRecord,
        recorded: Recorded,
        tell: TellEpoch,
        static: Static,
        facts: tuple[Fact, ...] = (),
    ) -> None:
        rewrites, before = isinstance(record, RewriteRecord), self._view.imagined()
        opening = None
        if static != self._view.static:
            opening = epoch_record(static, recorded.rewrite.id, "instructions")
        stored = self._log.writer.commit(record, opening, facts)
        records = self._log.records[-1 if opening is None else -2 :]
        since = records[-1].at if recorded.opens else None
        self._view.restate(static, records[-1].at)
        self._view.reshape(self._views.view(), self._views.anchor, since)

        finished: asyncio.Future[BaseException | None] = asyncio.get_running_loop().create_future()

        def ended(done: "asyncio.Future[None]") -> None:
            error = asyncio.CancelledError() if done.cancelled() else done.exception()
            status = "completed" if rewrites else "undone"
            if error is not None:
                status = "failed"
                for one in records:
                    self._log.records.remove(one)
                self._views.forget()
                self._view.become(before)
            tell(self._event(recorded, status) if recorded.opens else None)
            if not finished.done():
                finished.set_result(error)

        stored.add_done_callback(ended)
        failed = await finished
        if failed is not None:
            raise failed

    def _event(self, recorded: Recorded, status: str) -> EpochChanged:
        failed = status == "failed"
        return EpochChanged(
            self._log.row.id,
            self._channel.next_seq(),
            recorded.rewrite.id,
            status,
            recorded.rewrite.cause,
            recorded.tokens_before,
            recorded.tokens_before if failed else recorded.tokens_after,
            None if failed else recorded.price,
        )


def dropped_by_undoing(rewrites: Sequence[Rewrite]) -> list[PartId]:
    """Lists thinking dropped by earlier undoings alone, whose prefix may be back."""
    left = fold_rewrites(one for one in rewrites if one.cause != "undo").shown
    return [part_id for part_id in fold_rewrites(rewrites).shown if part_id not in left]


def told_plan(plan: Plan) -> list[Json]:
    names: Mapping[str, str] = {
        "Dropped": "drop",
        "Placeholder": "evict",
        "Truncated": "truncate",
        "Excerpt": "excerpt",
        "Quoted": "excerpt",
        "NoneType": "restore",
    }
    return [
        {
            "partId": change.part_id,
            "action": names[type(change.shown).__name__],
            "reason": change.reason,
            "tokensBefore": change.tokens_before,
            "tokensAfter": change.tokens_after,
        }
        for change in plan.changes
    ]


def told_nothing(used: int, why: NothingToDo) -> JsonObject:
    sizes: JsonObject = {"tokensBefore": used, "tokensAfter": used}
    return {"plan": [], **sizes, "price": None, "breakEvenRequests": None, "reason": why.message}
