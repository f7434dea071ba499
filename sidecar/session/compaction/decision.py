"""A policy's plan completed into a rewrite: checked, measured, priced.

Never changes the session; dry runs rely on that.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil

from sidecar.core.engine.engine import Away, Chosen, choose, why_now
from sidecar.core.engine.ladder import Tell, why_nothing
from sidecar.core.engine.outline import anchor_after, begun_by_user, outlined
from sidecar.core.errors import BadRequest, NothingToDo
from sidecar.core.parts import JsonObject, Message, MessageId, StepFinishPart
from sidecar.core.plans.plan import Plan, Rates, Situation, Standing
from sidecar.core.policies import DEFAULT, policies
from sidecar.core.policies.manual import MANUAL
from sidecar.core.prompt import visibility as core_view
from sidecar.core.prompt.pricing import money_of
from sidecar.core.prompt.prompt import Prompt
from sidecar.core.prompt.visibility import fold_rewrites
from sidecar.session.compaction.chosen_policy import ChosenPolicy
from sidecar.session.compaction.planner import Planner, Scene
from sidecar.session.log.rewrite_records import Recorded
from sidecar.session.meter.gauge import rates
from sidecar.session.session_settings import SessionSettings
from sidecar.session.turn.clock import Clock
from sidecar.session.view.model_view import ModelView
from sidecar.session.view.stale_thinking import unbound
from sidecar.session.view.view_history import Epoch


@dataclass(frozen=True, slots=True)
class Decision:
    """A rewrite not yet carried out.

    `view`: the view afterwards. `break_even`: requests until paid off, `None` for never.
    `situation`, `messages`: the plan's input.
    """

    plan: Plan
    recorded: Recorded
    view: ModelView
    break_even: int | None
    situation: Situation
    messages: Sequence[Message]

    @property
    def opens(self) -> bool:
        """Whether an epoch begins."""
        return self.recorded.opens

    def sent(self) -> tuple[core_view.View, Prompt]:
        """After the rewrite."""
        return self.view.rendering.shown, self.view.prompt(self.messages)

    def after(self, scene: Scene) -> Scene:
        """Scene after the rewrite."""
        shown = Epoch(scene.messages[-1].created, self.view.rendering.shown)
        return replace(
            scene,
            view=self.view,
            rewrites=(*scene.rewrites, self.recorded),
            epochs=(*scene.epochs, shown),
            number=scene.number + 1,
        )


class Decisions:
    """Decides on rewrites, by the policy or by hand; changes nothing."""

    def __init__(
        self, planner: Planner, chosen: ChosenPolicy, settings: SessionSettings, clock: Clock
    ) -> None:
        self.planner = planner
        self.chosen = chosen
        self._settings = settings
        self._clock = clock

    def is_due(self, scene: Scene) -> bool:
        """Whether the policy would plan now; a log's window is enough to tell."""
        if not self.chosen.is_automatic():
            return False
        standing = self.planner.standing(scene)
        return why_now(self.chosen.policy(), standing, self._away(scene)) is not None

    def decide(self, scene: Scene, tell: Tell | None = None) -> Chosen[Decision]:
        """Decide before a request; `tell` puts a finished summary into a plan."""
        if not self.chosen.is_automatic():
            return Chosen(waits=True)
        policy, away = self.chosen.policy(), self._away(scene)
        standing = self.planner.standing(scene)
        cause = why_now(policy, standing, away)
        if cause is None:
            return Chosen(waits=True)
        situation = self.planner.situation(scene, standing)
        return choose(policy, situation, cause, self._completing(scene), tell=tell, away=away)

    def _away(self, scene: Scene) -> Away | None:
        why = scene.occasion
        if not why.idle:
            return None

        def forced() -> Situation:
            present = replace(scene, occasion=replace(why, idle=False))
            return self.planner.situation(present, self.planner.standing(present))

        return Away(why.growth, why.hurried, forced)

    def _completing(self, scene: Scene) -> Callable[[Plan, Situation], Decision | None]:
        return lambda plan, situation: self._complete(scene, plan, situation)

    def by_hand(self, scene: Scene, strategy: str | None, tell: Tell | None = None) -> Decision:
        """Plan for the user; `strategy` names a policy.

        Raises: BadRequest: no such policy. NothingToDo: nothing can be left out, or no plan is
        admitted.
        """
        known = policies()
        if strategy is not None and strategy not in known:
            raise BadRequest(
                f"there is no strategy {strategy!r}; there are {', '.join(known)}",
                "params.strategy",
            )
        chosen = (self.chosen.known(strategy) if strategy else None) or self.chosen.policy()
        if chosen.name == MANUAL:
            chosen = known[DEFAULT]
        standing = self.planner.standing(scene)
        situation = self.planner.situation(scene, standing)
        found = choose(chosen, situation, "user", self._completing(scene), tell=tell)
        if found.done is None:
            raise NothingToDo(
                f"there is nothing worth leaving out yet: {found.why or why_nothing(situation)}"
            )
        return found.done

    def _complete(self, scene: Scene, plan: Plan, situation: Situation) -> Decision | None:
        """Reduce a plan to permitted changes, measure and price; `None` without a saving.

        Drops thinking where the prefix before changes.
        """
        outline = outlined(plan, situation, f"cmp_{scene.number}")
        if outline is None:
            return None
        items, first = situation.items, outline.first
        before = [recorded.rewrite for recorded in scene.rewrites]
        shown = fold_rewrites((*before, outline.rewrite))
        outline = outline.without_thinking(unbound(scene.messages, scene.epochs, shown), items)
        rewrite = outline.rewrite
        carried = items[first].unit.message_id in _carried(scene.messages)
        opens = carried or plan.cause == "user" or not situation.sent
        anchor = anchor_after(situation) if opens else scene.view.anchor_message
        view = scene.view.imagined()
        now = self._clock.now()
        if opens:
            view.restate(scene.head, now)
        view.reshape(fold_rewrites((*before, rewrite)), anchor, now if opens else None)
        instead = begun_by_user(plan, view.prompt(scene.messages))
        if instead is not None:
            return self._complete(scene, instead, situation)
        standing, after = situation.standing, view.size(scene.messages).total
        if after >= standing.used:
            return None
        ahead = standing.static + sum(item.tokens for item in items[:first])
        price, even = rewrite_cost(
            standing, ahead, standing.used - after, rates(self._settings.info())
        )
        done = replace(
            plan,
            changes=outline.changes,
            first=first,
            tokens_before=standing.used,
            tokens_after=after,
        )
        figures: JsonObject = {key: round(value, 6) for key, value in plan.figures.items()}
        recorded = Recorded(
            rewrite,
            plan.policy,
            plan.reason,
            standing.used,
            after,
            None if self._settings.info().price is None else money_of(price),
            sum(isinstance(p, StepFinishPart) for m in scene.messages for p in m.parts),
            anchor,
            opens,
            view.calibration.factor,
            view.calibration.observations,
            view.bias,
            figures,
        )
        return Decision(done, recorded, view, even, situation, scene.messages)


def rewrite_cost(
    standing: Standing, before: int, removed: int, prices: Rates
) -> tuple[float, int | None]:
    """USD for a rewrite now, and requests until paid off, `None` for never.

    In tokens: `before` the first edited block, `removed` from the prompt. With a cold cache the
    cost is negative: the removed need no write.
    """
    if not standing.warm:
        return -removed * prices.write, 0
    rewritten = max(0, standing.used - removed - before)
    extra = rewritten * max(0.0, prices.write - prices.read)
    saved = removed * prices.read
    if not extra:
        return 0.0, 0
    return extra, ceil(extra / saved) if saved > 0 else None


def _carried(messages: Sequence[Message]) -> frozenset[MessageId]:
    """Messages of any request, failed ones included."""
    asked = (i for i in reversed(range(len(messages))) if messages[i].role == "assistant")
    return frozenset(message.id for message in messages[: next(asked, 0)])
