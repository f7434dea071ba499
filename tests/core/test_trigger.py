"""The meter's number is the trigger's."""

from dataclasses import replace

import pytest

from sidecar.core.plan import Rates, Standing
from sidecar.core.policies import policies
from sidecar.core.trigger import compaction_point

RATES = Rates(3e-6, 15e-6, 3.75e-6, 0.3e-6)
HERE = Standing(
    50_000, 20_000, 200_000, 168_000, 40_000, 10**6, 40, False, True, 10, RATES, newest=9_000
)


@pytest.mark.parametrize("name", sorted(policies()))
def test_a_rewrite_is_forced_from_just_this_size_on(name: str) -> None:
    policy = policies()[name]
    point = compaction_point(policy, HERE)
    rest = replace(HERE, rent=0, requests=0, warm=True, newest=0, base=HERE.static, cooling_ms=0)
    if policy.due(replace(rest, used=HERE.limit)) is None:
        assert point == HERE.limit
        return
    assert policy.due(replace(rest, used=point)) is not None
    assert point == HERE.static or policy.due(replace(rest, used=point - 1)) is None


def test_the_default_policy_leaves_a_fifth_of_the_window() -> None:
    assert compaction_point(policies()["economic"], HERE) == 168_000
    wide = replace(HERE, limit=196_000)
    assert compaction_point(policies()["economic"], wide) == 180_000
