"""Sixty turns of ordinary work raise hardly an alert, and none about the default policy's own."""

from collections import Counter
from random import Random
from typing import Any

import pytest

from sidecar.config.alert_thresholds import Alerts
from sidecar.observe.alerts.alerts import Alert, AlertKey, look
from sidecar.observe.alerts.recent_past import RecentPast, after
from tests.session import inside
from tests.session.conftest import Desk

pytestmark = pytest.mark.long

TURNS = 60


async def test_sixty_turns_raise_each_alert_once_at_most(desk: Desk) -> None:
    dice = Random(17)

    def built(given: Any) -> str:
        """Print a build's log, some thousand tokens long; it takes a while."""
        desk.world.time += dice.randrange(2_000, 20_000)
        lines = dice.choice((10, 30, 150))
        return (
            given["path"]
            + "\n"
            + "\n".join(
                f"[{n}/{lines}] compiled unit_{dice.getrandbits(32):08x} in {dice.random():.2f}ms"
                for n in range(lines)
            )
        )

    desk.editor.tools["look"] = built
    worker = await desk.worker(policy="economic", window=40_000, max_tokens=4_000)
    past, standing, raised = RecentPast(), dict[AlertKey, Alert](), Counter[str]()
    for turn in range(TURNS):
        result = await worker.turn(dice.randrange(1, 4))
        assert result.stop_reason == "end_turn", result.error
        for seen in desk.world.observed:
            past = after(past, seen)
            standing, changes = look(past, Alerts(), standing, desk.world.time)
            raised.update(one.alert.name for one in changes if one.state == "raised")
        desk.world.observed.clear()
        # Steps take seconds; every few turns somebody reads, or is away.
        desk.world.time += 420_000 if turn % 5 == 4 else 40_000
        standing, changes = look(past, Alerts(), standing, desk.world.time)
        raised.update(one.alert.name for one in changes if one.state == "raised")
    assert len(inside.rewrites(worker.session)) >= 3
    assert not [name for name, times in raised.items() if times > 1], raised
    assert not {"fidelity", "compression", "evictions"} & raised.keys()
