"""`aircher`: turns scored by a model, and by code where there is none."""

import json
from dataclasses import replace
from typing import Any

import pytest

from sidecar.core.plans.plan import Plan, Situation
from sidecar.core.plans.told_failures import failure_line
from sidecar.core.policies.presets.aircher import Aircher, decided, finish, kept_always, worths
from sidecar.core.prompt.visibility import Cause, Placeholder, shorten
from sidecar.core.summaries.model_summary import note_of, read_summary, summary_in
from sidecar.core.summaries.turn_scores import turns_of
from tests.core.policies.situations import (
    CALL,
    dropped,
    history,
    parts,
    saying,
    shown_after,
    situation,
    spared,
    standing,
)

POLICY = Aircher()
LONG = "".join(f"{n}: {'word ' * 160}\n" for n in range(40))
"""Of fewer than 50 lines, and more than 2,000 tokens."""
MANY = "".join(f"line {n} of an output\n" for n in range(400))
SIX = "U10 A10 U100 C30k; A900 U100 C30k!:bash(make); A900 U100 C30k; A900 U100 C30k; A900 "
TALK = SIX + "U100 C30k; C30k; A100 U10"
"""180,000 tokens of results in turns T1 to T5; T6 has just begun."""


def planned(told: Situation, cause: Cause = "budget") -> Plan:
    plan = POLICY.plan(told, cause)
    assert plan is not None
    return plan


def answer(earlier: str = "", **scores: str) -> str:
    turns = [
        {"id": turn, "action": action, "reason": "why", "summary": f"what {turn} was about"}
        for turn, action in scores.items()
    ]
    return json.dumps({"earlier": earlier, "turns": turns})


def scored(told: Situation, reply: str, cause: Cause = "budget") -> Plan:
    """Finish a plan as a session does, with the model's whole reply."""
    plan = planned(told, cause)
    assert plan.summary is not None
    assert plan.summary.finish is finish
    read_summary(reply)
    return plan.summary.finish(plan, told, reply)


def test_it_is_due_at_85_per_cent_of_the_window() -> None:
    assert POLICY.due(standing(169_999)) is None
    assert POLICY.due(standing(170_000)) == "budget"
    assert POLICY.due(standing(90_000, limit=90_000)) == "budget"


def arrived(text: str, tokens: int, newest: int, used: int = 60_000) -> Situation:
    """One output, not sent yet."""
    items = history(f"U10 C90 A10; U5 C{tokens}")
    told = situation([*items[:-1], saying(items[-1], text)], used, newest=newest)
    return replace(told, sent=len(items) - 2)


def test_a_new_output_is_cut_to_2000_tokens_or_50_lines_before_it_is_sent() -> None:
    assert POLICY.due(standing(60_000, newest=2_000)) is None
    assert POLICY.due(standing(60_000, newest=2_001)) == "budget"
    for text, tokens in ((LONG, 8_000), (MANY, 2_500)):
        plan = planned(arrived(text, tokens, tokens))
        (change,) = plan.changes
        assert change.tokens_after <= 2_000 + CALL
        assert change.shown is not None
        left = shorten(text, change.shown, change.part_id)
        assert left.startswith(text[:20])
        assert text.endswith(left[-20:])
        assert left.count("\n") <= 51
        assert plan.summary is None
        assert "1 new outputs cut" in plan.reason


def test_what_is_short_or_was_sent_is_not_cut_and_waits_for_85_per_cent() -> None:
    assert POLICY.plan(arrived("short\n" * 20, 300, 2_100), "budget") is None
    told = arrived(LONG, 8_000, 2_100)
    assert POLICY.plan(replace(told, sent=len(told.items)), "budget") is None
    full = replace(situation(TALK), sent=0)
    now = replace(full.standing, newest=2_100)
    plan = planned(replace(full, standing=now, sent=len(full.items)))
    assert "scored by code" in plan.reason


def test_a_model_is_asked_once_on_the_warm_prefix_about_all_that_may_go() -> None:
    summary = planned(situation(TALK)).summary
    assert summary is not None
    assert (summary.asking, summary.calls) == ("extension", 1)
    listed = [line[:2] for line in summary.prompt.splitlines() if line.startswith("T")]
    # T6 has just come; of T0 the goal stays, and of T5 the newest steps.
    assert listed == ["T0", "T1", "T2", "T3", "T4", "T5"]
    for words in ("keep", "summarise", "reference", "drop", '"reason"', "Never for a turn"):
        assert words in summary.prompt


def test_without_a_model_the_oldest_and_largest_are_referred_to_until_it_fits() -> None:
    told = situation(TALK)
    plan = planned(told)
    left = told.standing.static + 0.6 * (told.standing.limit - told.standing.static)
    assert plan.tokens_after <= left
    shown = shown_after(plan)
    assert shown["p3"] == "placeholder"
    assert plan.told == ""
    assert "scored by code" in plan.reason


def test_code_scores_by_age_failures_what_was_typed_and_size() -> None:
    worth = worths(turns_of(history("U1 A10 U1 A10 U1 A9 C1! U10 A1 U1 A90 U1 A800")))
    assert worth["T1"] > worth["T0"]
    assert worth["T2"] > worth["T1"] + 0.2
    assert worth["T3"] > worth["T1"] + 0.2
    assert worth["T4"] < worth["T0"]


def test_scores_of_a_model_decide() -> None:
    told = situation(TALK)
    plan = scored(told, answer(T1="summarise", T2="drop", T3="reference", T4="keep"))
    shown = shown_after(plan)
    assert [shown.get(part) for part in ("p2", "p3", "p4")] == ["dropped"] * 3
    assert [shown.get(part) for part in ("p5", "p6", "p7")] == ["dropped", "placeholder", "dropped"]
    assert [shown.get(part) for part in ("p8", "p9", "p10")] == [None, "placeholder", "dropped"]
    assert not shown.keys() & set(parts([11, 12, 13]))
    summary = summary_in(plan.told)
    assert summary is not None
    assert "what T1 was about" in summary
    assert "what T2 was about" not in summary
    assert "recall p10" in summary
    assert plan.reason.endswith(
        "1 turns summarised, 1 turns referred to, 1 turns dropped, scored by a model"
    )
    assert plan.figures["summarise"] == plan.figures["reference"] == plan.figures["drop"] == 1


def test_what_was_typed_goes_only_where_nothing_else_frees_enough() -> None:
    told = situation("U10 A10 " + "U40k A100 " * 4 + "U10 C10; C10")
    plan = planned(told)
    assert plan.tokens_after <= 10_000 + 0.6 * 182_000
    assert shown_after(plan)["p2"] == "dropped"
    assert "p8" not in shown_after(plan)


@pytest.mark.parametrize("action", ["summarise", "reference", "drop"])
def test_a_failed_approach_is_never_lost(action: str) -> None:
    told = situation(TALK)
    plan = scored(told, answer(T1="summarise", T2=action, T3="summarise"))
    failed = told.items[6].unit
    assert failed.failed
    shown = {change.part_id: change.shown for change in plan.changes}[failed.part_id]
    assert isinstance(shown, Placeholder) or failure_line(failed) in plan.note


@pytest.mark.parametrize("scores", [{"T4": "keep"}, {"T1": "reference"}])
def test_what_a_model_keeps_too_much_of_is_cut_until_it_fits(scores: dict[str, str]) -> None:
    told = situation(TALK)
    actions = {f"T{n}": "keep" for n in range(6)} | scores
    plan = scored(told, answer(**actions))
    assert plan.tokens_after <= 10_000 + 0.6 * 182_000
    if "T1" in scores:
        assert "left out, each result by its id" in plan.told or "recall p" in plan.told


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("I think all of it matters.", "no scores"),
        (answer(T9="drop"), "no turn 'T9'"),
        (answer(T1="burn"), "no action"),
    ],
)
def test_what_cannot_be_used_is_refused_and_the_plan_by_code_stands(reply: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        scored(situation(TALK), reply)


def test_a_wish_frees_something_however_empty_the_window_is() -> None:
    told = situation("U10 A10 U10 A20k U10 A20k U10 C10; C10; C10")
    plan = planned(told, "user")
    assert plan.tokens_after < told.standing.used
    keeping = answer(T0="keep", T1="keep", T2="keep")
    assert scored(told, keeping, "user").tokens_after < told.standing.used


def test_the_goal_and_what_must_stay_stay_whatever_is_scored() -> None:
    told = situation(TALK.replace("C30k; A900 U100 C30k; A900 U", "C30k*; A900 U100 C30k; A900 U"))
    kept = kept_always(told)
    assert kept >= spared(told) | {"p0"}
    plan = scored(told, answer(**{f"T{n}": "drop" for n in range(7)}))
    assert not kept & {change.part_id for change in plan.changes}


def earlier(text: str) -> Situation:
    items = history("L500 " + TALK)
    items[0] = saying(items[0], note_of(text, "model"))
    return situation(items)


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (answer("Both of it.", T1="summarise"), "Both of it.\n- T1"),
        (answer(T1="summarise"), "What went before.\n- T1"),
    ],
)
def test_an_earlier_summary_is_brought_up_to_date_or_carried_on(reply: str, said: str) -> None:
    told = earlier("What went before.")
    plan = scored(told, reply)
    assert plan.retired == ("p0",)
    summary = summary_in(plan.told)
    assert summary is not None
    assert summary.startswith(said)


def test_a_plan_adds_up_with_what_was_really_written() -> None:
    told = situation(TALK)
    short: Any = scored(told, answer(T1="summarise", T2="summarise", T3="summarise"))
    draft = planned(told)
    assert draft.summary is not None
    freed = sum(c.tokens_before - c.tokens_after for c in short.changes)
    written = short.tokens_after - (short.tokens_before - freed) - short.note_tokens
    assert 0 < written < draft.summary.output_tokens


def test_where_nothing_may_go_there_is_no_plan() -> None:
    assert POLICY.plan(situation("U9 C90k; C90k"), "budget") is None
    assert decided(situation("U9 C90k; C90k"), "budget", {}) == {}
    assert dropped(planned(situation("U9 C90k A900; C90k; C9; C9"), "user"))
