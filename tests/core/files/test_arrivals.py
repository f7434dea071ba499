"""Cutting results before a request carries them for the first time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.plans.arrivals import LEAST_RESULT, shorten_arrivals
from sidecar.core.prompt.visibility import Truncated
from tests.core.policies.situations import CALL, history, saying, situation

CUT_NOTE = 20
"""Tokens for the line that stands where a result was cut."""


def cut(notation: str, each: int, together: int | None = None, **given: object) -> dict[str, int]:
    """Give the tokens that new results are left at, their calls not counted, and check the sums."""
    told = situation(notation, **given)  # type: ignore[arg-type]
    plan = shorten_arrivals(told, each, "test", together=together)
    if plan is None:
        return {}
    place = {item.unit.part_id: index for index, item in enumerate(told.items)}
    assert plan.first == place[plan.changes[0].part_id]
    assert (plan.policy, plan.cause, plan.note, plan.retired) == ("test", "budget", "", ())
    left = {}
    for change in plan.changes:
        item = told.items[place[change.part_id]]
        assert change.tokens_before == item.tokens
        left[str(change.part_id)] = size = change.tokens_after - CALL - CUT_NOTE
        whole = len(item.unit.text)
        assert change.shown == Truncated("both", whole * size // (item.tokens - CALL))
    freed = sum(change.tokens_before - change.tokens_after for change in plan.changes)
    assert plan.tokens_before == told.standing.used
    assert plan.tokens_after == told.standing.used - freed
    assert plan.reason.startswith(f"{len(left)} long results")
    return left


def test_only_results_that_no_request_has_carried_are_cut() -> None:
    notation = "U10 C9k; C9k C9k"
    assert cut(notation, 1_000) == {"p1": 1_000, "p2": 1_000, "p3": 1_000}
    assert cut(notation, 1_000, sent=2) == {"p2": 1_000, "p3": 1_000}
    assert cut(notation, 1_000, sent=4) == {}


def test_results_that_must_stay_or_are_cut_already_are_left_alone() -> None:
    assert cut("U9k A9k R9k C9k* C9k# C9k- C9k C9k", 1_000, preserved=frozenset({"p7"})) == {
        "p6": 1_000
    }


@pytest.mark.parametrize(("tokens", "left"), [(1_210, {}), (1_211, {"p1": 1_000})])
def test_a_result_that_is_little_longer_is_not_worth_a_cut(
    tokens: int, left: dict[str, int]
) -> None:
    assert cut(f"U10 C{tokens}", 1_000) == left


def test_images_are_neither_cut_nor_counted() -> None:
    image, text = (item for item in history("C1610 C9010"))
    image, text = saying(image, "[image]"), saying(text, "word " * 9_000)
    plan = shorten_arrivals(situation([image] * 9 + [text]), 1_000, "test", together=8_000)
    assert plan is not None
    assert [change.part_id for change in plan.changes] == ["p1"]
    assert shorten_arrivals(situation([image] * 9), 1_000, "test", together=8_000) is None


def test_half_of_a_pair_of_surrogates_can_be_cut_too() -> None:
    item = saying(history("C9010")[0], "\ud800" * 9_000)
    plan = shorten_arrivals(situation([item]), 1_000, "test")
    assert plan is not None
    assert plan.changes[0].shown == Truncated("both", 3 * 1_000)


def test_several_results_are_levelled_to_fit_together() -> None:
    notation = "U10 C1010 C9010 C5010 C20010"
    assert cut(notation, 30_000, 40_000) == {}
    assert cut(notation, 30_000, 10_000) == {"p2": 3_000, "p3": 3_000, "p4": 3_000}
    assert cut(notation, 30_000, 26_000) == {"p4": 11_000}
    assert cut(notation, 2_500, 10_000) == {"p2": 2_500, "p3": 2_500, "p4": 2_500}
    assert LEAST_RESULT == 800
    assert cut(notation, 30_000, 100) == dict.fromkeys(["p1", "p2", "p3", "p4"], LEAST_RESULT)


@given(st.lists(st.integers(1, 50_000), max_size=9), st.integers(8_000, 60_000))
def test_what_is_levelled_fits_and_uses_its_room(sizes: list[int], together: int) -> None:
    notation = "U10 " + " ".join(f"C{size + CALL}" for size in sizes)
    left = cut(notation, 10**6, together)
    if not left:
        assert sum(sizes) <= together * 1.2
        return
    (level,) = set(left.values())
    assert level >= LEAST_RESULT
    stay = [size for number, size in enumerate(sizes, 1) if f"p{number}" not in left]
    assert all(size <= level * 1.2 for size in stay)
    assert sum(min(size, level) for size in sizes) <= together
    assert sum(min(size, level) for size in sizes) > together - len(sizes)
