"""`opencode`: what is summarised, what stays."""

import pytest

from sidecar.core.policies.presets.opencode import INSTRUCTION_TOKENS, Opencode, transcript_tokens
from sidecar.core.prompt.visibility import Cause
from tests.core.policies.situations import dropped, history, parts, situation

POLICY = Opencode()
AT = 180_000


@pytest.mark.parametrize("cause", ["budget", "user", "overflow"])
def test_old_results_give_way_to_a_summary(cause: Cause) -> None:
    plan = POLICY.plan(situation("U10 C30k; C41k; U10 C100; A10 U10 C100; A10", AT), cause)
    assert plan is not None
    assert plan.summary is not None
    assert plan.summary.asking == "fresh"


def test_everything_before_the_tail_is_summarised_and_earlier_summaries_with_it() -> None:
    notation = "L1k U10 R50 C9k; C9k; A10 U10 R50 C7k; R50 C7k; C100; C100"
    plan = POLICY.plan(situation(notation, AT), "user")
    assert dropped(plan) == parts([1, 2, 3, 4, 7, 9])
    assert plan is not None
    assert plan.retired == ("p0",)
    assert plan.first == 0


def test_the_tail_may_begin_between_two_steps_of_a_turn() -> None:
    plan = POLICY.plan(situation("U10 C14k; C14k; C400; C500", AT), "user")
    assert dropped(plan) == ["p1"]


@pytest.mark.parametrize(
    ("window", "limit", "tail"),
    [(200_000, 192_000, 15_000), (48_000, 44_000, 7_000), (8_000, 7_000, 2_000)],
)
def test_the_tail_is_a_quarter_of_what_is_usable_within_bounds(window, limit, tail) -> None:
    fits = situation(f"U10 C5k; C{tail - 20}; C10; C10", AT, window=window, limit=limit)
    over = situation(f"U10 C5k; C{tail - 19}; C10; C10", AT, window=window, limit=limit)
    assert dropped(POLICY.plan(fits, "user")) == ["p1"]
    assert dropped(POLICY.plan(over, "user")) == ["p1", "p2"]


def test_the_summariser_reads_2_000_characters_of_each_result() -> None:
    items = history("U100 C10k A50 C9k# C9k-")
    length = len(items[1].unit.text)
    cut = 10 + 9_990 * 2_000 // length
    assert transcript_tokens(items) == INSTRUCTION_TOKENS + 100 + cut + 50 + 40


def test_nothing_before_the_tail_is_nothing_to_do() -> None:
    assert POLICY.plan(situation("U10 C1k; C1k", AT), "user") is None
