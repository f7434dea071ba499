"""What came to nothing is not planned anew before something has changed."""

from dataclasses import replace

import pytest

from sidecar.core.engine.breaker import ARRIVED, MOST_TRIES, Breaker
from sidecar.core.prompt.visibility import Cause
from tests.core.engine.test_engine import HERE


def test_it_opens_after_two_rungs_without_progress() -> None:
    assert MOST_TRIES == 2
    once = Breaker().after(progress=False)
    assert (once.failures, once.is_open) == (1, False)
    assert once.after(progress=False).is_open
    assert not once.after(progress=True).after(progress=False).is_open
    assert Breaker().after(progress=False, used=100, rungs=2) == Breaker(2, 100)


def test_a_plan_that_was_refused_or_may_wait_is_not_made_anew_at_the_next_request() -> None:
    grown = replace(HERE, used=round(1.02 * HERE.used))
    for before in (Breaker().in_vain(1, HERE, "pays"), Breaker().left(HERE, "pays")):
        assert not before.is_open
        assert before.holds(grown, "pays")
        assert not before.holds(grown, "cold"), "the cache went cold: another plan"
        assert not before.holds(replace(HERE, used=round(1.04 * HERE.used)), "pays")


def test_a_policy_that_finds_nothing_is_not_asked_again_either() -> None:
    nothing = Breaker().in_vain(0, HERE, "budget")
    assert (nothing.failures, nothing.holds(HERE, "budget")) == (0, True)
    pressing = replace(HERE, used=HERE.limit)
    assert Breaker().in_vain(0, pressing, "budget").is_open


@pytest.mark.parametrize("cause", ["pays", "cold"])
def test_an_open_one_holds_whatever_the_cause_until_the_prompt_has_grown(cause: Cause) -> None:
    opened = Breaker(2, 50_000, "pays")
    assert opened.holds(replace(HERE, used=54_999), cause)
    assert not opened.holds(replace(HERE, used=55_001), cause)


def test_a_new_turn_and_what_must_fit_are_always_tried() -> None:
    for breaker in (Breaker(2, 50_000, "pays"), Breaker(0, 50_000, "pays")):
        for new in (
            replace(HERE, opens_turn=True),
            replace(HERE, overflow=True),
            replace(HERE, asked=True),
            replace(HERE, limit=49_000),
        ):
            assert not breaker.holds(new, "pays"), new
    assert not Breaker().holds(HERE, "pays")


def test_what_has_just_come_may_be_cut_before_it_is_sent_whatever_came_to_nothing() -> None:
    nothing = Breaker().in_vain(0, HERE, "budget")
    for newest, held in ((ARRIVED - 1, True), (ARRIVED, False)):
        come = replace(HERE, used=HERE.used + 1_000, newest=newest)
        assert nothing.holds(come, "budget") is held
    assert Breaker().in_vain(0, HERE, "pays").holds(replace(HERE, newest=ARRIVED), "pays")
