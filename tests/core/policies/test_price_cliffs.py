"""Prompts above a size are billed dearer as a whole: that decides when a rewrite pays."""

from dataclasses import replace

import pytest

from sidecar.core.plans.plan import Rates, rent_of
from sidecar.core.policies.economic import Economic
from sidecar.session.compaction.decision import rewrite_cost
from tests.core.policies.situations import standing

FLAT = Rates(4e-6, 20e-6, 5e-6, 0.5e-6)
CLIFF = replace(FLAT, above=100_000, dearer=Rates(8e-6, 30e-6, 10e-6, 1e-6))
POLICY = Economic()


def test_a_prompt_at_the_cliff_is_cheap_and_one_above_is_dear_as_a_whole() -> None:
    assert CLIFF.at(100_000) is CLIFF
    assert CLIFF.at(100_001) is CLIFF.dearer
    assert rent_of((90_000, 100_000), 50_000, CLIFF) == 90_000
    assert rent_of((100_001,), 50_000, CLIFF) == 2 * 100_001 - 50_000
    assert rent_of((110_000,), 105_000, CLIFF) == 10_000
    assert rent_of((100_001,), 50_000, FLAT) == 50_001


@pytest.mark.parametrize(("used", "cause"), [(100_000, None), (100_001, "pays")])
def test_it_pays_to_come_back_below_as_soon_as_it_would_be_crossed(
    used: int, cause: str | None
) -> None:
    assert POLICY.due(standing(used, rates=FLAT, requests=10)) is None
    assert POLICY.due(standing(used, rates=CLIFF, requests=10)) == cause


def test_it_does_not_where_a_rewrite_would_leave_more_than_that() -> None:
    above = replace(CLIFF, above=30_000)
    assert POLICY.due(standing(100_001, rates=above, requests=10, base=60_000)) is None


def test_small_steps_across_it_do_not_rewrite_what_was_just_rewritten() -> None:
    assert POLICY.due(standing(100_001, rates=CLIFF, requests=10, base=95_000)) is None


def test_a_rewrite_is_priced_by_what_is_billed_before_and_after() -> None:
    here = standing(120_000, rates=CLIFF)
    extra, even = rewrite_cost(here, 20_000, 80_000, CLIFF)
    assert extra == pytest.approx(20_000 * 4.5e-6)
    saved = 120_000 * 1e-6 - 40_000 * 0.5e-6
    assert even == 1
    assert saved > extra
    cold, _ = rewrite_cost(replace(here, warm=False), 20_000, 80_000, CLIFF)
    assert cold == pytest.approx(40_000 * 5e-6 - 120_000 * 10e-6)
