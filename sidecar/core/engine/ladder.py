"""Tries plans until one is admitted, and protects parts that must stay."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Protocol, TypeAlias, TypeVar

from sidecar.core.engine.admission import Candidate, Refusal, refusals
from sidecar.core.engine.emergency import cut_newest, drop_oldest
from sidecar.core.parts import PartId
from sidecar.core.plans.guard import first_typed, must_stay
from sidecar.core.plans.plan import (
    OPTIONAL,
    Change,
    Keeping,
    Plan,
    Policy,
    Situation,
    Standing,
    compression,
)
from sidecar.core.plans.rebuild import WORTHWHILE
from sidecar.core.plans.typed_text import shorten_goal
from sidecar.core.policies import policies
from sidecar.core.prompt.budget import Budget, at_most
from sidecar.core.prompt.prompt import Prompt
from sidecar.core.prompt.visibility import Cause, Dropped, Excerpt, Placeholder, Truncated, View

LEAN = "economic-lean"
"""What keeps least of all that keeps what matters."""
LEAST_COMPRESSION = 3.0
"""A rewrite that need not be must make what it changes so many times smaller, as it is measured."""

Rung: TypeAlias = Callable[[Situation], Plan | None]

Tell: TypeAlias = Callable[[Plan, Situation], tuple[Plan, ...]]
"""Puts a summary into a plan, in several ways: the first of them that is admitted is taken."""


def not_sent(most: int, room: Budget, off: str | None) -> str:
    """Tells people why a prompt was not sent; `off`: why compaction is off."""
    if off is None:
        advice = (
            "compaction would leave too much, for what must stay: send a shorter message, unpin "
            "parts, or choose a larger window"
        )
    else:
        advice = (
            f"{off}: compact the context (context/compact), or let it be compacted by itself "
            'with the policy "economic" and autoCompact on'
        )
    return (
        f"not sent: the prompt may take {most} tokens, {room.limit} of the window's "
        f"{room.window} may be used, and {advice}"
    )


def rungs(policy: Policy, standing: Standing, cause: Cause) -> tuple[Rung, ...]:
    """Gives ways to plan, in order: the policy's, and others for an overlong prompt."""
    own: tuple[Rung, ...] = (lambda situation: policy.plan(situation, cause),)
    if cause == "overflow":
        return (*own, drop_oldest, cut_newest)
    if not standing.is_over:
        return own
    return (*own, _all_again(cause), drop_oldest, cut_newest)


def _all_again(cause: Cause) -> Rung:

    def rung(situation: Situation) -> Plan | None:
        plan = policies()[LEAN].plan(situation, cause)
        return None if plan is None else replace(plan, summary=None)

    return rung


class Completed(Protocol):
    """A plan measured as carried out."""

    @property
    def plan(self) -> Plan: ...

    @property
    def opens(self) -> bool:
        """Whether an epoch begins: sent parts change, nothing was sent, or the user asked."""
        ...

    def sent(self) -> tuple[View, Prompt]: ...


One = TypeVar("One", bound=Completed)


def descend(
    situation: Situation,
    rungs: Iterable[Rung],
    complete: Callable[[Plan], One | None],
    tell: Tell | None = None,
) -> tuple[One | None, tuple[str, ...]]:
    """Gives the first admitted plan, and the refusals before.

    If none is admitted, gives the smallest sound plan for a refused prompt or a person's request;
    for one merely over the limit, if the plan fits.
    """
    tried: list[One] = []
    refused: list[str] = []
    for rung in rungs:
        plan = rung(situation)
        plans: tuple[Plan, ...] = () if plan is None else (plan,)
        if plan is not None and plan.summary is not None and tell is not None:
            plans, tell = tell(plan, situation), None
        for completed in filter(None, map(complete, plans)):
            found = _against(completed, situation)
            if not found:
                return completed, tuple(refused)
            refused.append("; ".join(refusal.reason for refusal in found))
            if not any(refusal.unsound for refusal in found):
                tried.append(completed)
    st = situation.standing
    if not tried or not (st.overflow or st.asked or st.is_over):
        return None, tuple(refused)
    best = min(tried, key=lambda one: one.plan.tokens_after)
    after = best.plan.tokens_after
    if not st.overflow and not st.asked and at_most(after, after) > st.limit:
        return None, tuple(refused)
    return best, tuple(refused)


def _against(completed: Completed, situation: Situation) -> tuple[Refusal, ...]:
    """Empty if only unsent parts are cut."""
    if not completed.opens:
        return ()
    view, prompt = completed.sent()
    tokens = completed.plan.tokens_after + coming(completed.plan)
    return refusals(Candidate(situation, view, prompt, tokens))


def may_wait(cause: Cause, situation: Situation, plan: Plan | None, refused: Sequence[str]) -> bool:
    if cause not in OPTIONAL or refused:
        return False
    return plan is None or is_little(situation, plan)


def coming(plan: Plan) -> int:
    return plan.summary.output_tokens if plan.summary is not None and not plan.told else 0


def is_little(situation: Situation, plan: Plan) -> bool:
    whole = replace(plan, tokens_after=plan.tokens_after + coming(plan))
    return compression(situation, whole) < LEAST_COMPRESSION


def why_nothing(situation: Situation) -> str:
    st = situation.standing
    spared = must_stay(situation)
    stays = sum(item.tokens for item in situation.items if item.unit.part_id in spared)
    may_go = max(0, st.used - st.static - stays)
    sizes = f"of {st.used} tokens {st.static} are system text and tools"
    if not situation.items:
        return f"nothing was said yet; {sizes}"
    why = "are too few for a rewrite to be worth it"
    if may_go > 2 * WORTHWHILE:
        why = "are left alone by this policy"
    return (
        f"{sizes}, and {stays} are pinned, new, or what you typed first and last, which stays; "
        f"the {may_go} that could go {why}"
    )


def allowed(changes: Iterable[Change], situation: Situation) -> tuple[Change, ...]:
    """Removes changes of parts that must stay, except cuts of unsent ones and excerpts.

    An overlong first typed message is shortened, never dropped.
    """
    kept = must_stay(situation)
    fixed = situation.preserved | {
        item.unit.part_id for item in situation.items if item.pinned or item.unit.running
    }
    unsent = {item.unit.part_id for item in situation.items[situation.sent :]} - fixed
    goal = _goal(situation)
    return tuple(
        goal[change.part_id]
        if change.part_id in goal and isinstance(change.shown, Dropped | Placeholder)
        else change
        for change in changes
        if change.part_id not in kept
        or change.shown is None
        or (change.part_id in unsent and isinstance(change.shown, Truncated))
        or (change.part_id not in fixed and isinstance(change.shown, Excerpt))
    )


def _goal(situation: Situation) -> dict[PartId, Change]:
    first = first_typed(situation.items)
    parts = [
        item
        for item in situation.items
        if item.unit.kind == "typed" and item.unit.message_id == first
    ]
    most = min(Keeping().first, situation.standing.window // 8)
    told: dict[PartId, Change] = {}
    for item in parts:
        stay = shorten_goal(item, most // len(parts))
        change = Change(item.unit.part_id, stay.shown, stay.reason, item.tokens, stay.tokens)
        told[item.unit.part_id] = change
    return told
