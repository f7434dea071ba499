"""`picoclaw`: at 90 per cent the oldest half of the turns goes, without a summary."""

from dataclasses import dataclass

from sidecar.core.cutting import drop, make_plan, shown_items
from sidecar.core.plan import Plan, Situation, Standing
from sidecar.core.prompt import Ttl
from sidecar.core.view import Cause

THRESHOLD = 0.90


@dataclass(frozen=True, slots=True)
class Picoclaw:
    """Due at 90 per cent of the limit; turns are never split, but a single one is, at a step."""

    name: str = "picoclaw"
    static_ttl: Ttl = "5m"

    def due(self, standing: Standing) -> Cause | None:
        """Say when the limit is near."""
        if standing.overflow:
            return "overflow"
        if standing.asked:
            return "user"
        return "budget" if standing.used >= THRESHOLD * standing.limit else None

    def plan(self, situation: Situation, cause: Cause) -> Plan | None:
        """Drop the oldest half."""
        items = shown_items(situation)
        turns = sorted({item.unit.turn for item in items})
        if len(turns) > 1:
            old = set(turns[: max(1, len(turns) // 2)])
            gone = [item for item in items if item.unit.turn in old]
        else:
            steps = sorted({item.unit.step for item in items})
            early = set(steps[: len(steps) // 2])
            gone = [i for i in items if i.unit.step in early and i.unit.kind != "typed"]
        reason = "the oldest half of the turns"
        return make_plan(situation, self.name, cause, drop(gone, "oldest half"), reason)


POLICIES = (Picoclaw(),)
