"""Raises alerts at thresholds, and clears them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Literal, TypeAlias

from sidecar.config.alert_thresholds import Alerts
from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Millis, SessionId
from sidecar.observe.alerts.alert_rules import RULES, AlertLevel, Rule
from sidecar.observe.alerts.recent_past import TURNS, RecentPast, SessionStanding

SLACK = 0.1
"""Share of the threshold, between a number and the threshold, that clears an alert."""
FEW_REQUESTS = 5
"""Requests; shares of fewer mean nothing."""
FEW_REPEATED = 10
"""Repeated prompts; the first are largely new, and say nothing about the cache."""
STRETCH = 5
"""Minutes of a stretch of costs."""
USUAL = 3
"""Stretches with costs needed for a comparison."""

AlertKey: TypeAlias = tuple[str, SessionId | None]
"""An alert's name, and the session, unless about all."""


@dataclass(frozen=True, slots=True)
class Alert:
    """A standing alert; `value` and `threshold` are in the setting's unit.

    `well_since`: when the value was well again, if the alert has not cleared yet.
    """

    name: str
    level: AlertLevel
    session_id: SessionId | None
    value: float
    threshold: float
    since: Millis
    message: str
    action: str
    well_since: Millis | None = None


@dataclass(frozen=True, slots=True)
class Changed:
    """An alert raised or cleared, with its value then."""

    state: Literal["raised", "cleared"]
    alert: Alert
    at: Millis


def look(
    past: RecentPast, settings: Alerts, standing: Mapping[AlertKey, Alert], now: Millis
) -> tuple[dict[AlertKey, Alert], tuple[Changed, ...]]:
    found: dict[AlertKey, Alert] = {}
    changes: list[Changed] = []
    known = dict(values(past, now))
    for key, value in known.items():
        rule = RULES[key[0]]
        threshold = getattr(settings, rule.name)
        before = standing.get(key)
        if rule.name in settings.off or not _holds(rule, value, threshold, before is not None):
            continue
        since = now if before is None else before.since
        alert = Alert(
            rule.name,
            rule.level,
            key[1],
            value,
            threshold,
            since,
            rule.message(value, threshold),
            rule.action,
        )
        found[key] = alert
        if before is None:
            changes.append(Changed("raised", alert, now))
    for key, alert in standing.items():
        if key not in found:
            well_since = alert.well_since or now
            wanted = key in known and key[0] not in settings.off
            if wanted and now - well_since < RULES[key[0]].quiet:
                found[key] = replace(alert, well_since=well_since)
                continue
            # If the number is unknown now, report the last one.
            well = replace(alert, value=known.get(key, alert.value))
            changes.append(Changed("cleared", well, now))
    return found, tuple(changes)


def _holds(rule: Rule, value: float, threshold: float, stands: bool) -> bool:
    if rule.over:
        return value > (threshold * (1 - SLACK) if stands else threshold)
    # A share cannot exceed 1: keep the bound below 1, so that the alert can clear.
    well = min(threshold * (1 + SLACK), (1 + threshold) / 2 if threshold < 1 else threshold * 2)
    return value < (well if stands else threshold)


def values(past: RecentPast, now: Millis) -> Iterator[tuple[AlertKey, float]]:
    yield from (((name, None), value) for name, value in _of_all(past, now) if value is not None)
    for session_id, one in past.sessions.items():
        found = ((name, value) for name, value in _of_one(one) if value is not None)
        yield from (((name, session_id), value) for name, value in found)


def _of_all(past: RecentPast, now: Millis) -> Iterable[tuple[str, float | None]]:
    newest = past.within(now, 5)
    requests = sum(one.requests for one in newest)
    refused = sum(one.refused for one in newest)
    yield "overflow_rate", refused / requests if requests >= FEW_REQUESTS else None
    quarter = past.within(now, 15)
    repeated, prompt = sum(one.repeated for one in quarter), sum(one.prompt for one in quarter)
    read = sum(one.read for one in quarter)
    yield "hit_rate", read / prompt if repeated >= FEW_REPEATED and prompt else None
    yield "summarising", sum(one.summarising for one in past.within(now, 60))
    yield "burn_spike", burn_spike(past, now)


def _of_one(one: SessionStanding) -> Iterable[tuple[str, float | None]]:
    yield "utilisation", min(one.used) if len(one.used) == TURNS else None
    yield "evictions", float(max(one.evictions, one.evicting))
    yield "compression", one.compression
    yield "fidelity", one.fidelity
    yield "tool_results", one.tool_results


def burn_spike(past: RecentPast, now: Millis) -> float | None:
    """Divides the newest 5 minutes' cost by that of the dearest 5 in the hour before.

    Returns `None` with fewer than three stretches with costs.
    """
    minutes = {one.number: one.spent for one in past.within(now, 60 + STRETCH)}
    newest = now // 60_000
    stretches = [
        sum(minutes.get(newest - ago - each, 0.0) for each in range(STRETCH))
        for ago in range(0, 60 + STRETCH, STRETCH)
    ]
    before = [spent for spent in stretches[1:] if spent > 0]
    if len(before) < USUAL:
        return None
    return stretches[0] / max(before)
