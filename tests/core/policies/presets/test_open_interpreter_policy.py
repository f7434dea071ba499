"""`open-interpreter`: new results are cut, what was sent is not touched."""

import pytest

from sidecar.core.policies.presets.open_interpreter import OpenInterpreter
from sidecar.core.prompt.visibility import Truncated
from tests.core.policies.situations import situation

POLICY = OpenInterpreter()


@pytest.mark.parametrize(("tokens", "cut"), [(2_810, False), (2_811, True)])
def test_a_result_of_more_than_2_800_tokens_is_cut_at_both_ends(tokens: int, cut: bool) -> None:
    plan = POLICY.plan(situation(f"U10 C{tokens}", sent=1), "budget")
    assert (plan is not None) is cut
    if plan is not None:
        (change,) = plan.changes
        assert isinstance(change.shown, Truncated)
        assert (change.shown.keep, change.tokens_after) == ("both", 2_810)
        assert (plan.first, plan.note) == (1, "")


def test_what_a_request_has_carried_stays() -> None:
    plan = POLICY.plan(situation("U10 C9k; C9k C9k", sent=2), "budget")
    assert plan is not None
    assert [c.part_id for c in plan.changes] == ["p2", "p3"]
    assert POLICY.plan(situation("U10 C9k; C9k C9k", sent=4), "budget") is None


def test_pinned_preserved_and_running_results_stay_whole() -> None:
    given = situation("U10 C9k* C9k~ C9k C9k", preserved=frozenset({"p3"}))
    plan = POLICY.plan(given, "budget")
    assert plan is not None
    assert [c.part_id for c in plan.changes] == ["p4"]


def test_a_full_window_is_not_its_business() -> None:
    assert POLICY.plan(situation("U10 C9k; C9k", 250_000, sent=3), "overflow") is None
