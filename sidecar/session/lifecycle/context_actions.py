"""Actions on the context."""

import asyncio
from contextlib import suppress
from dataclasses import replace

from sidecar.core.dataclass import dataclass
from sidecar.core.engine.engine import ATTEMPTS, may_free
from sidecar.core.errors import NothingToDo, StorageFailed
from sidecar.core.parts import JsonObject
from sidecar.core.prompt.meter import Meter
from sidecar.core.prompt.observation import PlanMade
from sidecar.session.compaction.chosen_policy import ChosenPolicy
from sidecar.session.compaction.compactor import CompactionHost, Compactor
from sidecar.session.compaction.decision import Decisions
from sidecar.session.compaction.installation import Installations
from sidecar.session.compaction.milestones import Milestones
from sidecar.session.compaction.planner import BY_HAND, Occasion, Planner, Scene
from sidecar.session.compaction.refusals import Refusals
from sidecar.session.compaction.rewrite_commit import RewriteCommits, TellEpoch
from sidecar.session.compaction.session_handoff import with_digests
from sidecar.session.compaction.settlement import Settlements
from sidecar.session.compaction.summariser import Summariser
from sidecar.session.epochs.lessons import Lessons
from sidecar.session.history.inspection import as_json, marked, segments
from sidecar.session.history.part_reader import find_part
from sidecar.session.lifecycle.log_window import Folds
from sidecar.session.lifecycle.turn_start import TurnStart
from sidecar.session.log.channel import give_notice
from sidecar.session.log.progress import Works
from sidecar.session.meter.compaction_price import CompactionPrice
from sidecar.session.meter.gauge import Gauge
from sidecar.session.meter.side_request import SideRequests
from sidecar.session.state import State
from sidecar.session.view.kept_counts import encode
from sidecar.store.format.values import PutCounts
from sidecar.store.format.view_records import PinRecord


@dataclass(frozen=True, slots=True)
class Preview:
    """A request not sent: `body` is exact; tokens and USD are predicted."""

    body: JsonObject
    tokens: int
    read: int
    write: int
    price: str | None
    breakpoints: tuple[JsonObject, ...]


class Rewriting:
    """Changes the context, for user and policy.

    `gate` is held while the view changes, or an answer, bound to its prompt, streams. `works` can
    be cancelled; `checkpoints` save the ledger; `price` estimates a compaction.
    """

    def __init__(
        self,
        state: State,
        host: CompactionHost,
        starts: TurnStart,
        gauge: Gauge,
    ) -> None:
        self._state = state
        self._starts = starts
        self._gauge = gauge
        self._host = host
        current, clock = state.environment.settings, state.clock
        self._planner = Planner(
            state.log, state.view, state.views, state.settings, current, state.buffers, clock
        )
        chosen = ChosenPolicy(state.settings, current, self._warn)
        self._decisions = Decisions(
            self._planner,
            chosen,
            state.settings,
            clock,
            lambda took, by: state.environment.observe(PlanMade(state.log.row.id, took, by)),
        )
        self._commits = RewriteCommits(state.log, state.view, state.views, state.channel, clock)
        self.price = CompactionPrice(state.log, state.view, clock, self._planned_price)
        self.works = Works(state.log.row.id, state.channel)
        self.checkpoints = Milestones(
            state.environment, state.log, state.view, state.settings, state.ownership
        )
        self._folds = Folds(
            state.log,
            state.view,
            state.views,
            state.store,
            state.ownership,
            self.checkpoints.folding,
        )
        refusals = Refusals(state.log, state.channel)
        side = SideRequests(state.log, state.view, state.cached, state.environment.models, clock)
        summariser = Summariser(state.environment, state.log, state.cached, state.settings, side)
        installations = Installations(
            state.log,
            clock,
            self._commits,
            refusals,
            Lessons(state.environment, state.log, state.channel, state.trust),
            self.checkpoints,
            state.environment.counts,
            self._told("compacted"),
        )
        self._compactor = Compactor(
            state.log,
            host,
            self._decisions,
            Settlements(self.works, summariser, self._planner),
            installations,
            refusals,
            self.checkpoints,
            starts.instructions,
        )
        self.gate = self._compactor.gate
        self.make_room = self._compactor.make_room
        self.compact = self._compactor.compact

    async def keep(self) -> None:
        """Stores what else would be worked out again; a failure only slows who reads next."""
        await self._folds.fold()
        state, models = self._state, self._state.environment.models
        if state.ownership.read_only or not models.vocabulary:
            return
        seen = state.view.rendering.seen(state.log)
        body = await asyncio.to_thread(encode, state.view.static, seen, models.count)
        put = PutCounts(state.log.row.id, models.vocabulary, body)
        with suppress(StorageFailed):
            await state.store.write(put, synced=False)

    async def idle(self, hurried: bool) -> bool:
        state = self._state
        wanted = state.config.idle_compaction and self._decisions.chosen.is_automatic()
        if not wanted or state.ownership.read_only:
            return False
        return await self._compactor.idle(self._gauge.usual_growth(), hurried=hurried)

    async def undo(self, compaction_id: str | None) -> Meter:
        """Undoes the newest by default. Raises NothingToDo without one."""
        await self._host.writable(None)
        await self._state.log.whole()
        async with self.gate:
            name = compaction_id or self._commits.newest()
            await self._commits.undo(name, self._told("compaction_undone"))
        return self._gauge.read(self.price.known())

    async def pin(self, part_id: str, *, pinned: bool) -> int:
        """Keeps a part through rewrites, or no longer; returns the revision.

        Raises BadRequest for an unknown part, or StorageFailed; nothing has changed then.
        """
        await self._host.writable(None)
        await self._state.log.whole()
        log, views = self._state.log, self._state.views
        part = find_part(log.messages, part_id)
        already = part.id in views.pinned
        if already != pinned:
            written = log.writer.commit(PinRecord(part_id=part.id, pinned=pinned))
            record = log.records[-1]
            try:
                await written
            except StorageFailed:
                log.records.remove(record)
                views.forget()
                raise
            self._host.rewritten(None, "pinned")
        return log.row.revision

    def _warn(self, text: str) -> None:
        if not self._state.ownership.read_only:
            give_notice(self._state.log, self._state.channel, "warning", text)

    def _told(self, cause: str) -> TellEpoch:
        return lambda event: self._host.rewritten(event, cause)

    async def breakdown(self) -> tuple[Meter, list[JsonObject]]:
        state = self._state
        await state.log.whole()
        self.price.find()
        meter = self._gauge.read(self.price.known())
        _, seen = self._gauge.foresee(state.view, state.log)
        found = segments(
            state.view, state.log, state.environment.models.count, meter.regions, seen.hit
        )
        return meter, [as_json(one, meter.accuracy) for one in marked(found, state.views)]

    async def preview(self, blocks: tuple[JsonObject, ...]) -> Preview:
        """Predicts the next request, for `blocks` or the bare history, with its rewrites."""
        state = self._state
        await state.log.whole()
        view = state.view.imagined()
        scene = replace(self._compactor.scene(Occasion(opens_turn=bool(blocks))), view=view)
        if blocks:
            message = await self._starts.foresee(blocks)
            told = await with_digests(message.parts, state.store, state.clock)
            message = replace(message, parts=told)
            head = self._starts.instructions.renewed(view.static)
            scene = replace(scene, messages=(*scene.messages, message), head=head)
        await view.rendering.refresh(scene.messages)
        if blocks:
            scene = self._foreseen(scene)
        view = scene.view
        request, seen = self._gauge.foresee(view, scene.messages)
        return Preview(
            state.settings.model().body(request),
            view.size(scene.messages).total,
            seen.read,
            seen.write_5m + seen.write_1h,
            self._gauge.price_of(seen),
            tuple(
                {"message": mark.message, "block": mark.block, "ttl": mark.ttl}
                for mark in request.prompt.breakpoints
            ),
        )

    def _foreseen(self, scene: Scene) -> Scene:
        for _ in range(ATTEMPTS):
            decision = self._decisions.decide(scene).done
            if decision is None:
                break
            scene = decision.after(scene)
            if decision.recorded.opens:
                break
        return scene

    async def find_price(self) -> bool:
        """Plans a compaction; returns whether there is a price."""
        if self._may_free():
            await self._planner.catch_up()
            self.price.find()
        return self.price.known() is not None

    def _may_free(self) -> bool:
        size = self._planner.size()
        return may_free(size.total - size.static)

    def _planned_price(self) -> str | None:
        if not self._may_free():
            return None
        scene = self._compactor.scene(BY_HAND)
        try:
            return self._decisions.by_hand(scene, None).recorded.price
        except NothingToDo:
            return None
