"""From a policy's plan to a rewrite that can be carried out: checked, completed, measured, priced.

Nothing here changes the session, so that a dry run and a preview say what would happen.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import TypeAlias

from sidecar.config.strategies import NOTHING
from sidecar.core.admission import Candidate, Refusal, refusals
from sidecar.core.errors import BadRequest, NothingToDo
from sidecar.core.guard import NOTES, goal_parts, untouchable
from sidecar.core.parts import JsonObject, Message, MessageId, PartId, StepFinishPart
from sidecar.core.plan import (
    OPTIONAL,
    REWRITE_ID,
    Change,
    Plan,
    Policy,
    Rates,
    Situation,
    Standing,
    compression,
)
from sidecar.core.policies import DEFAULT, policies
from sidecar.core.policies.evict import HYBRID, weighed
from sidecar.core.pricing import money_of
from sidecar.core.rebuild import HEAD
from sidecar.core.render import Region
from sidecar.core.units import Item
from sidecar.core.view import Cause, Dropped, Note, Rewrite, Truncated, fold_rewrites
from sidecar.session.emergency import cut_newest, drop_oldest
from sidecar.session.gauge import rates
from sidecar.session.instructions import renewed
from sidecar.session.planner import Planner, Scene, anchor_after
from sidecar.session.rewrites import Recorded
from sidecar.session.state import State
from sidecar.session.thinking import unbound
from sidecar.session.view import View
from sidecar.session.views import Epoch

MANUAL = "manual"
LEAST_COMPRESSION = 3.0
"""A rewrite that need not be must make what it changes so many times smaller, as it is measured."""
LEAN = "economic-lean"
"""What keeps least of all that keeps what matters."""

Rung: TypeAlias = Callable[[Situation], Plan | None]
Tell: TypeAlias = Callable[[Plan, Situation], tuple[Plan, ...]]
"""Puts a summary into a plan, in several ways: the first of them that is admitted is taken."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A rewrite that has not happened: the plan as it would be carried out, and what comes of it.

    `view` is how the session would look; `break_even` counts the requests until it has paid for
    itself, `None` when it never does. `situation` is what the plan was made for.
    """

    plan: Plan
    recorded: Recorded
    view: View
    break_even: int | None
    situation: Situation

    def after(self, scene: Scene) -> Scene:
        """Give the scene as it would be then."""
        shown = Epoch(scene.messages[-1].created, self.view.shown)
        return replace(
            scene,
            view=self.view,
            rewrites=(*scene.rewrites, self.recorded),
            epochs=(*scene.epochs, shown),
            number=scene.number + 1,
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is to be done, if anything, and for each rung before that why it was refused.

    `standing` is where the session stands, unless nothing is due or what is due may wait.
    """

    decision: Decision | None = None
    refused: tuple[str, ...] = ()
    standing: Standing | None = None

    @property
    def why(self) -> str:
        """The reasons, each once."""
        return "; ".join(dict.fromkeys(self.refused))


def policy_of(state: State) -> Policy:
    """Give the session's policy, with the weights that are set for its agent."""
    return _known(state, state.setting("policy")) or policies()[DEFAULT]


def _known(state: State, name: str) -> Policy | None:
    weights = state.config.agents.get(state.setting("agent"), NOTHING).weights
    return weighed(weights) if weights and name == HYBRID else policies().get(name)


def is_automatic(state: State) -> bool:
    """Whether anything may be rewritten without being asked for."""
    off = state.log.row.settings.get("autoCompact") is False
    return not off and policy_of(state).name != MANUAL


def is_due(state: State, planner: Planner, scene: Scene) -> bool:
    """Whether the session's policy would plan anything now; needs no more than a window."""
    if not is_automatic(state):
        return False
    return _due(policy_of(state), planner.standing(state, scene), scene) is not None


def decide(state: State, planner: Planner, scene: Scene, tell: Tell | None = None) -> Verdict:
    """Ask the session's policy whether the view should be rewritten before the next request.

    What it plans is admitted or refused; then the next rung is tried. `tell` puts a summary into
    a plan that wants one, once there is one.
    """
    if not is_automatic(state):
        return Verdict()
    policy = policy_of(state)
    standing = planner.standing(state, scene)
    cause = _due(policy, standing, scene)
    if cause is None:
        return Verdict()
    situation = planner.situation(state, scene, standing)
    rungs: list[Rung] = [lambda situation: policy.plan(situation, cause)]
    if cause == "budget":
        rungs.append(_all_again(cause))
    if cause == "overflow":
        rungs += (drop_oldest, cut_newest)
    found = _admitted(state, scene, situation, rungs, tell)
    # What only pays, or costs nothing now, may wait: to leave it alone is no failure. A summary
    # that is there was paid for.
    if cause in OPTIONAL and tell is None and not found.refused and _is_little(found.decision):
        return Verdict()
    return found


def _is_little(decision: Decision | None) -> bool:
    """Whether what a rewrite changes would hardly get smaller, a summary that comes included."""
    if decision is None:
        return True
    plan, wanted = decision.plan, decision.plan.summary
    coming = wanted.output_tokens if wanted is not None and not plan.told else 0
    whole = replace(plan, tokens_after=plan.tokens_after + coming)
    return compression(decision.situation, whole) < LEAST_COMPRESSION


def decide_by_hand(
    state: State, planner: Planner, scene: Scene, strategy: str | None, tell: Tell | None = None
) -> Decision:
    """Plan a compaction that the user asked for, with a policy of their choice.

    Raises:
        BadRequest: there is no such policy.
        NothingToDo: the policy has nothing to leave out, or what it leaves is not sound.
    """
    known = policies()
    if strategy is not None and strategy not in known:
        raise BadRequest(
            f"there is no strategy {strategy!r}; there are {', '.join(known)}", "params.strategy"
        )
    chosen = (_known(state, strategy) if strategy else None) or policy_of(state)
    if chosen.name == MANUAL:
        chosen = known[DEFAULT]
    standing = planner.standing(state, scene)
    situation = planner.situation(state, scene, standing)
    rungs: list[Rung] = [lambda situation: chosen.plan(situation, "user")]
    if standing.used > standing.limit:
        rungs += (_all_again("user"), cut_newest)
    found = _admitted(state, scene, situation, rungs, tell)
    if found.decision is None:
        why = "the context is small, or all of it is pinned, new, or was typed by you"
        raise NothingToDo(f"there is nothing worth leaving out yet: {found.why or why}")
    return found.decision


def _due(policy: Policy, standing: Standing, scene: Scene) -> Cause | None:
    """Say why to rewrite now. While the user is away, what the next turn would need is due."""
    if scene.overflow:
        return "overflow"
    if not scene.idle:
        return policy.due(standing)
    coming = replace(standing, used=standing.used + scene.growth, newest=0, opens_turn=True)
    return "idle" if standing.warm and policy.due(coming) in ("budget", "pays") else None


def _all_again(cause: Cause) -> Rung:
    """The rung below a policy's own plan: all that is not worth its tokens goes, and no model."""

    def rung(situation: Situation) -> Plan | None:
        plan = policies()[LEAN].plan(situation, cause)
        return None if plan is None else replace(plan, summary=None)

    return rung


def _admitted(
    state: State,
    scene: Scene,
    situation: Situation,
    rungs: Sequence[Rung],
    tell: Tell | None,
) -> Verdict:
    """Go down the rungs to the first plan that is admitted.

    Where none is and there is no choice, the one that frees most is taken of those that are
    sound: the provider has refused the prompt, or a person has asked.
    """
    tried: list[Decision] = []
    refused: list[str] = []
    for rung in rungs:
        plan = rung(situation)
        plans: tuple[Plan, ...] = () if plan is None else (plan,)
        if plan is not None and plan.summary is not None and tell is not None:
            plans, tell = tell(plan, situation), None
        for one in plans:
            decision = complete(state, scene, one, situation)
            if decision is None:
                continue
            found = _against(decision, scene)
            if not found:
                return Verdict(decision, tuple(refused), situation.standing)
            refused.append("; ".join(refusal.reason for refusal in found))
            if not any(refusal.unsound for refusal in found):
                tried.append(decision)
    if not tried or not (scene.overflow or scene.asked):
        return Verdict(None, tuple(refused), situation.standing)
    best = min(tried, key=lambda one: one.recorded.tokens_after)
    return Verdict(best, tuple(refused), situation.standing)


def _against(decision: Decision, scene: Scene) -> tuple[Refusal, ...]:
    """Say what speaks against a decision; nothing where only what was not sent yet is cut."""
    if not decision.recorded.opens:
        return ()
    plan, view = decision.plan, decision.view
    coming = plan.summary.output_tokens if plan.summary and not plan.told else 0
    tokens = decision.recorded.tokens_after + coming
    prompt = view.prompt(scene.messages)
    return refusals(Candidate(decision.situation, view.shown, prompt, tokens))


def complete(state: State, scene: Scene, plan: Plan, situation: Situation) -> Decision | None:
    """Leave alone what must stay, drop the thinking that loses its prefix, and measure the rest.

    Gives `None` when nothing is left to change or the prompt would not get smaller.
    """
    changes = _allowed(plan.changes, situation)
    touched = {change.part_id for change in changes} | set(plan.retired)
    if not touched:
        return None
    items = situation.items
    noted = bool(plan.note or plan.excerpt or plan.told)
    first = _first(items, touched, plan.first if noted else len(items))
    rewrite_id = f"cmp_{scene.number}"
    notes = _notes(plan, items[first].unit.message_id, rewrite_id)
    rewrite = Rewrite(
        rewrite_id,
        plan.cause,
        {change.part_id: change.shown for change in changes},
        notes,
        plan.retired,
    )
    before = [recorded.rewrite for recorded in scene.rewrites]
    shown = fold_rewrites((*before, rewrite))
    changes = _with_thinking(changes, unbound(scene.messages, scene.epochs, shown), items)
    rewrite = replace(rewrite, shown={change.part_id: change.shown for change in changes})
    carried = items[first].unit.message_id in _carried(scene.messages)
    opens = carried or plan.cause == "user" or not situation.sent
    anchor = anchor_after(situation) if opens else scene.view.anchor_message
    view = scene.view.imagined()
    now = state.clock.now()
    if opens:
        view.restate(renewed(state, view.static), now)
    view.reshape(fold_rewrites((*before, rewrite)), anchor, now if opens else None)
    if _begins_with_answer(view, scene.messages):
        # No provider takes that; a note stands where the user's words stood.
        return complete(state, scene, replace(plan, note=plan.note or HEAD, first=0), situation)
    standing, after = situation.standing, view.size(scene.messages).total
    if after >= standing.used:
        return None
    ahead = standing.static + sum(item.tokens for item in items[:first])
    price, even = rewrite_cost(standing, ahead, standing.used - after, rates(state))
    done = replace(
        plan, changes=changes, first=first, tokens_before=standing.used, tokens_after=after
    )
    figures: JsonObject = {key: round(value, 6) for key, value in plan.figures.items()}
    recorded = Recorded(
        rewrite,
        plan.policy,
        plan.reason,
        standing.used,
        after,
        None if state.info().price is None else money_of(price),
        sum(isinstance(p, StepFinishPart) for m in scene.messages for p in m.parts),
        anchor,
        opens,
        view.calibration.factor,
        view.calibration.observations,
        view.bias,
        figures,
    )
    return Decision(done, recorded, view, even, situation)


def rewrite_cost(
    standing: Standing, before: int, removed: int, prices: Rates
) -> tuple[float, int | None]:
    """Give what a rewrite costs now in USD and after how many requests that is earned back.

    `before` are the tokens before the first edited block, `removed` those that go. The second is
    `None` when it is never earned back.
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
    """Name the messages that a request has carried, one that failed or was cancelled included."""
    asked = (i for i in reversed(range(len(messages))) if messages[i].role == "assistant")
    return frozenset(message.id for message in messages[: next(asked, 0)])


def _begins_with_answer(view: View, messages: Sequence[Message]) -> bool:
    shown = view.prompt(messages).messages
    return bool(shown) and shown[0].role == "assistant"


def _allowed(changes: Iterable[Change], situation: Situation) -> tuple[Change, ...]:
    """Leave out changes of what must stay. What no request has carried yet may be shortened."""
    kept = untouchable(situation) | goal_parts(situation)
    fixed = situation.preserved | {
        item.unit.part_id for item in situation.items if item.pinned or item.unit.running
    }
    unsent = {item.unit.part_id for item in situation.items[situation.sent :]} - fixed
    return tuple(
        change
        for change in changes
        if change.part_id not in kept
        or change.shown is None
        or (change.part_id in unsent and isinstance(change.shown, Truncated))
    )


def _first(items: Sequence[Item], touched: set[PartId], noted: int) -> int:
    """Give the index of the first item that stands otherwise; a note stands before a message."""
    changed = (i for i, item in enumerate(items) if item.unit.part_id in touched)
    first = min(next(changed), noted)
    while noted <= first and first and _same_message(items[first - 1], items[first]):
        first -= 1
    return first


def _same_message(one: Item, other: Item) -> bool:
    both = one.unit, other.unit
    return both[0].message_id == both[1].message_id and all(u.kind not in NOTES for u in both)


def _notes(plan: Plan, before: MessageId, rewrite_id: str) -> tuple[Note, ...]:
    texts: tuple[tuple[str, str, Region], ...] = (
        ("told", plan.told, "summary"),
        ("excerpt", plan.excerpt, "summary"),
        ("ledger", plan.note, "ledger"),
    )
    return tuple(
        Note(PartId(f"{rewrite_id} {name}"), text.replace(REWRITE_ID, rewrite_id), before, region)
        for name, text, region in texts
        if text
    )


def _with_thinking(
    changes: Sequence[Change], gone: frozenset[PartId], items: Sequence[Item]
) -> tuple[Change, ...]:
    sizes = {item.unit.part_id: item.tokens for item in items}
    reason = "thinking after an edited part cannot be sent"
    dropped = (Change(p, Dropped(), reason, sizes.get(p, 0), 0) for p in sorted(gone))
    return (*(change for change in changes if change.part_id not in gone), *dropped)
