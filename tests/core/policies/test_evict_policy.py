"""`evict-…`: which results may go, how many, and what follows when they do not suffice."""

import pytest

from sidecar.core.policies.evict import evictable, weighed
from tests.core.policies.situations import (
    STATIC,
    dropped,
    history,
    parts,
    saying,
    shown_after,
    situation,
)

POLICY = weighed({"fifo": 1.0}, "evict-fifo")
AFTER = "U10 C40010; A10 U10 C10; A10"
"""The newest 40,000 tokens of results and the last two turns."""
LIMIT = 192_000
FULL = 172_800


def may_go(notation: str, **given: object) -> list[str]:
    return [i.unit.part_id for i in evictable(situation(notation, FULL, **given))]


def test_the_newest_40_000_tokens_of_results_stay() -> None:
    assert may_go("U10 C9k; C30010; C5k; C5k; A10 U10 A10 U10 A10") == ["p1"]
    assert may_go("U10 C9k; C30011; C5k; C5k; A10 U10 A10 U10 A10") == ["p1"]
    assert may_go("U10 C9k; C30031; C5k; C5k; A10 U10 A10 U10 A10") == ["p1", "p2"]


def test_the_last_two_turns_stay_unless_there_are_no_others() -> None:
    assert may_go(f"U10 C50k; A10 {AFTER}") == ["p1"]
    assert may_go("U10 C50k; A10 U10 C50k; C50k; A10 U10 C50k; A10") == ["p1"]
    assert may_go("U10 C50k; C50k; C50k; C10; C10") == ["p1", "p2", "p3"]


def test_failures_pinned_parts_and_protected_tools_stay() -> None:
    notation = f"U10 C9k; C9k!; C9k*; C9k:todo; C9k#; A10 {AFTER}"
    assert may_go(notation, protected_tools=frozenset({"todo"})) == ["p1"]
    assert may_go(notation, preserved=frozenset({"p1"})) == ["p4"]


@pytest.mark.parametrize(
    ("found", "called", "used", "steps", "stays"),
    [
        ("see src/found.py", "", "src/found.py", 0, True),
        ("see src/found.py", "", "src/other.py", 0, False),
        ("see src/found.py", "src/found.py", "src/found.py", 0, False),
        ("see src/found.py", "", "src/found.py", 25, False),
    ],
)
def test_what_was_referred_to_lately_stays(found, called, used, steps, stays) -> None:
    items = history(f"U10 C50k; C50k; A10 {'A1; ' * steps} {AFTER}")
    items[1] = saying(items[1], found, call=called)
    items[3] = saying(items[3], f"I look at {used}")
    names = [i.unit.part_id for i in evictable(situation(items, FULL))]
    assert ("p1" not in names) is stays
    assert "p2" in names


def test_a_name_that_was_known_before_says_nothing_about_a_result() -> None:
    items = history(f"U10 C50k; C50k; A10 {AFTER}")
    items[0] = saying(items[0], "look into src/known.py")
    items[1] = saying(items[1], "1: src/known.py")
    items[3] = saying(items[3], "src/known.py it is")
    assert "p1" not in [i.unit.part_id for i in evictable(situation(items, FULL))]
    items[2] = saying(items[2], "2: src/known.py")
    assert "p2" in [i.unit.part_id for i in evictable(situation(items, FULL))]


@pytest.mark.parametrize(("tokens", "evicted"), [(20_040, False), (20_070, True)])
def test_20_000_tokens_must_come_free(tokens: int, evicted: bool) -> None:
    plan = POLICY.plan(situation(f"U10 C{tokens}; A10 {AFTER}", 100_000), "cold")
    assert (plan is not None) is evicted


def test_in_a_small_window_a_fifth_is_protected_and_a_tenth_must_come_free() -> None:
    notation = "U10 C6500; A10 U10 C12810; A10 U10 C10; A10"
    plan = POLICY.plan(situation(notation, 60_000, window=64_000), "cold")
    assert shown_after(plan) == {"p1": "placeholder"}


def test_a_forced_eviction_stops_at_60_per_cent_of_the_limit() -> None:
    results = "; ".join(["C20k"] * 8)
    plan = POLICY.plan(situation(f"U10 {results}; A10 {AFTER}", FULL), "budget")
    assert shown_after(plan) == dict.fromkeys(parts([1, 2, 3]), "placeholder")
    assert plan is not None
    assert plan.tokens_after < 0.6 * LIMIT < plan.tokens_after + 20_000


def test_a_free_eviction_goes_on() -> None:
    results = "; ".join(["C20k"] * 8)
    plan = POLICY.plan(situation(f"U10 {results}; A10 {AFTER}", FULL), "cold")
    assert plan is not None
    left = STATIC + 0.21 * 200_000
    assert plan.tokens_after < left < plan.tokens_after + 20_000


def test_the_lowest_score_goes_first() -> None:
    results = "; ".join(["C20k:edit"] * 5 + ["C20k:ls"] * 3)
    plan = weighed({"priority": 1.0}).plan(situation(f"U10 {results}; A10 {AFTER}", FULL), "budget")
    assert list(shown_after(plan)) == parts([6, 7, 8])


def test_when_results_do_not_suffice_all_but_a_tail_is_summarised() -> None:
    given = situation("U10 A9k A9k U10 A9k C900; C15k; C900; C900", FULL)
    plan = POLICY.plan(given, "budget")
    assert dropped(plan) == parts([0, 1, 2, 4, 5])
    assert plan is not None
    assert plan.summary is not None
    assert plan.summary.asking == "extension"


def test_a_cold_cache_is_no_reason_to_summarise() -> None:
    assert POLICY.plan(situation("U10 A99k U10 A9k C900; C900; C900", FULL), "cold") is None
