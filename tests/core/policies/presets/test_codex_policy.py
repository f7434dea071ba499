"""`codex`: the summary and the typed messages that stay."""

from sidecar.core.policies.presets.codex import Codex
from sidecar.core.prompt.visibility import Truncated
from tests.core.policies.situations import dropped, parts, shown_after, situation

POLICY = Codex()
AT = 180_000
NEWEST = "U10 C10; C10; C10"


def test_what_was_typed_stays_and_all_else_before_the_newest_steps_goes() -> None:
    given = situation(f"L500 U100 X50 R50 C9k; A100 U100 C9k; A100 {NEWEST}", AT)
    plan = POLICY.plan(given, "budget")
    assert dropped(plan) == parts([2, 3, 4, 5, 7, 8, 10])
    assert plan is not None
    assert plan.retired == ("p0",)
    assert plan.summary is not None
    assert (plan.summary.asking, plan.summary.input_tokens) == ("fresh", AT)


def test_typed_messages_stay_newest_first_up_to_20_000_tokens() -> None:
    given = situation(f"U1k A10 U5k A10 U16k A10 U4990 A10 {NEWEST}", AT)
    plan = POLICY.plan(given, "budget")
    assert plan is not None
    assert shown_after(plan) == dict.fromkeys(parts([0, 1, 2, 3, 5, 7, 9]), "dropped") | {
        "p4": "truncated"
    }
    cut = next(c for c in plan.changes if c.part_id == "p4")
    assert isinstance(cut.shown, Truncated)
    assert (cut.shown.keep, cut.tokens_after) == ("both", 15_000)


def test_messages_that_come_to_20_000_tokens_all_stay() -> None:
    given = situation(f"U1k A5k U14k A10 U4990 A10 {NEWEST}", AT)
    assert dropped(POLICY.plan(given, "budget")) == parts([1, 3, 5, 7])


def test_the_newest_message_stays_whole_however_long() -> None:
    given = situation("U5k A10 U50k C10; C10; C10", AT)
    assert shown_after(POLICY.plan(given, "budget")) == dict.fromkeys(parts([0, 1, 3]), "dropped")


def test_what_little_room_is_left_is_no_message() -> None:
    given = situation(f"U5k A10 U19900 A10 {NEWEST}", AT)
    assert dropped(POLICY.plan(given, "budget")) == parts([0, 1, 3, 5])
