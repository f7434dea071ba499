"""`economic`: when a summary is paid for, what it is of, and how much a rewrite must leave free."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecar.core.plans.plan import Plan, Situation
from sidecar.core.plans.rebuild import Keeping, basis_of, rebuild, sift
from sidecar.core.policies.economic import (
    LEAST_COMPRESSION,
    LESS,
    RUNWAY,
    SPARE,
    SUMMARY_TOKENS,
    Economic,
    compression,
    less,
)
from sidecar.core.prompt.visibility import Cause
from sidecar.core.summaries.model_summary import SummaryWriter, note_of, summary_in, with_summary
from tests.core.policies.situations import history, saying, situation
from tests.core.policies.test_economic_plans import situations, told_tokens
from tests.examples import examples

KEEPING = Keeping(keep=0)
"""Nothing stays for its worth, so that words go."""
POLICY = Economic(keeping=KEEPING, said=1_000)
TALK = "U10 C20k; A900 C20k; R60 A50 C20k; C10; C10"
"""900 tokens of answers go, 50 more, and 60 of thinking."""


def planned(told: Situation, cause: Cause = "pays", policy: Economic = POLICY) -> Plan:
    plan = policy.plan(told, cause)
    assert plan is not None
    return plan


@pytest.mark.parametrize("cause", ["budget", "pays", "user", "idle"])
def test_a_summary_is_asked_for_where_the_prefix_is_warm(cause: Cause) -> None:
    with_it = planned(situation(TALK), cause)
    summary = with_it.summary
    assert summary is not None
    assert (summary.asking, summary.calls) == ("extension", 1)
    assert (summary.output_tokens, summary.input_tokens) == (SUMMARY_TOKENS, 0)
    assert (summary.prompt, summary.finish) == ("", None)
    without = planned(situation(TALK), cause, replace(POLICY, said=10**9))
    assert with_it.tokens_after == without.tokens_after + SUMMARY_TOKENS
    assert f" to {with_it.tokens_after} tokens" in with_it.reason


@pytest.mark.parametrize(
    ("cause", "warm"), [("cold", False), ("budget", False), ("user", False), ("overflow", True)]
)
def test_there_is_none_when_it_is_cold_or_was_refused(cause: Cause, warm: bool) -> None:
    assert planned(situation(TALK, warm=warm), cause).summary is None


@pytest.mark.parametrize(("said", "asked"), [(1_010, True), (1_011, False)])
def test_enough_of_the_models_own_words_must_go_thinking_included(said: int, asked: bool) -> None:
    plan = planned(situation(TALK), "pays", replace(POLICY, said=said))
    assert (plan.summary is not None) is asked


def test_what_the_user_says_for_this_one_is_always_put_to_a_model() -> None:
    told = situation("U10 C20k; C20k; C10; C10", warm=False, instructions="dwell on the parser")
    assert planned(told, "user").summary is not None
    assert planned(told, "cold").summary is None


def earlier(
    notation: str, *summaries: str, by: SummaryWriter = "model", **given: object
) -> Situation:
    items = history(notation)
    notes = [n for n, item in enumerate(items) if item.unit.kind == "ledger"]
    for place, text in zip(notes, summaries, strict=False):
        items[place] = saying(items[place], note_of(text, by))
    return situation(items, **given)  # type: ignore[arg-type]


def test_a_summary_that_goes_is_carried_on_where_no_new_one_is_asked_for() -> None:
    told = earlier(f"L200 {TALK}", "It is the parser.", warm=False)
    plan = planned(told, "cold")
    assert plan.retired == ("p0",)
    assert plan.summary is None
    assert plan.told == note_of("It is the parser.", "model")


@pytest.mark.parametrize("by", ["model", "extract"])
def test_several_are_carried_on_as_one_that_is_short(by: SummaryWriter) -> None:
    long = "## Done\n" + "\n".join(f"- step {number} of the work" for number in range(200))
    told = earlier(f"L9k L200 {TALK}", long, "It is the parser.", by=by, warm=False)
    plan = planned(told, "cold")
    carried = summary_in(plan.told)
    assert carried is not None
    assert "It is the parser." in carried
    assert len(carried) < 2 * SUMMARY_TOKENS * 2.9
    assert note_of("", by).partition("\n")[0] == plan.told.partition("\n")[0]


def test_a_new_summary_takes_the_place_of_the_one_that_was_carried_on() -> None:
    plan = planned(earlier(f"L200 {TALK}", "It was the parser."), "user")
    assert plan.summary is not None
    assert "It was the parser." in plan.told
    new = with_summary(plan, "It is the lexer.", "model")
    assert summary_in(new.told) == "It is the lexer."
    assert abs(new.tokens_after - plan.tokens_after) < 10


@pytest.mark.parametrize("cause", ["cold", "pays", "idle"])
def test_a_rewrite_that_need_not_be_leaves_a_third_at_most(cause: Cause) -> None:
    # A note of 3,900 tokens of which nothing is forgotten gives way to one that says the same.
    failed = " ".join(f"C15!:bash(command-{number})" for number in range(200))
    items = history(f"L3900 U10 {failed}; C10; C10")
    told = situation(items, warm=cause != "cold")
    whole = rebuild(sift(basis_of(told), POLICY.keeping), cause, POLICY.name)
    assert whole is not None
    assert compression(told, whole) < LEAST_COMPRESSION
    assert POLICY.plan(told, cause) is None


def test_compression_is_told_with_the_numbers() -> None:
    told = situation("U10 C20k; C20k; C10; C10")
    plan = planned(told)
    left = 40_000 - (plan.tokens_before - plan.tokens_after)
    assert plan.figures["compression"] == round(40_000 / left, 2)


def test_less_is_kept_where_too_much_would_be_left_else() -> None:
    notation = "U3k A10 U3k A10 U3k A10 U3k C20k; C18k*; C10; C10"
    told = situation(notation, window=64_000)
    st = told.standing
    room = st.static + RUNWAY * (st.limit - st.static)
    usual = rebuild(sift(basis_of(told), POLICY.keeping), "budget", POLICY.name)
    assert usual is not None
    assert usual.tokens_after > room
    plan = planned(told, "budget")
    assert plan.tokens_after <= room


def test_less_is_kept_in_every_respect() -> None:
    keeping = Keeping()
    assert less(keeping, 1.0) is keeping
    half = less(keeping, 0.5)
    assert (half.keep, half.tail) == (keeping.keep / 2, 0.0)
    assert (half.first, half.each, half.typed) == (
        keeping.first / 2, keeping.each / 2, keeping.typed / 2,
    )  # fmt: skip
    room = keeping.room
    assert (half.room.story, half.room.hunks) == (room.story / 2, room.hunks / 2)


@given(told=situations(), cause=st.sampled_from(["budget", "pays", "user", "idle", "cold"]))
@settings(max_examples=examples(200), deadline=None)
def test_a_rewrite_leaves_runway_wherever_what_must_stay_allows_it(
    told: Situation, cause: Cause
) -> None:
    policy = Economic()
    plan = policy.plan(told, cause)
    st = told.standing
    if plan is None or not plan.note:
        return
    room = st.static + RUNWAY * (st.limit - st.static)
    if plan.tokens_after <= room:
        return
    added = told_tokens(plan)
    for share in LESS:
        other = rebuild(sift(basis_of(told), less(policy.keeping, share)), cause, policy.name)
        spare = added + SPARE * st.limit
        assert other is None or other.tokens_after >= plan.tokens_after - spare
