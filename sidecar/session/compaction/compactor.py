"""Makes room: decide, get a summary, decide again, commit."""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from sidecar.core.engine.engine import ATTEMPTS
from sidecar.core.engine.ladder import Tell
from sidecar.core.errors import Cancelled, NothingToDo
from sidecar.core.parts import JsonObject
from sidecar.core.summaries.model_summary import without_summary
from sidecar.session.compaction.decision import Decision, Decisions
from sidecar.session.compaction.installation import Installations
from sidecar.session.compaction.milestones import Milestones
from sidecar.session.compaction.planner import Occasion, Scene
from sidecar.session.compaction.refusals import Refusals
from sidecar.session.compaction.rewrite_commit import told_nothing
from sidecar.session.compaction.settlement import Settled, Settlements, told_draft, told_settled
from sidecar.session.epochs.known_instructions import KnownInstructions
from sidecar.session.history.part_reader import find_part
from sidecar.session.log.events import EpochChanged
from sidecar.session.log.progress import Token
from sidecar.session.log.session_log import SessionLog, require_revision


class CompactionHost(Protocol):
    """Session services for a compaction."""

    async def writable(self, expected_revision: int | None) -> None: ...

    def rewritten(self, event: EpochChanged | None, cause: str) -> None: ...


class Compactor:
    """Rewrites the view; `gate` is held meanwhile, and while an answer streams."""

    def __init__(
        self,
        log: SessionLog,
        host: CompactionHost,
        decisions: Decisions,
        settlements: Settlements,
        installations: Installations,
        refusals: Refusals,
        checkpoints: Milestones,
        instructions: KnownInstructions,
    ) -> None:
        self._log = log
        self._host = host
        self._decisions = decisions
        self._planner = decisions.planner
        self._settlements = settlements
        self._installations = installations
        self._refusals = refusals
        self._checkpoints = checkpoints
        self._instructions = instructions
        self.gate = asyncio.Lock()

    def scene(self, occasion: Occasion) -> Scene:
        return self._planner.scene(occasion, self._instructions.head())

    async def make_room(self, *, opens_turn: bool = False, overflowed: bool = False) -> bool:
        """Lets the policy rewrite; returns whether an epoch began.

        Raises ModelFailed if the prompt is still too long.
        """
        begun = False
        await self._checkpoints.at("step")
        async with self.gate:
            self._installations.begin()
            for _ in range(ATTEMPTS):
                settled = await self._room(opens_turn=opens_turn, overflowed=overflowed)
                if settled is None:
                    break
                await self._installations.install(settled)
                begun = overflowed or settled.decision.opens
                if begun:
                    break
            self._decisions.check_length()
        return begun

    async def _room(self, *, opens_turn: bool, overflowed: bool) -> Settled | None:
        planner, decisions = self._planner, self._decisions
        occasion = Occasion(opens_turn=opens_turn, overflow=overflowed)

        def scene() -> Scene:
            return self.scene(occasion)

        def again(tell: Tell) -> Decision | None:
            return decisions.decide(scene(), tell).done

        due = decisions.due(occasion, scene)
        if due is None or self._refusals.bar(*due):
            return None
        await self._log.whole()
        await planner.look()
        chosen = decisions.decide(scene())
        if chosen.done is None:
            self._refusals.add(chosen, *due)
            return None
        draft = chosen.done
        if overflowed:
            # The provider has refused the prompt, so no model is asked for a summary.
            return Settled(draft)
        try:
            return await self._settlements.settle(scene(), draft, again)
        except Cancelled:
            # The user stopped waiting: a prompt over the limit is rewritten without a summary.
            standing = draft.situation.standing
            if standing.used <= standing.limit:
                self._refusals.left_off(standing.used)
                return None
            # A pin may have come since the draft.
            bare = again(lambda plan, _: (without_summary(plan),))
            return None if bare is None else Settled(bare)

    async def idle(self, growth: int, *, hurried: bool) -> bool:
        """Rewrites while nobody waits; parameters are those of `Occasion`.

        A message logged during the summary ends the attempt.
        """
        planner, decisions = self._planner, self._decisions
        occasion = Occasion(idle=True, growth=growth, hurried=hurried)
        async with self.gate:
            self._installations.begin()

            def scene() -> Scene:
                return self.scene(occasion)

            if decisions.due(occasion, scene) is None:
                return False
            await self._log.whole()
            await planner.look()
            draft = decisions.decide(scene()).done
            if draft is None or self._refusals.are_many:
                return False
            before = len(self._log.messages)

            def again(tell: Tell) -> Decision | None:
                if len(self._log.messages) != before:
                    return None
                return decisions.decide(scene(), tell).done

            try:
                settled = await self._settlements.settle(scene(), draft, again)
            except Cancelled:
                self._refusals.left_off(draft.recorded.tokens_before)
                return False
            if settled is None:
                return False
            await self._installations.install(settled)
        return True

    async def compact(
        self,
        strategy: str | None,
        expected_revision: int | None,
        *,
        dry_run: bool,
        instructions: str = "",
        keep: Sequence[str] = (),
        summary: bool = False,
        token: Token | None = None,
    ) -> JsonObject:
        """Compacts by hand, after any streaming answer; `dry_run` only plans.

        A dry run asks a model, for money, only with `summary`. Parts of `keep` stay this once.
        Raises NothingToDo (a dry run returns an empty plan instead), Cancelled by the user,
        BadRequest for an unknown strategy or part, RevisionConflict, SessionOwned.
        """

        def scene() -> Scene:
            return self.scene(Occasion(asked=True, instructions=instructions, keep=kept))

        def again(tell: Tell | None = None) -> Decision:
            return self._decisions.by_hand(scene(), strategy, tell)

        await self._log.whole()
        kept = frozenset(
            find_part(self._log.messages, part_id, "params.keep").id for part_id in keep
        )
        if dry_run:
            await self._planner.look()
            await self._instructions.look()
            require_revision(self._log, expected_revision, "plan for that")
            try:
                draft = again()
            except NothingToDo as nothing:
                return told_nothing(self._planner.size().total, nothing)
            if summary:
                settled = await self._settlements.settle(scene(), draft, again, token, dry=True)
                return told_draft(draft) if settled is None else told_settled(settled)
            return told_draft(draft, self._settlements.cheapest(scene(), draft))
        await self._host.writable(expected_revision)
        async with self.gate:
            self._installations.begin()
            await self._planner.look()
            await self._instructions.look()
            await self._host.writable(expected_revision)
            settled = await self._settlements.settle(scene(), again(), again, token)
            if settled is None:
                raise NothingToDo("what was planned does not fit any more: try again")
            done = await self._installations.install(settled)
        return {**told_settled(settled), "compactionId": done.rewrite.id}
