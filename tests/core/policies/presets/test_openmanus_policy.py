"""`openmanus`: the oldest messages go until 100 are left."""

import pytest

from sidecar.core.policies.presets.openmanus import OpenManus
from tests.core.policies.situations import dropped, parts, situation

POLICY = OpenManus()
FIFTY = "U3000 " + "C500; " * 49 + "A100"
"""100 messages: one typed, 49 with calls and as many with results, and an answer."""


def test_100_messages_stay() -> None:
    assert POLICY.plan(situation(FIFTY), "budget") is None


def test_the_oldest_goes_when_there_is_one_more() -> None:
    given = situation(f"{FIFTY} U100")
    assert dropped(POLICY.plan(given, "budget")) == ["p0"]


def test_a_call_goes_with_its_result() -> None:
    given = situation(f"{FIFTY} U100 A100")
    plan = POLICY.plan(given, "budget")
    assert dropped(plan) == parts([0, 1])
    assert plan is not None
    assert "102 messages, the newest 99 stay" in plan.reason


def test_the_next_note_takes_the_place_of_the_last() -> None:
    given = situation(f"L60 {FIFTY} U100")
    plan = POLICY.plan(given, "budget")
    assert plan is not None
    assert (plan.retired, plan.first) == (("p0",), 0)


def test_what_was_dropped_is_not_counted_again() -> None:
    assert POLICY.plan(situation(f"U10- C10- C10-; {FIFTY}"), "budget") is None


@pytest.mark.parametrize("cause", ["user", "overflow"])
def test_half_of_the_messages_go_when_there_is_no_choice(cause) -> None:
    given = situation("U100 C900; C900; A100 U100 C100; C100; C100")
    assert dropped(POLICY.plan(given, cause)) == parts([0, 1, 2, 3])
