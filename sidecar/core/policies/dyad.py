"""`dyad`: raw blocks are kept as they are and purged after seven days.

Constant: dyad, `AI_MESSAGES_TTL_DAYS = 7`.
"""

from dataclasses import dataclass

from sidecar.core.cutting import drop, make_plan, shown_items
from sidecar.core.plan import Plan, Situation, Standing
from sidecar.core.prompt import Ttl
from sidecar.core.view import Cause

DAY_MS = 24 * 60 * 60 * 1000
PURGED_AFTER = 7 * DAY_MS


@dataclass(frozen=True, slots=True)
class Dyad:
    """Due at most once in a pause of a day: only then can something have become a week old."""

    name: str = "dyad"
    static_ttl: Ttl = "5m"

    def due(self, standing: Standing) -> Cause | None:
        """Say when a day has passed since the last request."""
        if standing.overflow:
            return "overflow"
        if standing.asked:
            return "user"
        return "cold" if standing.cooling_ms >= DAY_MS else None

    def plan(self, situation: Situation, cause: Cause) -> Plan | None:
        """Drop the calls and texts of the model that are older than seven days."""
        oldest = situation.standing.now - PURGED_AFTER
        gone = [
            item
            for item in shown_items(situation)
            if item.unit.at <= oldest and item.unit.kind != "typed"
        ]
        return make_plan(situation, self.name, cause, drop(gone, "a week old"), "older than a week")


POLICIES = (Dyad(),)
