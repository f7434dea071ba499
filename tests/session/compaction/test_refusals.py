"""What came to nothing is remembered."""

import pytest

from sidecar.core.policies import policies
from tests.session.conftest import Desk


async def test_a_plan_that_came_to_nothing_is_not_made_anew_at_each_request(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = type(policies()["economic"])
    planned: list[int] = []
    monkeypatch.setattr(policy, "due", lambda *_: "pays")
    monkeypatch.setattr(policy, "plan", lambda _, given, cause: planned.append(given.standing.used))
    desk.editor.tools["look"] = lambda given: f"{given['path']} {'is short ' * 30}"
    worker = await desk.worker(policy="economic", system="Work. " * 8_000)
    await worker.turn(12)
    asked = len(desk.model.requests)
    assert asked == 13
    assert len(planned) == 1
    await worker.turn(0)
    assert len(desk.model.requests) == asked + 1
    assert len(planned) == 2, "what is typed is new"
