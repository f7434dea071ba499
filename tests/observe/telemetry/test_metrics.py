"""Metrics through the real SDK: each observation in its instruments, with the attributes named."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from sidecar.core.parts import Usage
from sidecar.observe.telemetry.instruments import INSTRUMENTS
from sidecar.observe.telemetry.metrics import Levels, Metrics
from tests.observe.seen import (
    NOW,
    SES,
    asked,
    meter,
    plan_made,
    restored,
    retried,
    rewritten,
    snapshot_taken,
    tool_done,
    turn_begun,
    turn_done,
)

USAGE = Usage(input=500, cache_read=1500, cache_write_5m=300, output=40, requests=1)
EVERYTHING: list[Any] = [
    turn_begun(),
    asked(usage=USAGE, uncached=0.03, break_=("changed", "tools")),
    asked(error="context_overflow", cost=None),
    asked(usage=USAGE, cost=0.02),
    retried("claude-opus-5-5", "overloaded"),
    tool_done(left_out=9_000),
    tool_done(failure="denied"),
    rewritten(),
    rewritten(opens=False, shown=(("truncated", 1),)),
    plan_made(0.03),
    snapshot_taken(0.02),
    restored(0.5),
    turn_done(at=NOW + 4_000),
]


class Scope:
    """Metrics over the SDK's own reader."""

    def __init__(self, *seen: Any) -> None:
        self.reader = InMemoryMetricReader()
        provider = MeterProvider([self.reader], shutdown_on_exit=False)
        levels = Levels(
            lambda: {SES: meter()},
            lambda: {"prompts": 2, "client": 0, "store": 1},
            lambda: {("hit_rate", "warning"): 1},
            lambda: 4096,
        )
        metrics = Metrics(provider, "0.1.0", "anthropic", levels)
        for one in seen:
            metrics.take(one)
        data = self.reader.get_metrics_data()
        assert data is not None
        [resource] = data.resource_metrics
        [scope] = resource.scope_metrics
        self.metrics = {metric.name: metric for metric in scope.metrics}
        provider.shutdown()

    def points(self, name: str) -> list[tuple[Mapping[str, Any], Any]]:
        """Give (attributes, value or sum) of each series."""
        found = self.metrics[name].data.data_points
        return [(dict(p.attributes), getattr(p, "value", getattr(p, "sum", None))) for p in found]


def test_everything_that_is_declared_is_emitted_as_declared() -> None:
    scope = Scope(*EVERYTHING)
    assert set(scope.metrics) == set(INSTRUMENTS)
    for name, metric in scope.metrics.items():
        declared = INSTRUMENTS[name]
        assert metric.unit == declared.unit
        used = {key for attributes, _ in scope.points(name) for key in attributes}
        assert used == set(declared.attributes) or name == "gen_ai.client.token.usage"
        for point in metric.data.data_points:
            if declared.kind == "histogram":
                assert tuple(point.explicit_bounds) == declared.buckets


MODEL = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "anthropic",
    "gen_ai.request.model": "claude-opus-5-5",
}
BY_MODEL = {"gen_ai.request.model": "claude-opus-5-5"}


@pytest.mark.parametrize(
    ("name", "points"),
    [
        (
            "gen_ai.client.token.usage",
            [
                ({**MODEL, "gen_ai.token.type": "input"}, 4600),
                ({**MODEL, "gen_ai.token.type": "output"}, 80),
            ],
        ),
        (
            "gen_ai.client.operation.duration",
            [(MODEL, 3.0), ({**MODEL, "error.type": "context_overflow"}, 1.5)],
        ),
        ("gen_ai.client.inference.usage.input_tokens", [(MODEL, 4600)]),
        ("gen_ai.client.inference.usage.output_tokens", [(MODEL, 80)]),
        ("gen_ai.client.inference.usage.cache_read.input_tokens", [(MODEL, 3000)]),
        ("gen_ai.client.inference.usage.cache_write.input_tokens", [(MODEL, 600)]),
        (
            "gen_ai.execute_tool.duration",
            [
                ({"gen_ai.tool.name": "shell"}, 0.2),
                ({"gen_ai.tool.name": "shell", "error.type": "denied"}, 0.2),
            ],
        ),
        ("sidecar.context.overflows", [(MODEL, 1)]),
        ("sidecar.compactions", [({"sidecar.cause": "budget", "sidecar.policy": "codex"}, 1)]),
        ("sidecar.compaction.duration", [({"sidecar.cause": "budget"}, 1.2)]),
        ("sidecar.compaction.planning", [({"sidecar.policy": "codex"}, 0.03)]),
        ("sidecar.compaction.cost", [({"sidecar.cause": "budget"}, 0.25)]),
        ("sidecar.compaction.saved", [({"sidecar.cause": "budget"}, 60_000)]),
        ("sidecar.compaction.compression", [({"sidecar.policy": "codex"}, 4.0)]),
        ("sidecar.compaction.fidelity", [({"sidecar.policy": "codex"}, 0.9)]),
        (
            "sidecar.pruned",
            [
                ({"sidecar.action": "dropped"}, 12),
                ({"sidecar.action": "evicted"}, 3),
                ({"sidecar.action": "truncated"}, 1),
            ],
        ),
        ("sidecar.tool.truncated", [({"gen_ai.tool.name": "shell"}, 1)]),
        ("sidecar.tool.left_out", [({"gen_ai.tool.name": "shell"}, 9_000)]),
        ("sidecar.cost", [({**MODEL, "sidecar.purpose": "turn"}, pytest.approx(0.03))]),
        (
            "sidecar.cache.saved",
            [(BY_MODEL, pytest.approx(0.02))],
        ),
        (
            "sidecar.cache.spent",
            [(BY_MODEL, pytest.approx(0.01))],
        ),
        (
            "sidecar.cache.hit_rate",
            [(BY_MODEL, pytest.approx(1500 / 2300))],
        ),
        (
            "sidecar.cache.breaks",
            [({"sidecar.cause": "changed", "sidecar.segment": "tools"}, 1)],
        ),
        (
            "sidecar.retries",
            [({"gen_ai.request.model": "claude-opus-5-5", "error.type": "overloaded"}, 1)],
        ),
        ("sidecar.snapshot.duration", [({}, 0.02)]),
        ("sidecar.restore.duration", [({}, 0.5)]),
        (
            "gen_ai.invoke_agent.duration",
            [
                (
                    {
                        "gen_ai.operation.name": "invoke_agent",
                        "gen_ai.provider.name": "anthropic",
                        "sidecar.stop_reason": "end_turn",
                    },
                    4.0,
                )
            ],
        ),
        ("sidecar.context.utilization", [({"gen_ai.conversation.id": SES}, 0.5)]),
        (
            "sidecar.queue.depth",
            [
                ({"sidecar.queue": "prompts"}, 2),
                ({"sidecar.queue": "client"}, 0),
                ({"sidecar.queue": "store"}, 1),
            ],
        ),
        ("sidecar.store.size", [({}, 4096)]),
        ("sidecar.alerts.active", [({"sidecar.alert": "hit_rate", "sidecar.level": "warning"}, 1)]),
    ],
)
def test_a_metric_has_its_numbers(name: str, points: list[tuple[Mapping[str, Any], Any]]) -> None:
    assert sorted(Scope(*EVERYTHING).points(name), key=str) == sorted(points, key=str)


def test_the_context_is_told_by_region() -> None:
    points = Scope(*EVERYTHING).points("sidecar.context.used")
    by_region = {attributes["sidecar.region"]: value for attributes, value in points}
    assert sum(by_region.values()) == 50_000
    assert by_region["toolResults"] == 10_000


def test_a_price_that_nobody_knows_is_not_told() -> None:
    metrics = Scope(asked(cost=None, uncached=None), rewritten(opens=True)).metrics
    assert "sidecar.cost" not in metrics
    assert "sidecar.cache.saved" not in metrics


def test_the_offline_model_is_nobody_elses() -> None:
    [(attributes, _)] = Scope(replace(asked(), model="offline")).points("sidecar.cost")
    assert attributes["gen_ai.provider.name"] == "sidecar"
