"""Make room: decide, get the summary, decide again, carry out.

A model is asked at most once. A failure or cancellation leaves the view as before.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Protocol

from sidecar.core.engine.engine import ATTEMPTS
from sidecar.core.engine.ladder import Tell, not_sent
from sidecar.core.errors import Cancelled, ModelFailed, NothingToDo, RevisionConflict
from sidecar.core.ledger.facts import to_json as fact_to_json
from sidecar.core.parts import JsonObject
from sidecar.core.policies.manual import MANUAL
from sidecar.core.prompt.budget import at_most
from sidecar.core.prompt.pricing import money
from sidecar.core.summaries.model_summary import without_summary
from sidecar.session.compaction.decision import Decision, Decisions
from sidecar.session.compaction.milestones import Milestones
from sidecar.session.compaction.planner import Occasion, Scene
from sidecar.session.compaction.refusals import Refusals
from sidecar.session.compaction.rewrite_commit import RewriteCommits, told_nothing, told_plan
from sidecar.session.compaction.rewrite_figures import figures_of
from sidecar.session.compaction.summariser import Summariser, Told
from sidecar.session.epochs.known_instructions import KnownInstructions
from sidecar.session.epochs.lessons import Lessons
from sidecar.session.log.events import EpochChanged
from sidecar.session.log.progress import Token, Works
from sidecar.session.log.rewrite_records import Recorded
from sidecar.session.meter.gauge import Gauge
from sidecar.session.meter.side_request import SideRequests
from sidecar.session.state import State


class CompactionHost(Protocol):
    """Session services needed by a compaction."""

    async def writable(self, expected_revision: int | None) -> None:
        """Raise unless the daemon may write the session at `expected_revision`."""
        ...

    def rewritten(self, event: EpochChanged | None, cause: str) -> None:
        """Tell clients of a changed context and meter."""
        ...


@dataclass(frozen=True, slots=True)
class Settled:
    """A decision to carry out, with the summary, if wanted."""

    decision: Decision
    told: Told | None = None

    def price(self) -> str | None:
        """USD, summary included; `None` when unknown."""
        rewriting = self.decision.recorded.price
        asked = "0" if self.told is None else self.told.cost
        if rewriting is None or asked is None:
            return None
        return money(Decimal(rewriting) + Decimal(asked))

    def as_json(self) -> JsonObject:
        """The log's entry on the summary, or empty."""
        told = self.told
        if told is None:
            return {}
        return {
            "by": told.by,
            "calls": told.calls,
            "cost": told.cost,
            "problem": told.problem,
            "ways": told.figures,
            "facts": [{**fact_to_json(fact)} for fact in told.facts],
        }


class Compactor:
    """Compacts a session. `gate` is held while an answer streams and while the view changes."""

    def __init__(
        self,
        state: State,
        host: CompactionHost,
        decisions: Decisions,
        commits: RewriteCommits,
        works: Works,
        checkpoints: Milestones,
        instructions: KnownInstructions,
        gauge: Gauge,
    ) -> None:
        self._state = state
        self._gauge = gauge
        models, clock = state.environment.models, state.clock
        side = SideRequests(state.log, state.view, state.cached, models, clock)
        self._summariser = Summariser(
            state.environment, state.log, state.cached, state.settings, side
        )
        self._lessons = Lessons(state.environment, state.log, state.channel, state.trust)
        self._instructions = instructions
        self._checkpoints = checkpoints
        self._host = host
        self._decisions = decisions
        self._planner = decisions.planner
        self._commits = commits
        self._works = works
        self._refusals = Refusals(state.log, state.channel)
        self._begun = 0
        self.gate = asyncio.Lock()

    def _scene(self, occasion: Occasion) -> Scene:
        return self._planner.scene(occasion, self._instructions.head())

    async def make_room(self, *, opens_turn: bool = False, overflowed: bool = False) -> bool:
        """Let the policy rewrite before a request; return whether an epoch began.

        Raises:
            ModelFailed: the prompt is still longer than the window allows.
        """
        begun = False
        await self._checkpoints.at("step")
        async with self.gate:
            self._begun = self._state.clock.now()
            for _ in range(ATTEMPTS):
                settled = await self._room(opens_turn=opens_turn, overflowed=overflowed)
                if settled is None:
                    break
                await self._install(settled)
                begun = overflowed or settled.decision.recorded.opens
                if begun:
                    break
            self._check_length()
        return begun

    def _check_length(self) -> None:
        """Raise ModelFailed, with advice, over the limit."""
        state = self._state
        size = state.view.size(state.log)
        most = at_most(size.total, size.guessed)
        room = state.settings.room()
        if most <= room.limit:
            return
        chosen = self._decisions.chosen
        manual = chosen.policy().name == MANUAL
        setting = "policy is manual" if manual else "autoCompact is off"
        text = not_sent(most, room, None if chosen.is_automatic() else setting)
        raise ModelFailed(text, kind="context_overflow")

    async def _room(self, *, opens_turn: bool, overflowed: bool) -> Settled | None:
        state, planner, decisions = self._state, self._planner, self._decisions

        def scene() -> Scene:
            return self._scene(Occasion(opens_turn=opens_turn, overflow=overflowed))

        def again(tell: Tell) -> Decision | None:
            return decisions.decide(scene(), tell).done

        if self._refusals.are_many and self._refusals.bar(planner.standing(scene())):
            return None
        if not decisions.is_due(scene()):
            return None
        await state.log.whole()
        await planner.catch_up()
        chosen = decisions.decide(scene())
        if chosen.done is None:
            if not chosen.waits:
                self._refusals.add(chosen, planner.standing(scene()))
            return None
        draft = chosen.done
        if overflowed:
            # The provider has refused the prompt, so no model is asked for a summary.
            return Settled(draft)
        try:
            return await self._settled(scene(), draft, again)
        except Cancelled:
            # The user stopped waiting: a prompt over the limit is rewritten without a summary.
            standing = draft.situation.standing
            if standing.used <= standing.limit:
                self._refusals.left_off(standing.used)
                return None
            # A pin may have come since the draft.
            bare = again(lambda plan, _: (without_summary(plan),))
            return None if bare is None else Settled(bare)

    async def idle(self, hurried: bool) -> bool:
        """Rewrite while nobody waits; return whether a rewrite was made.

        `hurried`: only a rewrite forced on the next turn. A message logged during the summary ends
        the attempt.
        """
        state, planner, decisions = self._state, self._planner, self._decisions
        wanted = state.config.idle_compaction and decisions.chosen.is_automatic()
        if not wanted or state.ownership.read_only:
            return False
        growth = self._gauge.usual_growth()
        async with self.gate:
            self._begun = state.clock.now()

            def scene() -> Scene:
                return self._scene(Occasion(idle=True, growth=growth, hurried=hurried))

            if not decisions.is_due(scene()):
                return False
            await state.log.whole()
            await planner.catch_up()
            draft = decisions.decide(scene()).done
            if draft is None or self._refusals.are_many:
                return False
            before = len(state.log.messages)

            def again(tell: Tell) -> Decision | None:
                if len(state.log.messages) != before:
                    return None
                return decisions.decide(scene(), tell).done

            try:
                settled = await self._settled(scene(), draft, again)
            except Cancelled:
                self._refusals.left_off(draft.recorded.tokens_before)
                return False
            if settled is None:
                return False
            await self._install(settled)
        return True

    async def compact(
        self,
        strategy: str | None,
        expected_revision: int | None,
        *,
        dry_run: bool,
        instructions: str = "",
        summary: bool = False,
        token: Token | None = None,
    ) -> JsonObject:
        """Plan a compaction by hand and, unless `dry_run`, carry the plan out.

        Waits for a streaming answer. A dry run asks a model only with `summary`, as the call costs
        money. `token` names the progress for the client.

        Raises:
            NothingToDo: nothing to leave out; a dry run returns an empty plan instead.
            Cancelled: the user stopped waiting; the session is unchanged.
            BadRequest: no such strategy.
            RevisionConflict: the log is not at `expected_revision`.
            SessionOwned: another daemon writes the session.
        """
        state = self._state

        def scene() -> Scene:
            return self._scene(Occasion(asked=True, instructions=instructions))

        def again(tell: Tell | None = None) -> Decision:
            return self._decisions.by_hand(scene(), strategy, tell)

        await state.log.whole()
        if dry_run:
            await self._instructions.look()
            newest = state.log.row.revision
            if expected_revision not in (None, newest):
                raise RevisionConflict(
                    f"the session is at revision {newest}, not {expected_revision}: plan for that",
                    revision=newest,
                )
            try:
                draft = again()
            except NothingToDo as nothing:
                return told_nothing(state.view.size(state.log).total, nothing)
            if summary:
                settled = await self._settled(scene(), draft, again, token, dry=True)
                return told_decision(settled.decision if settled else draft, settled)
            possible = self._summariser.ways(scene(), draft)
            return told_decision(draft, None, possible[0].usd if possible else None)
        await self._host.writable(expected_revision)
        async with self.gate:
            self._begun = state.clock.now()
            await self._instructions.look()
            await self._host.writable(expected_revision)
            settled = await self._settled(scene(), again(), again, token)
            if settled is None:
                raise NothingToDo("what was planned does not fit any more: try again")
            done = await self._install(settled)
        return {**told_decision(settled.decision, settled), "compactionId": done.rewrite.id}

    async def _settled(
        self,
        scene: Scene,
        draft: Decision,
        again: Callable[[Tell], Decision | None],
        token: Token | None = None,
        *,
        dry: bool = False,
    ) -> Settled | None:
        """Get a draft's summary, if wanted, and decide again, as the session may have changed."""
        before = draft.recorded.tokens_before
        wanted = draft.plan.summary
        if wanted is None and token is None:
            return Settled(draft)
        with self._works.show("Compacting the context", token) as work:
            if wanted is None:
                work.outcome = f"{before} to {draft.recorded.tokens_after} tokens"
                return Settled(draft)
            work.tell("report", f"summarising: {draft.plan.reason}")
            asking = self._summariser.summarise(scene, draft, logged=not dry)
            told = await work.wait_for(asking)
            decision = again(told.still_on)
            if decision is None:
                work.outcome = "left as it was"
                return None
            work.outcome = f"{before} to {decision.recorded.tokens_after} tokens"
        return Settled(decision, told)

    async def _install(self, settled: Settled) -> Recorded:
        state, decision = self._state, settled.decision
        figures = {**decision.recorded.figures, "took": state.clock.now() - self._begun}
        if decision.recorded.opens:
            figures |= figures_of(decision, tuple(state.log))
        recorded = replace(
            decision.recorded,
            price=settled.price(),
            summary=settled.as_json(),
            figures=figures,
        )
        facts = settled.told.facts if settled.told is not None else ()
        decision = replace(decision, recorded=recorded)
        done = await self._commits.carry_out(decision, self._told, facts)
        if done.opens:
            state.environment.counts.rewrites += 1
            self._refusals.end()
        if facts:
            await self._lessons.promote()
        if done.opens:
            await self._checkpoints.at("compaction")
        return done

    def _told(self, event: EpochChanged | None) -> None:
        self._host.rewritten(event, "compacted")


def told_decision(
    decision: Decision, settled: Settled | None, asking: Decimal | None = None
) -> JsonObject:
    """Answer of `context/compact`; `asking` is the summary's estimated USD."""
    plan, recorded = decision.plan, decision.recorded
    text = "\n".join(note.text for note in recorded.rewrite.notes)
    price = recorded.price if settled is None else settled.price()
    if settled is None and price is not None and asking is not None:
        price = money(Decimal(price) + asking)
    wanted = plan.summary if settled is None and not plan.told else None
    coming = 0 if wanted is None else wanted.output_tokens
    told: JsonObject = {
        "plan": told_plan(plan),
        "tokensBefore": plan.tokens_before,
        "tokensAfter": plan.tokens_after + coming,
        "price": price,
        "breakEvenRequests": decision.break_even,
    }
    return {**told, "summary": text} if text else told
