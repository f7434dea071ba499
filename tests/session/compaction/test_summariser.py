"""A summary and the plans that it may stand in."""

from dataclasses import replace

import pytest

from sidecar.core.plans.plan import Plan, Situation, Summary
from sidecar.core.prompt.tokens import tokens_of
from sidecar.core.summaries.model_summary import summary_in
from sidecar.session.compaction.summariser import Told
from tests.core.policies.situations import situation

WANTED = Summary("extension", 9_000, 600)
PLAN = Plan("opencode", "budget", "full", 7, (), 0, 90_000, 20_000, summary=WANTED)
LONG = "## Done\n" + "\n".join(f"- step {number} was done" for number in range(120))


def test_what_is_longer_than_was_asked_for_is_offered_shorter_and_not_at_all() -> None:
    whole, short, bare = Told(LONG, "model").on(PLAN, situation("U100 A900"))
    assert summary_in(whole.told) == LONG
    held = summary_in(short.told)
    assert held is not None
    assert tokens_of(held) <= 600 < tokens_of(LONG)
    assert (bare.told, bare.summary) == ("", None)
    assert whole.tokens_after > short.tokens_after > bare.tokens_after


def test_what_is_short_enough_need_not_be_shorter() -> None:
    whole, bare = Told("It went well.", "model").on(PLAN, situation("U100 A900"))
    assert summary_in(whole.told) == "It went well."
    assert bare.summary is None


def test_without_a_text_there_is_no_summary() -> None:
    [bare] = Told("", "extract").on(PLAN, situation("U100 A900"))
    assert (bare.told, bare.summary) == ("", None)


def test_what_does_not_fit_any_more_leaves_the_plan_without() -> None:
    def finish(plan: Plan, now: Situation, reply: str) -> Plan:
        raise ValueError("these scores free nothing")

    scored = replace(PLAN, summary=replace(WANTED, finish=finish))
    told = Told("{}", "model", "{}")
    [bare] = told.still_on(scored, situation("U100 A900"))
    assert (bare.told, bare.summary) == ("", None)
    with pytest.raises(ValueError, match="free nothing"):
        told.on(scored, situation("U100 A900"))
