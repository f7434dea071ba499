"""What a daemon's observer tells: totals, what stands, and each change of an alert once."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from sidecar.config.alert_thresholds import Alerts
from sidecar.core.parts import Usage
from sidecar.observe import observer as module
from sidecar.observe.alerts.alerts import Changed
from sidecar.observe.observer import Observer
from tests.observe.seen import (
    NOW,
    SES,
    asked,
    closed,
    restored,
    retried,
    rewritten,
    snapshot_taken,
    tool_done,
    turn_begun,
    turn_done,
)

LIMIT = 10.0


class Bench:
    """An observer, its clock, and what it told."""

    def __init__(self) -> None:
        self.time = NOW
        self.told: list[Changed] = []
        self.due: list[tuple[float, Callable[[], None]]] = []
        self.observer = Observer(lambda: self.time, self.told.append, self.later)

    def later(self, seconds: float, call: Callable[[], None]) -> None:
        self.due.append((seconds, call))

    def see(self, *seen: Any) -> list[tuple[str, str]]:
        for one in seen:
            self.observer.take(one)
        self.observer.settle()
        return [(change.state, change.alert.name) for change in self.told]


def test_totals_add_up() -> None:
    bench = Bench()
    usage = Usage(input=500, cache_read=1500, cache_write_5m=300, output=40, requests=1)
    bench.see(
        turn_begun(),
        asked(usage=usage, uncached=0.03, break_=("changed", "tools")),
        asked(error="context_overflow", cost=None),
        retried("m", "overloaded"),
        tool_done(left_out=5),
        rewritten(),
        snapshot_taken(0.25),
        restored(0.5),
        turn_done(),
    )
    assert bench.observer.metrics() == {
        "turns": 1,
        "requests": 2,
        "failed": 1,
        "overflows": 1,
        "retries": 1,
        "inputTokens": 3300,
        "outputTokens": 50,
        "cacheReadTokens": 1500,
        "cacheWriteTokens": 300,
        "cost": 0.01,
        "cacheSaved": 0.02,
        "cacheBreaks": {"tools": 1},
        "compactions": 1,
        "compactionCost": 0.25,
        "tokensSaved": 60_000,
        "partsPruned": 15,
        "toolCalls": 1,
        "truncated": {"shell": 1},
        "snapshots": 1,
        "snapshotSeconds": 0.25,
        "restores": 1,
        "restoreSeconds": 0.5,
    }


def test_alerts_are_told_when_they_change_and_given_while_they_stand() -> None:
    bench = Bench()
    for _ in range(2):
        assert bench.see(turn_done(50_000, 40_000)) == [("raised", "tool_results")]
    [alert] = bench.observer.alerts()
    assert isinstance(alert, dict)
    assert alert["name"] == "tool_results"
    assert alert["sessionId"] == SES
    assert bench.observer.standing() == {("tool_results", "info"): 1}
    assert bench.see(closed())[1:] == [("cleared", "tool_results")]
    assert bench.observer.alerts() == []


def test_other_thresholds_hold_at_once() -> None:
    bench = Bench()
    bench.see(turn_done(50_000, 20_000))
    bench.observer.configure(Alerts(tool_results=0.1))
    assert [change.state for change in bench.told] == ["raised"]
    bench.observer.configure(Alerts(tool_results=0.1, off=("tool_results",)))
    assert [change.state for change in bench.told] == ["raised", "cleared"]


async def test_an_alert_is_cleared_though_nothing_happens_any_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "EVERY", 0.001)
    bench = Bench()
    cleared = asyncio.Event()
    bench.observer = Observer(
        lambda: bench.time,
        lambda change: cleared.set() if change.state == "cleared" else bench.told.append(change),
        bench.later,
    )
    running = asyncio.ensure_future(bench.observer.run())
    refused = [asked(error="context_overflow", cost=None)] * 5
    assert bench.see(*refused) == [("raised", "overflow_rate")]
    bench.time += 6 * 60_000
    async with asyncio.timeout(LIMIT):
        await cleared.wait()
    running.cancel()
    await asyncio.wait({running})


def test_what_is_seen_is_taken_in_a_little_later_and_in_slices() -> None:
    bench = Bench()
    for _ in range(module.BATCH + 1):
        bench.observer.take(tool_done())
    [(seconds, call)] = bench.due
    assert seconds == module.LATER
    call()
    assert [seconds for seconds, _ in bench.due] == [module.LATER, 0.0]
    bench.due[-1][1]()
    assert len(bench.due) == 2
    assert bench.observer.metrics()["toolCalls"] == module.BATCH + 1
