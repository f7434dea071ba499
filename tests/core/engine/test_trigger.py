"""The meter's number is the trigger's."""

from dataclasses import replace

import pytest

from sidecar.core.engine.trigger import compaction_point
from sidecar.core.plans.plan import Policy, Rates, Standing
from sidecar.core.policies import policies

RATES = Rates(3e-6, 15e-6, 3.75e-6, 0.3e-6)
HERE = Standing(50_000, 20_000, 200_000, 168_000, 20_000, 0, 1, True, True, 10, RATES)


def is_due(policy: Policy, used: int) -> bool:
    """Whether it is with so many tokens, and messages in proportion."""
    grown = (used - HERE.static) / (HERE.used - HERE.static)
    messages = round(grown * HERE.messages)
    return policy.due(replace(HERE, used=used, messages=messages)) is not None


@pytest.mark.parametrize("name", sorted(policies()))
def test_a_rewrite_is_forced_from_just_this_size_on(name: str) -> None:
    policy = policies()[name]
    point = compaction_point(policy, HERE)
    if point < HERE.limit:
        assert is_due(policy, point)
        assert not is_due(policy, point - 1)
    else:
        assert is_due(policy, HERE.static) or not is_due(policy, HERE.limit - 1)


def test_the_default_policy_leaves_a_fifth_of_the_window() -> None:
    assert compaction_point(policies()["economic"], HERE) == 168_000
    wide = replace(HERE, limit=196_000)
    assert compaction_point(policies()["economic"], wide) == 180_000


def test_a_policy_that_counts_messages_is_asked_in_messages() -> None:
    """Ten messages took 30,000 tokens; `picoclaw` goes on for 20, `temporal` for 250."""
    assert compaction_point(policies()["picoclaw"], HERE) == pytest.approx(82_000, rel=0.02)
    assert compaction_point(policies()["temporal"], HERE) == HERE.limit
    many = replace(HERE, messages=24)
    assert compaction_point(policies()["picoclaw"], many) < many.used


def test_a_policy_that_is_due_at_any_size_is_told_by_the_limit() -> None:
    assert compaction_point(policies()["adk"], HERE) == HERE.limit
