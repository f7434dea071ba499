"""`dyad`: raw blocks go when they are seven days old."""

from dataclasses import replace

import pytest

from sidecar.core.plans.plan import Plan
from sidecar.core.policies.presets.dyad import AGE_MS, Dyad
from tests.core.policies.situations import dropped, history, parts, situation

NOW = 10 * AGE_MS
NOTATION = "U100 R50 C900; O40 A100 U10 C900; C900; C900"


def purged(at: int) -> Plan | None:
    items = history(NOTATION)
    for item in items[:5]:
        item.unit = replace(item.unit, at=at)
    return Dyad().plan(situation(items, now=NOW), "cold")


def test_calls_and_thinking_older_than_seven_days_go_and_words_stay() -> None:
    plan = purged(NOW - AGE_MS - 1)
    assert dropped(plan) == parts([1, 2, 3])
    assert plan is not None
    assert plan.summary is None


@pytest.mark.parametrize("at", [NOW - AGE_MS, NOW, 0])
def test_seven_days_to_the_millisecond_or_an_unknown_age_is_not_older(at: int) -> None:
    assert purged(at) is None
