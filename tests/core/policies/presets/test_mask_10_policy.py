"""`mask-10`: results older than ten steps become placeholders, ten steps at a time."""

import pytest

from sidecar.core.policies.presets.mask_10 import Mask10
from sidecar.core.prompt.visibility import Cause
from tests.core.policies.situations import shown_after, situation, standing

POLICY = Mask10()
STEPS = "U10 " + "; ".join(["A5 C900"] * 14)


def test_results_of_the_newest_ten_steps_stay_and_all_words_do() -> None:
    plan = POLICY.plan(situation(STEPS, step=14), "pays")
    assert shown_after(plan) == dict.fromkeys(["p2", "p4", "p6", "p8"], "placeholder")
    assert plan is not None
    assert (plan.summary, plan.note) == (None, "")


def test_a_prompt_that_is_full_keeps_only_what_must_stay() -> None:
    plan = POLICY.plan(situation(STEPS, step=14), "budget")
    assert list(shown_after(plan)) == [f"p{number}" for number in range(2, 26, 2)]


def test_a_short_session_is_left_alone() -> None:
    assert POLICY.plan(situation("U10 C900; C900", step=2), "pays") is None


@pytest.mark.parametrize(
    ("requests", "used", "cause"), [(9, 50_000, None), (10, 50_000, "pays"), (1, 192_000, "budget")]
)
def test_ten_requests_make_a_batch(requests: int, used: int, cause: Cause | None) -> None:
    assert POLICY.due(standing(used, requests=requests)) == cause
