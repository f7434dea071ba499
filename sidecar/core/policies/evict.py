"""`evict-…`: placeholders in the place of old tool results, by one of the scorers.

Only when forced or when the cache is cold anyway; the newest 40,000 tokens of results, the last
two turns, failures, protected tools and what was referred to since stay; and only when at least
20,000 tokens come free.
"""

from dataclasses import dataclass

from sidecar.core.cutting import STUB, beyond_newest, evict, make_plan, shown_items
from sidecar.core.plan import Plan, Situation, Standing
from sidecar.core.prompt import Ttl
from sidecar.core.scorers import Hybrid, Score, fifo, in_order, lru, priority, semantic, type_ttl
from sidecar.core.units import Item
from sidecar.core.view import Cause

FORCED = 0.90
PROTECT = 40_000
LEAST = 20_000
LAST_TURNS = 2
TARGET = 0.60
"""Share of the limit that a forced eviction goes down to."""


@dataclass(frozen=True, slots=True)
class Evict:
    """Evicts by `score` until a forced rewrite has its room, or everything when it is free."""

    name: str
    score: Score | Hybrid
    static_ttl: Ttl = "5m"

    def due(self, standing: Standing) -> Cause | None:
        """Say when the limit is near, or the cache has gone cold."""
        if standing.overflow:
            return "overflow"
        if standing.asked:
            return "user"
        if standing.used >= FORCED * standing.limit:
            return "budget"
        cold = (
            not standing.warm and standing.requests and standing.rates.read < standing.rates.write
        )
        return "cold" if cold and standing.used - standing.base >= LEAST else None

    def plan(self, situation: Situation, cause: Cause) -> Plan | None:
        """Evict the lowest scores."""
        standing = situation.standing
        may = [item for item in self._candidates(situation) if self._may_go(item, situation)]
        needed = standing.used - TARGET * standing.limit if cause == "budget" else standing.used
        going = []
        freed = 0
        for item in in_order(self.score, may, situation):
            if freed >= max(needed, LEAST):
                break
            going.append(item)
            freed += item.result - STUB
        if freed < LEAST:
            return None
        reason = f"{freed} tokens of {len(going)} results, by {self.name.removeprefix('evict-')}"
        return make_plan(situation, self.name, cause, evict(going, "evicted"), reason)

    def _candidates(self, situation: Situation) -> list[Item]:
        items = shown_items(situation)
        newest = items[-1].unit.turn if items else 0
        single = newest < LAST_TURNS
        beyond = beyond_newest(items, PROTECT)
        return [i for i in beyond if single or i.unit.turn <= newest - LAST_TURNS]

    def _may_go(self, item: Item, situation: Situation) -> bool:
        unit = item.unit
        if unit.failed or unit.tool in situation.protected_tools or item.result <= STUB:
            return False
        since = situation.names
        recent = situation.step - 6
        return not any(since[n].used >= recent for n in unit.call_names if n in since)


POLICIES = (
    Evict("evict-fifo", fifo),
    Evict("evict-lru", lru),
    Evict("evict-priority", priority),
    Evict("evict-ttl", type_ttl),
    Evict("evict-semantic", semantic),
    Evict("evict-hybrid", Hybrid()),
)
