"""Completes a policy's plan into a checked, measured, priced rewrite.

The session stays unchanged.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import ceil
from time import monotonic

from sidecar.core.dataclass import dataclass
from sidecar.core.engine.engine import Away, Chosen, choose, why_now
from sidecar.core.engine.ladder import Tell, not_sent, why_nothing
from sidecar.core.engine.outline import anchor_after, begun_by_user, opens_epoch, outlined
from sidecar.core.errors import BadRequest, ModelFailed, NothingToDo
from sidecar.core.parts import JsonObject, Message, MessageId, StepFinishPart
from sidecar.core.plans.plan import Plan, Rates, Situation, Standing
from sidecar.core.policies import DEFAULT, policies
from sidecar.core.policies.manual import MANUAL
from sidecar.core.prompt import visibility as core_view
from sidecar.core.prompt.budget import at_most
from sidecar.core.prompt.pricing import money_of
from sidecar.core.prompt.prompt import Prompt
from sidecar.core.prompt.visibility import Cause, fold_rewrites
from sidecar.session.compaction.chosen_policy import ChosenPolicy
from sidecar.session.compaction.planner import Occasion, Planner, Scene
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

    Pays off after `break_even` requests, never if `None`.
    """

    plan: Plan
    recorded: Recorded
    view: ModelView
    break_even: int | None
    situation: Situation
    messages: Sequence[Message]

    @property
    def opens(self) -> bool:
        return self.recorded.opens

    def sent(self) -> tuple[core_view.View, Prompt]:
        return self.view.rendering.shown, self.view.prompt(self.messages)

    def after(self, scene: Scene) -> Scene:
        shown = Epoch(scene.messages[-1].created, self.view.rendering.shown)
        return replace(
            scene,
            view=self.view,
            rewrites=(*scene.rewrites, self.recorded),
            epochs=(*scene.epochs, shown),
            number=scene.number + 1,
        )


class Decisions:
    """Decides on rewrites, by the policy or by hand.

    `timed` hears the seconds that a policy's plan took.
    """

    def __init__(
        self,
        planner: Planner,
        chosen: ChosenPolicy,
        settings: SessionSettings,
        clock: Clock,
        timed: Callable[[float, str], None] = lambda _seconds, _policy: None,
    ) -> None:
        self.planner = planner
        self.chosen = chosen
        self._settings = settings
        self._clock = clock
        self._timed = timed

    def check_length(self) -> None:
        """Raises ModelFailed, with advice, for a prompt over the limit."""
        size, room = self.planner.size(), self._settings.room()
        most = at_most(size.total, size.guessed)
        if most <= room.limit:
            return
        manual = self.chosen.policy().name == MANUAL
        setting = "policy is manual" if manual else "autoCompact is off"
        text = not_sent(most, room, None if self.chosen.is_automatic() else setting)
        raise ModelFailed(text, kind="context_overflow")

    def due(
        self, occasion: Occasion, scene: Callable[[], Scene], standing: Standing | None = None
    ) -> tuple[Standing, Cause] | None:
        """Returns why a rewrite is due, if so; needs only a window of the log."""
        if not self.chosen.is_automatic():
            return None
        standing = standing or self.planner.present(occasion)
        cause = why_now(self.chosen.policy(), standing, self._away(occasion, scene))
        return None if cause is None else (standing, cause)

    def decide(self, scene: Scene, tell: Tell | None = None) -> Chosen[Decision]:
        """Decides on an automatic rewrite; `tell` puts a summary into a plan."""
        due = self.due(scene.occasion, lambda: scene, self.planner.standing(scene))
        if due is None:
            return Chosen(waits=True)
        away = self._away(scene.occasion, lambda: scene)
        policy, (standing, cause) = self.chosen.policy(), due
        begun = monotonic()
        situation = self.planner.situation(scene, standing)
        done = choose(policy, situation, cause, self._completing(scene), tell=tell, away=away)
        self._timed(monotonic() - begun, policy.name)
        return done

    def _away(self, why: Occasion, scene: Callable[[], Scene]) -> Away | None:
        if not why.idle:
            return None

        def forced() -> Situation:
            present = replace(scene(), occasion=replace(why, idle=False))
            return self.planner.situation(present, self.planner.standing(present))

        return Away(why.growth, why.hurried, forced)

    def _completing(self, scene: Scene) -> Callable[[Plan, Situation], Decision | None]:
        return lambda plan, situation: self._complete(scene, plan, situation)

    def by_hand(self, scene: Scene, strategy: str | None, tell: Tell | None = None) -> Decision:
        """Decides by the policy that `strategy` names.

        Raises BadRequest for an unknown one, and NothingToDo, also if no plan is admitted.
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
        """Reduces a plan to permitted changes and prices it; `None` if nothing is saved."""
        outline = outlined(plan, situation, f"cmp_{scene.number}")
        if outline is None:
            return None
        items, first = situation.items, outline.first
        before = scene.epochs[-1].view
        shown = fold_rewrites((outline.rewrite,), before)
        outline = outline.without_thinking(unbound(scene.messages, scene.epochs, shown), items)
        rewrite = outline.rewrite
        held = items[first].unit.message_id in _carried(scene.messages)
        opens = opens_epoch(plan, situation, held)
        anchor = anchor_after(situation) if opens else scene.view.anchor_message
        view = scene.view.imagined()
        now = self._clock.now()
        if opens:
            view.restate(scene.head, now)
        view.reshape(fold_rewrites((rewrite,), before), anchor, now if opens else None)
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
            view.calibration.bias,
            figures,
        )
        return Decision(done, recorded, view, even, situation, scene.messages)


def rewrite_cost(
    standing: Standing, before: int, removed: int, prices: Rates
) -> tuple[float, int | None]:
    """Returns USD now, and the requests until the rewrite pays off (`None`: never).

    `before` counts tokens ahead of the first change, `removed` those taken out. With a cold cache
    the cost is negative: removed tokens need not be written.
    """
    used, left = standing.used, standing.used - removed
    dear, cheap = prices.at(used), prices.at(left)
    if not standing.warm:
        return left * cheap.write - used * dear.write, 0
    extra = max(0, left - before) * max(0.0, cheap.write - cheap.read)
    saved = used * dear.read - left * cheap.read
    if not extra:
        return 0.0, 0
    return extra, ceil(extra / saved) if saved > 0 else None


def _carried(messages: Sequence[Message]) -> frozenset[MessageId]:
    asked = (i for i in reversed(range(len(messages))) if messages[i].role == "assistant")
    return frozenset(message.id for message in messages[: next(asked, 0)])
