"""`opencode`: what is pruned, what is summarised, what stays."""

import pytest

from sidecar.core.policies.presets.opencode import INSTRUCTION_TOKENS, Opencode, transcript_tokens
from tests.core.policies.situations import dropped, history, parts, shown_after, situation

POLICY = Opencode()
AT = 180_000
TWO_TURNS = "U10 C100; A10 U10 C100; A10"
"""The newest two turns, which pruning skips."""


def pruned(notation: str, **given: object) -> list[str]:
    plan = POLICY.plan(situation(f"{notation} {TWO_TURNS}", AT, **given), "budget")
    assert plan is not None
    assert plan.summary is None
    return list(shown_after(plan))


def test_results_before_the_newest_40_000_tokens_become_placeholders() -> None:
    plan = POLICY.plan(situation(f"U10 C25k; C10k; C10k; C40k; {TWO_TURNS}", AT), "budget")
    assert shown_after(plan) == {"p1": "placeholder", "p2": "placeholder", "p3": "placeholder"}
    assert plan is not None
    assert plan.summary is None
    assert plan.tokens_after < AT


def test_the_result_that_crosses_the_protected_amount_is_pruned() -> None:
    notation = "U10 C30k; C20k; C20021; "
    assert pruned(notation) == parts([1, 2])


@pytest.mark.parametrize(("tokens", "pruning"), [(20_010, False), (20_011, True)])
def test_more_than_20_000_tokens_must_go(tokens: int, pruning: bool) -> None:
    given = situation(f"U10 C{tokens}; C40010; {TWO_TURNS}", AT)
    plan = POLICY.plan(given, "budget")
    assert plan is not None
    assert (plan.summary is None) is pruning


def test_the_newest_two_turns_are_skipped() -> None:
    given = situation("U10 C30k; A10 U10 C50k; C50k; A10 U10 C1k; C1k; C1k", AT)
    plan = POLICY.plan(given, "budget")
    assert plan is not None
    assert plan.summary is not None


def test_skills_and_protected_tools_are_never_pruned_nor_counted() -> None:
    notation = "U10 C30k; C30k:skill; C30k:mine; C41k; "
    assert pruned(notation, protected_tools=frozenset({"mine"})) == parts([1, 4])


def test_pinned_and_preserved_results_are_counted_and_stay() -> None:
    notation = "U10 C30k; C30k*; C30k; C41k; "
    assert pruned(notation, preserved=frozenset({"p3"})) == parts([1, 4])


@pytest.mark.parametrize("stop", ["C9k#", "L900"])
def test_pruning_stops_at_what_an_earlier_rewrite_left(stop: str) -> None:
    assert pruned(f"U10 C30k; {stop} C30k; C41k; ") == parts([3, 4])


def test_pruning_that_does_not_suffice_gives_way_to_a_summary() -> None:
    given = situation(f"U10 C30k; C41k; {TWO_TURNS}", AT + 80_000)
    plan = POLICY.plan(given, "budget")
    assert plan is not None
    assert plan.summary is not None
    assert plan.summary.asking == "fresh"


@pytest.mark.parametrize("cause", ["user", "overflow"])
def test_a_wish_and_a_refusal_are_answered_by_a_summary(cause) -> None:
    plan = POLICY.plan(situation(f"U10 C30k; C41k; {TWO_TURNS}", AT), cause)
    assert plan is not None
    assert plan.summary is not None


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
