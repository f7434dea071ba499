"""`gemini`: where the history is cut, and what becomes a snapshot."""

from dataclasses import replace

import pytest

from sidecar.core.policies.presets.gemini import Gemini, split
from tests.core.policies.situations import dropped, history, parts, situation

POLICY = Gemini()


@pytest.mark.parametrize(
    ("notation", "cut"),
    [
        ("U10 C690; A10 U10 C270; C10", 3),
        ("U10 C690; U100 A50 U100 A50", 2),
        ("U10 C680; A10 U10 C290; C10", 3),
        ("U10 C300; A10 U10 C500; A10 U10 C100; C10", 6),
        ("U10 C300; A10 U10 X5 C500; C10; C10", 3),
        ("U10 C300; C300; C300; C10", 0),
        ("U10 C300; A10 U10 C300; A10", 6),
        ("", 0),
    ],
)
def test_the_cut_is_at_the_first_user_message_after_70_per_cent_else_the_last(notation, cut):
    assert split(history(notation)) == cut


def test_a_cut_never_falls_into_a_user_message() -> None:
    items = history("U10 C300; A10 U100 U900 C10")
    items[4].unit = replace(items[4].unit, message_id=items[3].unit.message_id)
    assert split(items) == 3


def test_between_steps_the_cut_is_at_70_per_cent() -> None:
    assert split(history("U10 C300; C300; C300; C100; C10"), between_steps=True) == 4


def test_the_oldest_part_becomes_a_snapshot_by_two_calls() -> None:
    given = situation("U10 R50 C70k; A10 U10 R50 C20k; C100; C100; C100", 140_000)
    plan = POLICY.plan(given, "budget")
    assert dropped(plan) == parts([0, 1, 2, 3, 5])
    assert plan is not None
    assert plan.summary is not None
    assert (plan.summary.asking, plan.summary.calls) == ("fresh", 2)
    assert plan.summary.input_tokens == 10 + 50 + 70_000 + 10


def test_a_cut_that_leaves_too_much_waits_until_nothing_else_fits() -> None:
    notation = "U10 C1k; A10 U10 C100k; C30k; C30k; C10; C10"
    assert POLICY.plan(situation(notation, 191_999), "budget") is None
    plan = POLICY.plan(situation(notation, 192_000), "budget")
    assert dropped(plan) == parts([0, 1, 2, 4, 5])


@pytest.mark.parametrize("cause", ["user", "overflow"])
def test_a_single_turn_is_cut_between_steps_when_there_is_no_choice(cause) -> None:
    given = situation("U10 C5k; C5k; C1k; C1k; C1k", 50_000)
    assert POLICY.plan(given, "budget") is not None
    assert dropped(POLICY.plan(given, cause)) == parts([1, 2])
