"""Passes observations on to totals, alerts, metrics and traces."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Mapping

from sidecar.config import Config
from sidecar.config.alert_thresholds import Alerts
from sidecar.core.parts import Json, JsonObject, Millis, SessionId
from sidecar.core.prompt.meter import Meter
from sidecar.core.prompt.observation import (
    Observation,
    PendingObservation,
    SessionClosed,
    TurnDone,
    read,
)
from sidecar.observe.alerts.alerts import Alert, AlertKey, Changed, look
from sidecar.observe.alerts.recent_past import RecentPast, after
from sidecar.observe.telemetry.exporters import Exporting, start
from sidecar.observe.totals import Totals, add

LATER = 0.25
"""Seconds that observations wait, together."""
BATCH = 256
"""Observations processed at once: the event loop has other work."""
EVERY = 30.0
"""Seconds between checks of standing alerts, without observations."""

Take = Callable[[Observation], None]


class Observer:
    """Collects observations; `now` returns ms since 1970.

    `tell` gets each alert change once; `later` schedules a call in some seconds.
    """

    def __init__(
        self,
        now: Callable[[], Millis],
        tell: Callable[[Changed], None],
        later: Callable[[float, Callable[[], None]], object],
    ) -> None:
        self._now = now
        self._tell = tell
        self._later = later
        self._waiting: deque[Observation | PendingObservation] = deque()
        self._due = False
        self._settings = Alerts()
        self._past = RecentPast()
        self._totals = Totals()
        self._alerts: dict[AlertKey, Alert] = {}
        self._contexts: Mapping[SessionId, Meter] = {}
        self._sinks: tuple[Take, ...] = ()
        self._exporting: Exporting | None = None
        self._raised = asyncio.Event()
        self.queues: Callable[[], Mapping[str, int]] = dict
        """Lengths of queues by name."""

    def configure(self, settings: Alerts) -> None:
        self._settings = settings
        self._look()

    async def export(
        self,
        config: Config,
        version: str,
        environment: Mapping[str, str],
        queues: Callable[[], Mapping[str, int]],
        store: Callable[[], int],
    ) -> None:
        self.queues = queues
        made = await asyncio.to_thread(start, config.telemetry, version, environment)
        if made is None:
            return
        vendor = config.provider.name
        sinks: list[Take] = []
        if made.metrics is not None:
            from sidecar.observe.telemetry.metrics import Levels, Metrics  # noqa: PLC0415 - only where it is on

            levels = Levels(lambda: self._contexts, queues, self.standing, store)
            sinks.append(Metrics(made.metrics, version, vendor, levels).take)
        if made.traces is not None:
            from sidecar.observe.telemetry.traces import Traces  # noqa: PLC0415 - same

            sinks.append(Traces(made.traces, version, vendor).take)
        self._exporting, self._sinks = made, tuple(sinks)

    def take(self, seen: Observation | PendingObservation) -> None:
        """Must be called on the event loop."""
        self._waiting.append(seen)
        if isinstance(seen, SessionClosed):
            # At once: clients must hear that the session's alerts end, before they stop listening.
            self.settle()
        elif not self._due:
            self._due = True
            self._later(LATER, self._take_some)

    def settle(self) -> None:
        before = self._past
        while self._waiting:
            self._take_in(self._waiting.popleft())
        if self._past is not before:
            self._look()

    def _take_some(self) -> None:
        self._due = False
        before = self._past
        for _ in range(min(BATCH, len(self._waiting))):
            self._take_in(self._waiting.popleft())
        if self._past is not before:
            self._look()
        if self._waiting:
            self._due = True
            self._later(0.0, self._take_some)

    def _take_in(self, unread: Observation | PendingObservation) -> None:
        seen = read(unread)
        if seen is None:
            return
        add(self._totals, seen)
        match seen:
            case TurnDone(session_id=name, meter=meter):
                self._contexts = {**self._contexts, name: meter}
            case SessionClosed(session_id=name):
                self._contexts = {k: v for k, v in self._contexts.items() if k != name}
            case _:
                pass
        for sink in self._sinks:
            sink(seen)
        self._past = after(self._past, seen)

    async def run(self) -> None:
        """Checks alerts every 30 s, until cancelled."""
        while True:
            await self._raised.wait()
            await asyncio.sleep(EVERY)
            self._look()

    async def close(self, seconds: float) -> None:
        self.settle()
        if self._exporting is not None:
            closing = asyncio.to_thread(self._exporting.close)
            try:
                await asyncio.wait_for(closing, seconds)
            except TimeoutError:
                # The receiver does not answer; numbers are not worth a wait.
                return

    def standing(self) -> Mapping[tuple[str, str], int]:
        return Counter((one.name, one.level) for one in tuple(self._alerts.values()))

    def metrics(self) -> JsonObject:
        self.settle()
        address = "" if self._exporting is None else self._exporting.address
        return {**self._totals.as_json(), **({"prometheus": address} if address else {})}

    def alerts(self) -> list[Json]:
        self.settle()
        self._look()
        return [alert_as_json(one) for one in self._alerts.values()]

    def _look(self) -> None:
        self._alerts, changes = look(self._past, self._settings, self._alerts, self._now())
        if self._alerts:
            self._raised.set()
        else:
            self._raised.clear()
        for change in changes:
            self._tell(change)


def alert_as_json(alert: Alert) -> JsonObject:
    told: JsonObject = {
        "name": alert.name,
        "level": alert.level,
        "message": alert.message,
        "action": alert.action,
        "value": round(alert.value, 4),
        "threshold": alert.threshold,
        "since": alert.since,
    }
    return told if alert.session_id is None else {**told, "sessionId": alert.session_id}
