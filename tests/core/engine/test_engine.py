"""What one decision comes to: why now, what is tried, what waits, and when nothing is tried."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from sidecar.core.engine.breaker import Breaker
from sidecar.core.engine.engine import Away, Chosen, choose, why_now
from sidecar.core.parts import PartId
from sidecar.core.plans.plan import Change, Plan, Rates, Situation, Standing
from sidecar.core.policies.manual import Manual
from sidecar.core.prompt.prompt import Prompt, Ttl
from sidecar.core.prompt.visibility import Cause, Dropped, View
from sidecar.core.text.identifiers import NameIndex

RATES = Rates(3e-6, 15e-6, 3.75e-6, 0.3e-6)
HERE = Standing(50_000, 10_000, 200_000, 168_000, 10_000, 0, 4, True, False, 10, RATES)
AT = 100_000
"""Tokens from which the test's policy must rewrite."""


@dataclass(frozen=True)
class Plain:
    """Is due from a size on, or whenever it pays; leaves so many tokens."""

    leaves: int = 30_000
    pays: bool = False
    name: str = "plain"
    static_ttl: Ttl = "5m"

    def due(self, standing: Standing) -> Cause | None:
        return "budget" if standing.used >= AT else "pays" if self.pays else None

    def plan(self, situation: Situation, cause: Cause) -> Plan | None:
        used = situation.standing.used
        gone = Change(PartId("a"), Dropped(), "it shrinks", used, self.leaves)
        return Plan("plain", cause, "", 0, (gone,), 0, used, self.leaves)


@dataclass(frozen=True)
class Done:
    """A plan as it would be carried out: nothing that was sent changes, so all is admitted."""

    plan: Plan
    situation: Situation
    opens: bool = False

    def sent(self) -> tuple[View, Prompt]:
        raise AssertionError("only what was sent is looked at")


def at(used: int, step: int = 1) -> Situation:
    return Situation(replace(HERE, used=used), (), NameIndex(), step)


def away(growth: int, *, hurried: bool = False, forced: Sequence[Situation] = ()) -> Away:
    return Away(growth, hurried, lambda: forced[0])


def test_manual_does_nothing_by_itself_however_long_the_prompt_is() -> None:
    over = replace(HERE, used=10**6)
    assert why_now(Plain(), over) == "budget"
    assert why_now(Manual(), over) is None
    assert why_now(Manual(), replace(over, overflow=True)) is None


def test_what_the_provider_refused_is_rewritten_whatever_the_policy_says() -> None:
    assert why_now(Plain(), replace(HERE, overflow=True)) == "overflow"


@pytest.mark.parametrize(
    ("growth", "pays", "warm", "hurried", "cause"),
    [
        (0, False, True, False, None),
        (60_000, False, True, False, "idle"),
        (60_000, False, False, True, "idle"),
        (0, True, True, False, "idle"),
        (0, True, False, False, None),
        (0, True, True, True, None),
    ],
)
def test_while_the_user_is_away_what_the_next_turn_needs_is_due(
    growth: int, pays: bool, warm: bool, hurried: bool, cause: Cause | None
) -> None:
    here = replace(HERE, warm=warm)
    assert why_now(Plain(pays=pays), here, away(growth, hurried=hurried)) == cause


def test_a_choice_that_hardly_makes_the_prompt_smaller_waits_and_is_no_failure() -> None:
    assert choose(Plain(leaves=45_000), at(50_000), "pays", Done) == Chosen(waits=True)
    # Once a summary is there it was paid for.
    assert choose(Plain(45_000), at(50_000), "pays", Done, tell=lambda p, _: (p,)).done is not None
    optional: tuple[tuple[Cause, int], ...] = (("pays", 10_000), ("budget", 45_000))
    for cause, leaves in optional:
        assert choose(Plain(leaves), at(50_000), cause, Done).done is not None


def test_the_next_turns_rewrite_is_planned_for_the_situation_that_it_will_find() -> None:
    present, forced = at(90_000), at(90_000, step=2)
    growing = away(20_000, forced=(forced,))
    large = choose(Plain(leaves=10_000), present, "idle", Done, away=growing)
    assert large.done is not None
    assert large.done.situation is present
    little = choose(Plain(leaves=45_000), present, "idle", Done, away=growing)
    assert little.done is not None
    assert little.done.situation is forced
    assert "the next turn would need it" in little.done.plan.reason


def test_a_draft_is_not_planned_again_when_its_summary_is_there() -> None:
    situation = at(120_000)
    made = Plain().plan(situation, "budget")
    assert made is not None
    draft = replace(made, reason="the draft")
    told = choose(Plain(), situation, "budget", Done, tell=lambda p, _: (p,), draft=draft)
    assert told.done is not None
    assert told.done.plan.reason == "the draft"


def test_what_waits_is_no_failure_and_what_was_refused_counts() -> None:
    waiting: Chosen[Done] = Chosen(waits=True)
    near = replace(HERE, used=HERE.limit)
    assert waiting.breaker(Breaker(), near, "cold") == Breaker(0, near.used, "cold")
    in_vain: Chosen[Done] = Chosen(refused=("a", "b", "a"))
    assert in_vain.breaker(Breaker(), HERE, "pays") == Breaker(3, HERE.used, "pays")
    assert in_vain.why == "a; b"
