"""`claude-code`: the summary, the files that stay, and microcompact."""

import pytest

from sidecar.core.policies.claude_code import ClaudeCode
from sidecar.core.prompt.visibility import Truncated
from tests.core.policies.situations import dropped, parts, shown_after, situation

FULL, MICRO = ClaudeCode(), ClaudeCode("claude-code-microcompact", micro=True)
AT = 167_000


def test_all_but_the_newest_calls_is_summarised_on_the_warm_prefix() -> None:
    given = situation("L1k U10 R50 C9k; C9k; A10 U10 R50 C7k; R50 C7k; R50 C100; R50 C100", AT)
    plan = FULL.plan(given, "budget")
    assert dropped(plan) == parts([1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 13])
    assert plan is not None
    assert plan.retired == ("p0",)
    assert plan.summary is not None
    assert (plan.summary.asking, plan.summary.input_tokens) == ("extension", AT)


def test_the_five_files_read_last_stay_each_once_and_cut_to_5_000_tokens() -> None:
    reads = "; ".join(f"C1k:Read({name})" for name in "abcdefg")
    given = situation(f"U10 {reads}; C9k:Read(g); C3k:grep(z); C10; C10", AT)
    plan = FULL.plan(given, "budget")
    assert dropped(plan) == parts([1, 2, 7, 9])
    assert plan is not None
    cut = next(c for c in plan.changes if c.part_id == "p8")
    assert isinstance(cut.shown, Truncated)
    assert (cut.shown.keep, cut.tokens_after) == ("head", 5_010)


def test_a_file_in_view_is_not_restored_a_second_time_and_a_failed_read_never() -> None:
    given = situation("U10 C1k:Read(a); C1k!:Read(b); C1k:Read(c); C1k:Read(a); C10", AT)
    assert dropped(FULL.plan(given, "budget")) == parts([1, 2])


def test_a_read_of_which_only_a_placeholder_is_left_is_not_a_file_that_stays() -> None:
    given = situation("U10 C1k#:Read(a); C9k; C10; C10", AT)
    assert dropped(FULL.plan(given, "budget")) == parts([1, 2])


def test_in_a_small_window_the_files_take_a_quarter_of_the_history_at_most() -> None:
    given = situation("U10 C4k:Read(a); C20k; C10; C10", 31_000, window=64_000)
    plan = FULL.plan(given, "budget")
    assert plan is not None
    cut = next(c for c in plan.changes if c.part_id == "p1")
    assert cut.tokens_after == 10 + (31_000 - 10_000) // 4 // 5


def test_microcompact_clears_all_results_but_the_newest_three() -> None:
    plan = MICRO.plan(situation("U10 R5 C9k; R5 C9k; C9k; C9k; C9k; C9k", AT), "budget")
    assert shown_after(plan) == {"p2": "placeholder", "p3": "dropped"} | dict.fromkeys(
        ["p4", "p5"], "placeholder"
    )
    assert plan is not None
    assert plan.summary is None


@pytest.mark.parametrize(("tokens", "clearing"), [(20_020, False), (20_080, True)])
def test_microcompact_frees_at_least_20_000_tokens_or_nothing(tokens: int, clearing: bool) -> None:
    plan = MICRO.plan(situation(f"U10 C{tokens}; C10; C10; C10", AT), "budget")
    assert plan is not None
    assert (plan.summary is None) is clearing


def test_microcompact_that_does_not_suffice_gives_way_to_a_summary() -> None:
    plan = MICRO.plan(situation("U10 C30k; C10; C10; C10", AT + 40_000), "budget")
    assert plan is not None
    assert plan.summary is not None


def test_microcompact_leaves_protected_tools_and_pinned_results() -> None:
    given = situation(
        "U10 C30k; C30k*; C30k:mine; C10; C10; C10", AT, protected_tools=frozenset({"mine"})
    )
    assert list(shown_after(MICRO.plan(given, "budget"))) == ["p1"]


def test_a_wish_is_answered_by_a_summary() -> None:
    plan = MICRO.plan(situation("U10 C30k; C10; C10; C10", AT), "user")
    assert plan is not None
    assert plan.summary is not None
