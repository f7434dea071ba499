"""One decision on a rewrite: why now, which plan, whether it may wait, and whether to try at all.

Live sessions and replays are two shells around it. Each says where it stands, measures a plan as
it would be carried out, and carries it out; what is due, tried, admitted and put off is decided
here, so that the same log gives the same plans.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from sidecar.core.engine.admission import Breaker
from sidecar.core.engine.ladder import (
    Completed,
    Rung,
    Tell,
    cause_of,
    descend,
    is_little,
    may_wait,
    rungs,
)
from sidecar.core.plans.plan import Plan, Policy, Situation, Standing
from sidecar.core.policies.manual import MANUAL
from sidecar.core.prompt.visibility import Cause

One = TypeVar("One", bound=Completed)


@dataclass(frozen=True, slots=True)
class Away:
    """The user is away, so that nobody waits. The next turn will probably add `growth` tokens.

    `hurried`: only what that turn would be forced to do is worth while. `forced` gives the
    situation that it would find, with no more left alone than it would leave.
    """

    growth: int
    hurried: bool
    forced: Callable[[], Situation]

    def coming(self, standing: Standing) -> Standing:
        """Give the standing that the next turn will probably find."""
        used = standing.used + self.growth
        return replace(standing, used=used, newest=0, opens_turn=True)


@dataclass(frozen=True, slots=True)
class Chosen(Generic[One]):
    """What is to be done, if anything, and for each plan before that why it was refused.

    `waits`: nothing is done, and nothing has failed.
    """

    done: One | None = None
    refused: tuple[str, ...] = ()
    waits: bool = False

    @property
    def why(self) -> str:
        """The reasons, each once."""
        return "; ".join(dict.fromkeys(self.refused))

    def breaker(self, before: Breaker, standing: Standing) -> Breaker:
        """Give the breaker after a choice of nothing, which may have been tried in vain."""
        return before if self.waits else before.in_vain(len(self.refused), standing)


def why_now(policy: Policy, standing: Standing, away: Away | None = None) -> Cause | None:
    """Say why to rewrite now; while the user is away, what the next turn would need is due."""
    if policy.name == MANUAL:
        return None
    if standing.overflow:
        return "overflow"
    if away is None:
        return cause_of(policy, standing)
    due = policy.due(away.coming(standing))
    pays = due == "pays" and standing.warm and not away.hurried
    return "idle" if due == "budget" or pays else None


def is_barred(breaker: Breaker, standing: Standing) -> bool:
    """Whether nothing is tried, because the same was in vain; what must fit is always tried."""
    held = breaker.holds(standing.used, opens_turn=standing.opens_turn)
    return held and not (standing.is_over or standing.overflow)


def choose(
    policy: Policy,
    situation: Situation,
    cause: Cause,
    complete: Callable[[Plan, Situation], One | None],
    *,
    tell: Tell | None = None,
    draft: Plan | None = None,
    away: Away | None = None,
) -> Chosen[One]:
    """Choose the first plan that is admitted, or nothing.

    `complete` gives a plan as it would be carried out, or `None` where it leaves nothing to do.
    `tell` puts a summary into a plan that wants one, once there is one; `draft` is then the plan
    that it was written for, where that is not to be made again.
    """
    ways = rungs(policy, situation.standing, cause)
    if draft is not None:
        ways = (lambda _: draft, *ways[1:])
    done, refused = descend(situation, ways, lambda plan: complete(plan, situation), tell)
    plan = None if done is None else done.plan
    if away is not None and policy.due(away.coming(situation.standing)) == "budget":
        if plan is not None and not is_little(situation, plan):
            return Chosen(done, refused)
        forced = away.forced()
        ahead = (_ahead(policy),)
        return Chosen(*descend(forced, ahead, lambda plan: complete(plan, forced), tell))
    if tell is None and may_wait(cause, situation, plan, refused):
        return Chosen(waits=True)
    return Chosen(done, refused)


def _ahead(policy: Policy) -> Rung:
    """Plan what the next turn would be forced to do."""

    def rung(situation: Situation) -> Plan | None:
        plan = policy.plan(situation, "budget")
        if plan is None:
            return None
        why = f"{plan.tokens_before} to {plan.tokens_after} tokens: the next turn would need it"
        return replace(plan, cause="idle", reason=why)

    return rung
