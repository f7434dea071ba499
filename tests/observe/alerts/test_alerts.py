"""Each alert: raised on the bad side of its threshold, once, and cleared once, well behind it."""

import re
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.config.alert_thresholds import NAMES, Alerts
from sidecar.observe.alerts.alert_rules import RULES
from sidecar.observe.alerts.alerts import Alert, AlertKey, Changed, burn_spike, look
from sidecar.observe.alerts.recent_past import RecentPast, after
from tests.observe.seen import NOW, SES, asked, closed, repeated, rewritten, turn_done

MINUTE = 60_000
FIVE = 5 * MINUTE
REFUSED = {"error": "context_overflow", "cost": None}


class Watch:
    """What a daemon would have: the past, what stands, and everything that changed."""

    def __init__(self, settings: Alerts | None = None) -> None:
        self.settings = settings or Alerts()
        self.past = RecentPast()
        self.standing: dict[AlertKey, Alert] = {}
        self.changes: list[Changed] = []

    def see(self, seen: Sequence[Any], now: int = NOW) -> list[str]:
        """Take observations in one by one; gives what changed, such as `+hit_rate`."""
        before = len(self.changes)
        for one in seen:
            self.past = after(self.past, one)
            self.look(now)
        self.look(now)
        signs = {"raised": "+", "cleared": "-"}
        return [signs[c.state] + c.alert.name for c in self.changes[before:]]

    def look(self, now: int) -> None:
        self.standing, changes = look(self.past, self.settings, self.standing, now)
        self.changes += changes


CASES: dict[str, tuple[list[Any], list[Any], list[Any], int]] = {
    # what is not bad yet, what makes it bad, what makes it well again, and when that is
    "overflow_rate": (
        [*[asked()] * 9, asked(**REFUSED)],
        [asked(**REFUSED)],
        [*[asked()] * 12],
        NOW,
    ),
    "hit_rate": (
        [repeated(NOW, 700, 300)] * 12,
        [repeated(NOW, 0, 1000)],
        [repeated(NOW, 1000, 0)] * 9,
        NOW,
    ),
    "summarising": (
        [asked(purpose="summary", cost=10.0)],
        [asked(purpose="summary", cost=0.5)],
        [],
        NOW + 61 * MINUTE,
    ),
    "utilisation": (
        [turn_done(95_000, 0), turn_done(95_000, 0), turn_done(90_000, 0)],
        [turn_done(91_000, 0)] * 3,
        [turn_done(80_000, 0)],
        NOW,
    ),
    "evictions": ([rewritten()] * 5, [rewritten()], [turn_done(), turn_done()], NOW),
    "compression": (
        [rewritten(compression=2.0)],
        [rewritten(compression=1.9)],
        [rewritten(compression=2.3)],
        NOW,
    ),
    "burn_spike": (
        [
            asked(NOW - 4 * FIVE),
            asked(NOW - 3 * FIVE),
            asked(NOW - 2 * FIVE),
            asked(NOW, cost=0.03),
        ],
        [asked(NOW, cost=0.001)],
        [],
        NOW + FIVE,
    ),
    "fidelity": (
        [rewritten(fidelity=0.75)],
        [rewritten(fidelity=0.74)],
        [rewritten(fidelity=0.9)],
        NOW,
    ),
    "tool_results": (
        [turn_done(50_000, 30_000)],
        [turn_done(50_000, 31_000)],
        [turn_done(50_000, 20_000)],
        NOW,
    ),
}


def test_every_alert_has_a_case_a_rule_and_a_setting() -> None:
    assert set(CASES) == set(RULES) == set(NAMES)


def test_there_are_three_levels() -> None:
    assert {rule.level for rule in RULES.values()} == {"info", "warning", "critical"}


@pytest.mark.parametrize("name", NAMES)
def test_an_alert_is_raised_once_and_cleared_once(name: str) -> None:
    quiet, bad, well, then = CASES[name]
    watch = Watch()
    assert watch.see(quiet) == []
    assert watch.see(bad) == [f"+{name}"]
    [alert] = watch.standing.values()
    assert watch.see([]) == []
    if RULES[name].quiet:
        assert watch.see(well, then) == []
        then += RULES[name].quiet
        well = []
    assert watch.see(well, then) == [f"-{name}"]
    assert watch.standing == {}
    assert watch.see([], then) == []
    rule = RULES[name]
    assert (alert.level, alert.action, alert.since) == (rule.level, rule.action, NOW)
    assert alert.session_id == (SES if name in SESSION else None)
    assert re.search(r"\d", alert.message), "the message has the number in it"
    assert alert.threshold == getattr(Alerts(), name)


SESSION = {"utilisation", "evictions", "compression", "fidelity", "tool_results"}


@pytest.mark.parametrize("name", NAMES)
def test_an_alert_that_nobody_wants_is_never_raised(name: str) -> None:
    quiet, bad, well, then = CASES[name]
    watch = Watch(Alerts(off=(name,)))
    assert watch.see([*quiet, *bad]) == watch.see(well, then) == []


@pytest.mark.parametrize(
    ("settings", "seen"),
    [
        (Alerts(overflow_rate=0.5), "overflow_rate"),
        (Alerts(hit_rate=0.2), "hit_rate"),
        (Alerts(summarising=20.0), "summarising"),
        (Alerts(utilisation=0.99), "utilisation"),
        (Alerts(evictions=9.0), "evictions"),
        (Alerts(compression=1.5), "compression"),
        (Alerts(burn_spike=4.0), "burn_spike"),
        (Alerts(fidelity=0.5), "fidelity"),
        (Alerts(tool_results=0.6), "tool_results"),
    ],
)
def test_thresholds_can_be_set(settings: Alerts, seen: str) -> None:
    quiet, bad, _, _ = CASES[seen]
    assert Watch(settings).see([*quiet, *bad]) == []


def test_what_goes_to_and_fro_at_the_threshold_stays_raised() -> None:
    watch = Watch()
    results = [31_000, 29_000, 31_000, 28_000, 30_500, 27_500]
    assert watch.see([turn_done(50_000, each) for each in results]) == ["+tool_results"]


def test_what_fills_again_within_the_hour_is_not_told_again() -> None:
    watch = Watch()
    for ago in range(6):
        watch.see([turn_done(50_000, 40_000)], NOW + 20 * ago * MINUTE)
        watch.see([turn_done(50_000, 5_000)], NOW + (20 * ago + 10) * MINUTE)
    assert [change.state for change in watch.changes] == ["raised"]


def test_few_requests_say_nothing() -> None:
    assert Watch().see([asked(**REFUSED)] * 4) == []
    assert Watch().see([repeated(NOW, 0, 1000)] * 9) == []
    assert Watch().see([turn_done(99_000, 0), turn_done(99_000, 0)]) == []


def test_an_alert_of_requests_is_cleared_when_they_are_long_ago() -> None:
    watch = Watch()
    watch.see([asked(**REFUSED)] * 5)
    assert watch.see([], NOW + 4 * MINUTE) == []
    assert watch.see([], NOW + 5 * MINUTE) == ["-overflow_rate"]


def test_what_is_cleared_tells_the_number_that_is_well() -> None:
    watch = Watch()
    watch.see([turn_done(50_000, 40_000), turn_done(50_000, 20_000)])
    watch.see([], NOW + RULES["tool_results"].quiet)
    assert [change.alert.value for change in watch.changes] == [0.4, 0.2]


def test_a_closed_session_has_no_alerts() -> None:
    watch = Watch()
    assert watch.see([turn_done(50_000, 40_000)]) == ["+tool_results"]
    assert watch.see([closed()]) == ["-tool_results"]


def test_sessions_have_alerts_of_their_own() -> None:
    watch = Watch()
    both = [turn_done(50_000, 40_000), turn_done(50_000, 40_000, session="ses_2")]
    assert watch.see(both) == ["+tool_results", "+tool_results"]
    assert {alert.session_id for alert in watch.standing.values()} == {SES, "ses_2"}


def test_pauses_make_nothing_cheap() -> None:
    # An hour of pauses between, and still every stretch with work in it cost the same.
    past = RecentPast()
    for back in (60, 40, 20, 0):
        past = after(past, asked(NOW - back * MINUTE))
    assert burn_spike(past, NOW) == pytest.approx(1.0)


def test_too_little_is_known_for_a_usual_cost() -> None:
    past = RecentPast()
    for back in (20, 10, 0):
        past = after(past, asked(NOW - back * MINUTE))
    assert burn_spike(past, NOW) is None


shares = st.integers(0, 100_000)


@given(st.lists(st.tuples(shares, shares), max_size=30))
def test_an_alert_is_always_raised_and_cleared_in_turn(turns: list[tuple[int, int]]) -> None:
    watch = Watch()
    watch.see([turn_done(max(used, part), min(used, part)) for used, part in turns])
    watch.see([closed()])
    for name in NAMES:
        states = [c.state for c in watch.changes if c.alert.name == name]
        assert states == ["raised", "cleared"] * (len(states) // 2)
