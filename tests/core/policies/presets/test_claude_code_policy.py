"""`claude-code`: the summary and the files that stay."""

from sidecar.core.policies.presets.claude_code import ClaudeCode
from sidecar.core.prompt.visibility import Truncated
from tests.core.policies.situations import dropped, parts, situation

POLICY = ClaudeCode()
AT = 167_000


def test_all_but_the_newest_calls_is_summarised_on_the_warm_prefix() -> None:
    given = situation("L1k U10 R50 C9k; C9k; A10 U10 R50 C7k; R50 C7k; R50 C100; R50 C100", AT)
    plan = POLICY.plan(given, "budget")
    assert dropped(plan) == parts([1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 13])
    assert plan is not None
    assert plan.retired == ("p0",)
    assert plan.summary is not None
    assert (plan.summary.asking, plan.summary.input_tokens) == ("extension", AT)


def test_the_five_files_read_last_stay_each_once_and_cut_to_5_000_tokens() -> None:
    reads = "; ".join(f"C1k:Read({name})" for name in "abcdefg")
    given = situation(f"U10 {reads}; C9k:Read(g); C3k:grep(z); C10; C10", AT)
    plan = POLICY.plan(given, "budget")
    assert dropped(plan) == parts([1, 2, 7, 9])
    assert plan is not None
    cut = next(c for c in plan.changes if c.part_id == "p8")
    assert isinstance(cut.shown, Truncated)
    assert (cut.shown.keep, cut.tokens_after) == ("head", 5_010)


def test_a_file_in_view_is_not_restored_a_second_time_and_a_failed_read_never() -> None:
    given = situation("U10 C1k:Read(a); C1k!:Read(b); C1k:Read(c); C1k:Read(a); C10", AT)
    assert dropped(POLICY.plan(given, "budget")) == parts([1, 2])


def test_a_read_of_which_only_a_placeholder_is_left_is_not_a_file_that_stays() -> None:
    given = situation("U10 C1k#:Read(a); C9k; C10; C10", AT)
    assert dropped(POLICY.plan(given, "budget")) == parts([1, 2])


def test_in_a_small_window_the_files_take_a_quarter_of_the_history_at_most() -> None:
    given = situation("U10 C4k:Read(a); C20k; C10; C10", 31_000, window=64_000)
    plan = POLICY.plan(given, "budget")
    assert plan is not None
    cut = next(c for c in plan.changes if c.part_id == "p1")
    assert cut.tokens_after == 10 + (31_000 - 10_000) // 4 // 5
