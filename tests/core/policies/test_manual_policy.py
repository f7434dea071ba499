"""`manual`: nothing happens by itself, however full it is."""

from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.engine.trigger import compaction_point
from sidecar.core.policies.manual import Manual
from sidecar.core.prompt.visibility import Cause
from tests.core.policies.situations import WINDOW, situation, standing

POLICY = Manual()


@given(
    used=st.integers(0, 2 * WINDOW), requests=st.integers(0, 999), messages=st.integers(0, 999),
    warm=st.booleans(), opens=st.booleans(), newest=st.integers(0, WINDOW),
    rent=st.integers(0, 10**9),
)  # fmt: skip
def test_it_is_never_due(
    used: int, requests: int, messages: int, warm: bool, opens: bool, newest: int, rent: int
) -> None:
    told = standing(
        used, requests=requests, messages=messages, warm=warm, opens_turn=opens, newest=newest,
        rent=rent,
    )  # fmt: skip
    assert POLICY.due(told) is None
    assert POLICY.due(replace(told, used=told.window)) is None
    assert POLICY.due(replace(told, asked=True, overflow=True)) is None


@pytest.mark.parametrize("cause", get_args(Cause))
def test_it_has_no_plan_of_its_own(cause: Cause) -> None:
    assert POLICY.plan(situation("U10 C90k; C90k; C9; C9"), cause) is None


def test_the_meter_names_the_limit_as_the_point_of_compaction() -> None:
    told = standing(150_000)
    assert compaction_point(POLICY, told) == told.limit
