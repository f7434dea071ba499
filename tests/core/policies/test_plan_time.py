"""A plan's work grows with the conversation, and no faster.

Calls are counted, which no other program slows; `python -m tests.benchmarks context` has the time,
beside that of turning the same request into JSON.
"""

import sys
from types import FrameType
from typing import Any

from sidecar.core.policies import policies
from sidecar.session.view.model_view import ModelView
from tests.benchmarks.bench_context import PARTS, conversation, situated
from tests.core.prompts import static
from tests.replay.recorded import tokenizer

MOST = 30
"""Calls of functions for each part; 20 were counted."""


def calls_of_a_plan(parts: int) -> int:
    messages = conversation(parts)
    view = ModelView(static("You are an agent. " * 200), tokenizer(), 1.2, 0)
    view.observe(messages[-1], messages)
    situation, policy = situated(messages, view), policies()["economic"]
    assert policy.plan(situation, "budget") is not None
    calls = 0

    def count(_: FrameType, event: str, __: Any) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        policy.plan(situation, "budget")
    finally:
        sys.setprofile(None)
    return calls


def test_the_work_of_a_plan_grows_with_its_parts_and_no_faster() -> None:
    # With fewer parts most stay, and of what stays there is little to tell.
    few, many = calls_of_a_plan(PARTS), calls_of_a_plan(2 * PARTS)
    assert few < MOST * PARTS
    assert many < 1.2 * 2 * few
