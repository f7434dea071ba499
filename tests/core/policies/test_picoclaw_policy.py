"""`picoclaw`: whole turns, the oldest half of them."""

import pytest

from sidecar.core.policies.picoclaw import PicoClaw
from tests.core.policies.situations import dropped, parts, situation

POLICY = PicoClaw()
AT = 180_000
TURN = "U100 C900; A100 "
NEWEST = "U10 C900; C900; C900"


@pytest.mark.parametrize(
    ("turns", "gone"), [(1, range(3)), (2, range(3)), (3, range(6)), (4, range(6))]
)
def test_the_oldest_half_of_the_turns_goes_rounded_down(turns: int, gone: range) -> None:
    plan = POLICY.plan(situation(TURN * turns + NEWEST, AT), "budget")
    assert dropped(plan) == parts(gone)
    assert plan is not None
    assert plan.summary is None


def test_turns_that_are_gone_do_not_count() -> None:
    given = situation("L900 U9- A9- U9- A9- " + TURN * 2 + NEWEST, AT)
    plan = POLICY.plan(given, "budget")
    assert dropped(plan) == parts([5, 6, 7])
    assert plan is not None
    assert plan.retired == ("p0",)


def test_a_single_turn_loses_all_but_its_message_and_its_newest_steps() -> None:
    given = situation("U100 R10 C900; C900; R10 C900; C900", AT)
    assert dropped(POLICY.plan(given, "budget")) == parts([1, 2, 3, 4])


def test_old_turns_too_small_to_matter_are_treated_as_none() -> None:
    given = situation("U5 A5 U100 C900; C900; C900; C900", AT)
    assert dropped(POLICY.plan(given, "budget")) == parts([0, 1, 3, 4])


def test_where_nothing_may_go_there_is_no_plan() -> None:
    assert POLICY.plan(situation("U100 C900; C900", AT), "overflow") is None
