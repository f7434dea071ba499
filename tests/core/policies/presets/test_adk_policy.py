"""`adk`: three turns and one before them, events that are retained, artifacts."""

import pytest

from sidecar.core.plans.plan import Plan, Situation
from sidecar.core.policies.presets.adk import Adk, new_turns
from tests.core.policies.situations import (
    dropped,
    history,
    parts,
    saying,
    shown_after,
    situation,
    standing,
)

POLICY = Adk()
TURN = "U10 C900; A90 "


def opening(notation: str) -> Situation:
    return situation(notation, opens_turn=True)


def planned(told: Situation) -> Plan:
    plan = POLICY.plan(told, "budget")
    assert plan is not None
    return plan


@pytest.mark.parametrize(
    ("used", "opens", "requests", "due"),
    [
        (15_000, True, 1, "budget"),
        (15_000, True, 0, None),
        (191_999, False, 9, None),
        (192_000, False, 0, "budget"),
    ],
)
def test_it_looks_when_a_turn_is_over_or_nothing_more_fits(
    used: int, opens: bool, requests: int, due: str | None
) -> None:
    assert POLICY.due(standing(used, opens_turn=opens, requests=requests)) == due


@pytest.mark.parametrize(
    ("notation", "new"),
    [
        ("U10", []),
        (TURN * 2 + "U10", [0, 1]),
        (TURN * 3 + "U10", [0, 1, 2]),
        ("L50 U9- C9-; A9- U9- C9-; A9 " + TURN * 2 + "U10", [2, 3]),
        # Thinking that an edit dropped says nothing about its turn.
        ("U9 R9- C9; A9 " + TURN + "U10", [0, 1]),
    ],
)
def test_turns_are_counted_since_the_last_summary(notation: str, new: list[int]) -> None:
    assert new_turns(history(notation)) == new


def test_every_third_turn_is_followed_by_a_summary_of_the_three() -> None:
    assert POLICY.plan(opening(TURN * 2 + "U10"), "budget") is None
    plan = planned(opening(TURN * 3 + "U10"))
    # The newest answer stays.
    assert dropped(plan) == parts(range(8))
    assert plan.summary is not None
    assert (plan.summary.asking, plan.summary.calls) == ("fresh", 1)
    assert plan.summary.input_tokens == 3 * 100
    assert "still open" in plan.summary.prompt
    assert "<conversation>" not in plan.summary.prompt


def test_the_turn_before_is_summarised_once_more_and_earlier_summaries_stay() -> None:
    items = history("L500 U9- A9- U9- A9- " + TURN * 3 + "U10")
    items[1] = saying(items[1], "the first of all")
    items[3] = saying(items[3], "the one before")
    plan = planned(situation(items, opens_turn=True))
    assert plan.retired == ()
    assert dropped(plan) == parts(range(5, 13))
    assert plan.summary is not None
    assert "the one before" in plan.summary.prompt
    assert "the first of all" not in plan.summary.prompt
    assert plan.summary.input_tokens == 3 * 100 + 2 * 9
    assert "3 new turns summarised, 1 before them once more" in plan.reason


def test_large_results_of_turns_that_are_over_are_artifacts() -> None:
    notation = "U10 C2009; C2010; C2010:skill; C9k*; A9 U10 C9k; A9; A9 U10"
    told = situation(notation, opens_turn=True, protected_tools=frozenset({"skill"}))
    plan = planned(told)
    assert shown_after(plan) == {"p2": "placeholder", "p7": "placeholder"}
    assert plan.summary is None
    assert POLICY.plan(opening("U10 C9k; C1k; C1k"), "budget") is None


@pytest.mark.parametrize("cause", ["user", "overflow"])
def test_without_room_all_but_the_newest_five_events_are_summarised(cause) -> None:  # type: ignore[no-untyped-def]
    notation = "L50 U10 C5k; A90 U10 C5k; A90 U10 C9; C9; C9"
    plan = POLICY.plan(situation(notation), cause)
    # A call and its result are two events, and the message typed last stays anyway.
    assert dropped(plan) == parts(range(1, 7)) + parts([8])
    assert plan is not None
    assert plan.retired == ("p0",)
    assert plan.summary is not None
    assert plan.summary.input_tokens == 2 * 10 + 2 * 90 + 10


def test_where_there_is_no_room_turns_do_not_count() -> None:
    plan = POLICY.plan(situation(TURN * 3 + "U10", 192_000, opens_turn=True), "budget")
    assert plan is not None
    assert "5 events" in plan.reason
