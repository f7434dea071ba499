"""From a policy's plan to a rewrite that can be carried out: checked, completed, measured, priced.

Nothing here changes the session, so that a dry run and a preview say what would happen.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import ceil

from sidecar.core.errors import BadRequest, NothingToDo
from sidecar.core.guard import NOTES, untouchable
from sidecar.core.parts import JsonObject, Message, MessageId, PartId, StepFinishPart
from sidecar.core.plan import REWRITE_ID, Change, Plan, Policy, Rates, Situation, Standing
from sidecar.core.policies import DEFAULT, policies
from sidecar.core.pricing import money_of
from sidecar.core.rebuild import HEAD
from sidecar.core.render import Region
from sidecar.core.units import Item
from sidecar.core.view import Dropped, Note, Rewrite, Truncated, fold_rewrites
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


@dataclass(frozen=True, slots=True)
class Decision:
    """A rewrite that has not happened: the plan as it would be carried out, and what comes of it.

    `view` is how the session would look; `break_even` counts the requests until it has paid for
    itself, `None` when it never does.
    """

    plan: Plan
    recorded: Recorded
    view: View
    break_even: int | None

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


def policy_of(state: State) -> Policy:
    """Give the session's policy."""
    return policies().get(state.setting("policy")) or policies()[DEFAULT]


def is_automatic(state: State) -> bool:
    """Whether anything may be rewritten without being asked for."""
    off = state.log.row.settings.get("autoCompact") is False
    return not off and policy_of(state).name != MANUAL


def decide(state: State, planner: Planner, scene: Scene) -> Decision | None:
    """Ask the session's policy whether the view should be rewritten before the next request.

    When the provider has refused the prompt's length, there are last rungs below the policy.
    """
    if not is_automatic(state):
        return None
    policy = policy_of(state)
    standing = planner.standing(state, scene)
    cause = "overflow" if scene.overflow else policy.due(standing)
    if cause is None:
        return None
    situation = planner.situation(state, scene, standing)
    plan = policy.plan(situation, cause)
    decision = None if plan is None else complete(state, scene, plan, situation)
    if not scene.overflow:
        return decision
    return _fitting(state, scene, situation, decision, (drop_oldest, cut_newest))


def decide_by_hand(state: State, planner: Planner, scene: Scene, strategy: str | None) -> Decision:
    """Plan a compaction that the user asked for, with a policy of their choice.

    Raises:
        BadRequest: there is no such policy.
        NothingToDo: the policy has nothing to leave out.
    """
    known = policies()
    if strategy is not None and strategy not in known:
        raise BadRequest(
            f"there is no strategy {strategy!r}; there are {', '.join(known)}", "params.strategy"
        )
    chosen = known[strategy] if strategy else policy_of(state)
    if chosen.name == MANUAL:
        chosen = known[DEFAULT]
    standing = planner.standing(state, scene)
    situation = planner.situation(state, scene, standing)
    plan = chosen.plan(situation, "user")
    decision = None if plan is None else complete(state, scene, plan, situation)
    if standing.used > standing.limit:
        decision = _fitting(state, scene, situation, decision, (cut_newest,))
    if decision is None:
        raise NothingToDo(
            "there is nothing worth leaving out yet: the context is small, or all of it is pinned, "
            "new, or was typed by you"
        )
    return decision


def _fitting(
    state: State,
    scene: Scene,
    situation: Situation,
    found: Decision | None,
    rungs: Sequence[Callable[[Situation], Plan | None]],
) -> Decision | None:
    """Go down the rungs until the prompt fits; where it never does, give what frees most."""
    tried = [] if found is None else [found]
    for rung in rungs:
        if tried and tried[-1].recorded.tokens_after <= situation.standing.limit:
            break
        plan = rung(situation)
        decision = None if plan is None else complete(state, scene, plan, situation)
        if decision is not None:
            tried.append(decision)
    return min(tried, key=lambda one: one.recorded.tokens_after, default=None)


def complete(state: State, scene: Scene, plan: Plan, situation: Situation) -> Decision | None:
    """Leave alone what must stay, drop the thinking that loses its prefix, and measure the rest.

    Gives `None` when nothing is left to change or the prompt would not get smaller.
    """
    changes = _allowed(plan.changes, situation)
    touched = {change.part_id for change in changes} | set(plan.retired)
    if not touched:
        return None
    items = situation.items
    noted = bool(plan.note or plan.excerpt)
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
    return Decision(done, recorded, view, even)


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
    kept = untouchable(situation)
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
    texts: tuple[tuple[str, Region], ...] = ((plan.excerpt, "summary"), (plan.note, "ledger"))
    return tuple(
        Note(PartId(f"{rewrite_id} {region}"), text.replace(REWRITE_ID, rewrite_id), before, region)
        for text, region in texts
        if text
    )


def _with_thinking(
    changes: Sequence[Change], gone: frozenset[PartId], items: Sequence[Item]
) -> tuple[Change, ...]:
    sizes = {item.unit.part_id: item.tokens for item in items}
    reason = "thinking after an edited part cannot be sent"
    dropped = (Change(p, Dropped(), reason, sizes.get(p, 0), 0) for p in sorted(gone))
    return (*(change for change in changes if change.part_id not in gone), *dropped)
