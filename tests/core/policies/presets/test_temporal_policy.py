"""`temporal`: after 250 messages all but the newest steps become two sentences."""

import pytest

from sidecar.core.policies.presets.temporal import Temporal
from tests.core.policies.situations import dropped, situation

POLICY = Temporal()


@pytest.mark.parametrize(("calls", "planned"), [(124, False), (125, True)])
def test_250_messages_are_enough(calls: int, planned: bool) -> None:
    plan = POLICY.plan(situation("U100 " + "C500; " * calls), "budget")
    assert (plan is not None) is planned


def test_it_continues_as_new_with_two_sentences() -> None:
    plan = POLICY.plan(situation("U100 A500 " * 125), "budget")
    assert len(dropped(plan)) == 250 - 4
    assert plan is not None
    assert plan.summary is not None
    assert (plan.summary.asking, plan.summary.output_tokens) == ("fresh", 150)
    assert plan.summary.input_tokens == 125 * 600


def test_a_wish_does_not_wait_for_250_messages() -> None:
    assert POLICY.plan(situation("U100 C5k; C5k; C5k; C5k"), "user") is not None
