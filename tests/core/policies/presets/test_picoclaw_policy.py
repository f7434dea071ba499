"""`picoclaw`: a summary between turns; whole turns, the oldest half of them, when it is full."""

import pytest

from sidecar.core.policies.presets.picoclaw import PicoClaw, boundary
from tests.core.policies.situations import dropped, history, parts, situation, standing

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


@pytest.mark.parametrize(
    ("messages", "used", "opens", "due"),
    [
        (20, 150_000, True, None),
        (21, 20_000, True, "budget"),
        (20, 150_001, True, "budget"),
        (21, 179_999, False, None),
        (1, AT, False, "budget"),
    ],
)
def test_it_summarises_between_turns_only_by_messages_or_tokens(
    messages: int, used: int, opens: bool, due: str | None
) -> None:
    assert POLICY.due(standing(used, messages=messages, opens_turn=opens)) == due


@pytest.mark.parametrize(
    ("notation", "kept", "cut"),
    [
        ("U1 A1 U1 A1 U1 A1 U1", 4, 2),
        ("U1 A1 U1 A1 U1 A1", 4, 2),
        ("U1 A1 U1 A1 U1 A1 U1", 2, 4),
        # A call and its result are two messages; the cut moves back to where their turn begins.
        ("U1 A1 U1 C20; C20; A1 U1", 4, 2),
        ("U1 A1 U1 X1 C20; C20; A1 U1", 4, 2),
        ("U1 C20; C20; C20; A1 U1 A1 U1", 4, 5),
        # No turn begins in between: the cut falls between steps.
        ("U1 C20; R1 C20; R1 C20; C20; A1 U1", 4, 6),
        ("U1 A1 U1", 4, 0),
    ],
)
def test_the_newest_messages_stay_from_a_typed_one_on(notation: str, kept: int, cut: int) -> None:
    assert boundary(history(notation), kept) == cut


def test_as_a_turn_opens_all_but_the_last_four_messages_are_summarised() -> None:
    given = situation("U100 A900 " * 11 + "U100", opens_turn=True)
    plan = POLICY.plan(given, "budget")
    assert dropped(plan) == parts(range(18))
    assert plan is not None
    assert plan.summary is not None
    assert "core" in plan.summary.prompt
    # Two halves and the call that joins them: 9,000 tokens read, and two summaries.
    assert (plan.summary.asking, plan.summary.calls) == ("fresh", 3)
    assert plan.summary.input_tokens == (9 * 1_000 + 2 * 1_500) // 3
    plan = POLICY.plan(situation("U100 A900 " * 10 + "U100"), "user")
    assert len(dropped(plan)) == 18


def test_few_messages_are_summarised_by_one_call_that_reads_no_results() -> None:
    given = situation("U100 C9k; C9k; C9k; A500 U1 A1 U1 A1 U1", 150_001, opens_turn=True)
    plan = POLICY.plan(given, "budget")
    assert dropped(plan) == parts(range(5))
    assert plan is not None
    assert plan.summary is not None
    assert (plan.summary.calls, plan.summary.input_tokens) == (1, 600)


def test_between_turns_nothing_happens_before_it_is_time() -> None:
    few = situation("U100 C9k; A9k U1 A1 U1 A1 U1", opens_turn=True)
    assert POLICY.plan(few, "budget") is None


def test_it_does_not_summarise_again_before_the_model_has_answered() -> None:
    told = standing(20_000, messages=21, opens_turn=True, requests=0)
    assert POLICY.due(told) is None


def test_while_the_user_is_away_it_summarises_and_drops_nothing() -> None:
    plan = POLICY.plan(situation("U100 A900 " * 11), "idle")
    assert plan is not None
    assert plan.summary is not None
    assert POLICY.plan(situation("U100 A900 " * 10), "idle") is None


def test_a_summary_that_leaves_too_much_gives_way_to_dropping() -> None:
    notation = "U10 A6k U10 A80k " + "U10 A40k U10 A40k U10"
    plan = POLICY.plan(situation(notation, 190_000, opens_turn=True), "budget")
    assert plan is not None
    assert plan.summary is not None
    notation = "U10 A6k U10 A7k " + "U10 A80k U10 A80k U10"
    plan = POLICY.plan(situation(notation, 192_500, opens_turn=True), "budget")
    assert plan is not None
    assert plan.summary is None
