"""The dashboard and the rules: sound, and of metrics that the exporter really gives."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.sdk.metrics import MeterProvider
from prometheus_client import CollectorRegistry, generate_latest

from sidecar.config.alert_thresholds import NAMES
from sidecar.observe.telemetry.instruments import INSTRUMENTS
from sidecar.observe.telemetry.metrics import Levels, Metrics
from tests.observe.seen import SES, meter
from tests.observe.telemetry.test_metrics import EVERYTHING

FOLDER = Path(__file__).parents[3] / "sidecar/observe/dashboards"
RULES = FOLDER / "prometheus-rules.yml"
METRIC = re.compile(r"\b(?:sidecar|gen_ai)_[a-z_]+\b")
LABELLED = re.compile(r"\{([^{}]*)\}")
GROUPED = re.compile(r"\b(?:by|on) \(([^()]*)\)")


def exported() -> tuple[set[str], set[str]]:
    """Give the names of series and of labels that the real exporter gives."""
    registry = CollectorRegistry()
    reader = PrometheusMetricReader(scope_info_enabled=False, registry=registry)
    provider = MeterProvider([reader], shutdown_on_exit=False)
    levels = Levels(
        lambda: {SES: meter()}, lambda: {"store": 1}, lambda: {("x", "info"): 1}, lambda: 1
    )
    metrics = Metrics(provider, "0.1.0", "anthropic", levels)
    for one in EVERYTHING:
        metrics.take(one)
    text = generate_latest(registry).decode()
    provider.shutdown()
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    names = {re.split(r"[{ ]", line)[0] for line in lines}
    labels = {label for line in lines for label in re.findall(r'(\w+)="', line)}
    return names, labels


def expressions() -> list[str]:
    """Give every expression of the dashboard and of the rules."""
    dashboard = json.loads((FOLDER / "grafana.json").read_text("utf-8"))
    found: list[str] = []

    def look(value: Any) -> None:
        match value:
            case dict():
                found.extend(value[key] for key in ("expr", "query") if key in value)
                for each in value.values():
                    look(each)
            case list():
                for each in value:
                    look(each)
            case _:
                pass

    look(dashboard)
    rules = RULES.read_text("utf-8")
    found += re.findall(r"expr: (?:>-\n)?((?:.|\n)*?)(?=\n {6,8}[a-z-]+[: ]|\n\n)", rules)
    return [one for one in found if isinstance(one, str) and one != "prometheus"]


def named(text: str) -> set[str]:
    """Give the metrics that an expression asks for, without its labels."""
    bare = GROUPED.sub("", LABELLED.sub("", text))
    bare = re.sub(r"label_values\((\w+), \w+\)", r"\1", bare)
    return set(METRIC.findall(bare)) - {"sidecar_cache_hit_rate_15m"}


def test_every_metric_that_is_asked_for_is_one_that_is_emitted() -> None:
    names, _ = exported()
    asked = {name for text in expressions() for name in named(text.replace("sidecar:", ""))}
    assert len(asked) > 20
    assert asked <= names


def test_every_metric_that_is_emitted_is_on_the_dashboard() -> None:
    names, _ = exported()
    asked = {name for text in expressions() for name in named(text)}
    stems = {re.sub(r"_(?:bucket|sum|count|total)$", "", name) for name in names}
    shown = {re.sub(r"_(?:bucket|sum|count|total)$", "", name) for name in asked}
    assert stems - {"target_info"} == shown
    assert len(stems) == len(INSTRUMENTS) + 1


def test_every_label_that_is_asked_for_is_one_that_is_emitted() -> None:
    _, labels = exported()
    for text in expressions():
        used = set(re.findall(r"(\w+)=~?\"", text))
        for group in GROUPED.findall(text):
            used |= {label.strip() for label in group.split(",")}
        assert used <= labels | {"le", "instance"}, text


def test_there_is_a_rule_for_each_alert() -> None:
    alerts = re.findall(r"- alert: Sidecar(\w+)", RULES.read_text("utf-8"))
    found = {re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower() for name in alerts}
    renamed = {
        "cache_hit_rate": "hit_rate",
        "summarising_cost": "summarising",
        "burn_rate": "burn_spike",
    }
    assert {renamed.get(name, name) for name in found} - {"says_so"} == set(NAMES)


def test_promtool_takes_the_rules() -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed (it comes with Prometheus)")
    done = subprocess.run(
        [promtool, "check", "rules", str(RULES)],
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "12 rules found" in done.stdout


def test_panels_do_not_overlap() -> None:
    dashboard = json.loads((FOLDER / "grafana.json").read_text("utf-8"))
    taken: set[tuple[int, int]] = set()
    for panel in dashboard["panels"]:
        at = panel["gridPos"]
        assert at["x"] + at["w"] <= 24
        cells = {
            (x, y)
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        }
        assert not cells & taken, panel["title"]
        taken |= cells
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])
