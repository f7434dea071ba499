"""Decides on a rewrite, for sessions and replays."""

from collections.abc import Callable
from dataclasses import replace
from typing import Generic

from sidecar.core.dataclass import dataclass
from sidecar.core.engine.breaker import Breaker
from sidecar.core.engine.ladder import (
    One,
    Rung,
    Tell,
    descend,
    is_little,
    may_wait,
    rungs,
)
from sidecar.core.plans.plan import Plan, Policy, Situation, Standing
from sidecar.core.plans.rebuild import WORTHWHILE
from sidecar.core.policies.manual import MANUAL
from sidecar.core.prompt.visibility import Cause

ATTEMPTS = 2
"""Plans before one request: what has just come is cut first, then the rest may be rebuilt."""


@dataclass(frozen=True, slots=True)
class Away:
    """A user's absence, when the next turn's rewrite is made ahead.

    `growth`: tokens that turn should add; `hurried`: only make forced rewrites; `forced` gives the
    situation for these.
    """

    growth: int
    hurried: bool
    forced: Callable[[], Situation]

    def coming(self, standing: Standing) -> Standing:
        used = standing.used + self.growth
        return replace(standing, used=used, newest=0, opens_turn=True)


@dataclass(frozen=True, slots=True)
class Chosen(Generic[One]):
    """The chosen rewrite, if any, and refusals before.

    `waits`: an optional rewrite may wait, which is no failure.
    """

    done: One | None = None
    refused: tuple[str, ...] = ()
    waits: bool = False

    @property
    def why(self) -> str:
        return "; ".join(dict.fromkeys(self.refused))

    def breaker(self, before: Breaker, standing: Standing, cause: Cause) -> Breaker:
        if self.waits:
            return before.left(standing, cause)
        return before.in_vain(len(self.refused), standing, cause)


def why_now(policy: Policy, standing: Standing, away: Away | None = None) -> Cause | None:
    """Gives a cause to rewrite now; while the user is `away`, `idle` if the next turn has one."""
    if policy.name == MANUAL:
        return None
    if standing.overflow:
        return "overflow"
    if away is None:
        return policy.due(standing) or ("budget" if standing.is_over else None)
    due = policy.due(away.coming(standing))
    pays = due == "pays" and standing.warm and not away.hurried
    return "idle" if due == "budget" or pays else None


def may_free(history: int) -> bool:
    return history >= WORTHWHILE


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
    """Gives the first admitted plan.

    `complete` measures a plan as carried out; `None`: without effect. `tell` adds a written summary
    to `draft`.
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

    def rung(situation: Situation) -> Plan | None:
        plan = policy.plan(situation, "budget")
        if plan is None:
            return None
        why = f"{plan.tokens_before} to {plan.tokens_after} tokens: the next turn would need it"
        return replace(plan, cause="idle", reason=why)

    return rung
