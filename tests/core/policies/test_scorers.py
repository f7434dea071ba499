"""What each scorer takes for the least worth."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.ledger.units import Item
from sidecar.core.policies.scorers import (
    LIVES,
    RANKS,
    SCORERS,
    WEIGHTS,
    check_weights,
    held,
    last_uses,
    purpose,
    repeats,
    scorer,
    shingles,
)
from tests.core.policies.situations import history, saying, situation

TEXT = "\n".join(f"{number}\tdef function_{number}() -> int:" for number in range(100))


def order(items: list[Item], **weights: float) -> list[str]:
    """Give the calls in order of eviction."""
    score = scorer(situation(items), weights)
    calls = [item for item in items if item.unit.kind == "call"]
    return [item.unit.part_id for item in sorted(calls, key=score)]


def test_by_age_the_oldest_goes_first() -> None:
    assert order(history("U10 C100; C100; C100"), fifo=1) == ["p1", "p2", "p3"]


def test_least_recently_used_goes_by_the_names_that_the_agent_wrote() -> None:
    items = history("U10 C100; C100; C100; A50")
    items[1] = saying(items[1], "a result that holds src/used.py")
    items[2] = saying(items[2], "a result that holds src/forgotten.py")
    items[4] = saying(items[4], "now src/used.py again")
    assert order(items, lru=1) == ["p2", "p3", "p1"]


def test_a_name_that_only_tools_brought_is_not_used() -> None:
    items = history("U10 C100; C100")
    items[1] = saying(items[1], "src/seen.py")
    items[2] = saying(items[2], "src/seen.py", call="src/called.py")
    assert last_uses(items) == {"src/called.py": 1}


def test_failures_and_edits_outlast_listings_and_searches() -> None:
    tools = "C100!:bash; C100:edit_file; C100:shell; C100:Read; C100:Grep; C100:list_files"
    assert order(history(f"U10 {tools}"), priority=1) == ["p6", "p5", "p4", "p3", "p2", "p1"]


def test_of_a_kind_the_oldest_goes_first() -> None:
    assert order(history("U10 C100:Read; C100:grep; C100:Read"), priority=1) == ["p2", "p1", "p3"]


def test_no_age_outweighs_a_kind() -> None:
    ranks = sorted(set(RANKS.values()))
    assert min(b - a for a, b in pairwise(ranks)) > 0.09


def test_a_result_past_its_time_is_worth_nothing() -> None:
    items = history("U10 C100:grep C100:Read" + "; A1" * 20)
    score = scorer(situation(items), {"ttl": 1.0})
    assert score(items[1]) == 0.0
    assert score(items[2]) == pytest.approx(1 - 21 / LIVES["read"])


@pytest.mark.parametrize(
    ("tool", "what"),
    [("Glob", "list"), ("WebFetch", "web"), ("apply_patch", "edit"), ("mcp__x", "other")],
)
def test_a_tools_purpose_is_known_by_its_name_in_any_case(tool: str, what: str) -> None:
    assert purpose(tool) == what


def reads(first: str, second: str, how: str = "C100:Read(a); C100:Read(a)") -> list[Item]:
    items = history(f"U10 {how}")
    items[1], items[2] = saying(items[1], first), saying(items[2], second)
    return items


def changed_lines(count: int) -> str:
    lines = TEXT.split("\n")
    return "\n".join([*(f"other {number}" for number in range(count)), *lines[count:]])


@pytest.mark.parametrize(("changed", "near"), [(0, True), (10, True), (11, False), (100, False)])
def test_the_older_of_two_reads_with_nine_tenths_in_common_is_a_repeat(changed, near) -> None:
    items = reads(TEXT, changed_lines(changed))
    assert repeats(items) == ({"p1"} if near else set())
    score = scorer(situation(items), {"semantic": 1.0})
    assert (score(items[1]) == 0.0) is near
    assert score(items[2]) > 0.0


def test_a_part_that_a_later_read_holds_is_a_repeat_and_not_the_other_way_round() -> None:
    part = "\n".join(TEXT.split("\n")[:40])
    assert repeats(reads(part, TEXT)) == {"p1"}
    assert repeats(reads(TEXT, part)) == set()


def test_the_numbers_of_lines_do_not_matter() -> None:
    moved = "\n".join(f"{n + 7}\tdef function_{n}() -> int:" for n in range(100))
    assert repeats(reads(TEXT, moved)) == {"p1"}


def test_the_same_text_is_a_repeat_whatever_the_call() -> None:
    assert repeats(reads(TEXT, TEXT, "C100:Read(a); C100:bash(cat)")) == {"p1"}


def test_other_calls_are_not_compared_line_by_line_and_short_results_not_at_all() -> None:
    assert repeats(reads(TEXT, changed_lines(1), "C100:Read(a); C100:Read(b)")) == set()
    assert repeats(reads("ok", "ok")) == set()


def test_a_repeat_must_be_in_view() -> None:
    assert repeats(reads(TEXT, TEXT, "C100:Read(a); C100#:Read(a)")) == set()


def test_texts_of_few_lines_are_compared_by_words() -> None:
    text = " ".join(f"word{number}" for number in range(100))
    assert held(shingles(text), shingles(text + " more")) == 1.0
    assert held(shingles(text), shingles("something else altogether")) == 0.0
    assert held(shingles(""), shingles(text)) == 0.0


def test_scorers_count_by_their_weights() -> None:
    items = history("U10 C100:edit; C100:grep; C100:grep")
    assert order(items, priority=1) == ["p2", "p3", "p1"]
    assert order(items, priority=1, fifo=9) == ["p1", "p2", "p3"]


def test_weights_are_shares() -> None:
    items = history("U10 C100:edit; C100:grep")
    once = scorer(situation(items), {"fifo": 1.0, "ttl": 3.0})
    twice = scorer(situation(items), {"fifo": 2.0, "ttl": 6.0})
    assert once(items[1]) == pytest.approx(twice(items[1]))


@pytest.mark.parametrize("weights", [{}, {"fifo": 0.0}, {"fifo": -1.0}, {"newest": 1.0}])
def test_what_is_wrong_with_weights_is_said(weights) -> None:
    with pytest.raises(ValueError, match="fifo, lru, priority, ttl, semantic"):
        check_weights(weights)


@given(st.lists(st.sampled_from(["Read", "grep", "bash", "edit", "x"]), max_size=30), st.booleans())
def test_every_score_lies_between_0_and_1_and_says_the_same_twice(tools, failing) -> None:
    items = history("U10 " + "; ".join(f"C100:{tool}(a)" for tool in tools))
    for item in items[1:2]:
        item.unit = replace(item.unit, failed=failing)
    given_situation = situation(items)
    for weights in (*({name: 1.0} for name in SCORERS), WEIGHTS):
        scores = [scorer(given_situation, weights)(item) for item in items]
        assert all(0.0 <= score <= 1.0 for score in scores)
        assert scores == [scorer(given_situation, weights)(item) for item in items]
