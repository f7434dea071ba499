"""`gemini`: at 70 per cent, the oldest 70 per cent become a state snapshot.

Constants: gemini-cli, chatCompressionService, 2026: two calls make and check the snapshot; the
cut is moved to a typed message.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sidecar.core.cutting import drop, make_plan, shown_items
from sidecar.core.plan import Plan, Situation, Standing, Summary
from sidecar.core.prompt import Ttl
from sidecar.core.units import Item
from sidecar.core.view import Cause

THRESHOLD = 0.70
COMPRESSED = 0.70
CALLS = 2


@dataclass(frozen=True, slots=True)
class Gemini:
    """Due at 70 per cent of the limit."""

    name: str = "gemini"
    static_ttl: Ttl = "5m"

    def due(self, standing: Standing) -> Cause | None:
        """Say when the threshold is passed."""
        if standing.overflow:
            return "overflow"
        if standing.asked:
            return "user"
        return "budget" if standing.used >= THRESHOLD * standing.limit else None

    def plan(self, situation: Situation, cause: Cause) -> Plan | None:
        """Summarise the oldest 70 per cent."""
        items = shown_items(situation)
        target = COMPRESSED * sum(item.tokens for item in items)
        end = _cut(items, target)
        gone = items[:end]
        asked = Summary("fresh", sum(item.tokens for item in gone), calls=CALLS)
        reason = f"{situation.standing.used} tokens pass 70 per cent of the limit"
        return make_plan(situation, self.name, cause, drop(gone, "in the snapshot"), reason, asked)


def _cut(items: Sequence[Item], target: float) -> int:
    """Cut at the first typed message after the target, else between steps at the target."""
    used = 0
    reached = len(items)
    for index, item in enumerate(items):
        if used >= target:
            reached = index
            break
        used += item.tokens
    for index in range(reached, len(items)):
        if items[index].unit.kind == "typed":
            return index
    while 0 < reached < len(items) and items[reached].unit.step == items[reached - 1].unit.step:
        reached -= 1
    return reached


POLICIES = (Gemini(),)
