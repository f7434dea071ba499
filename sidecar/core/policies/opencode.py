"""`opencode`: prune old tool results, then summarise in a request of its own.

Constants: opencode's compaction source, 2026 (prune protects 40,000 tokens and frees at least
20,000; 20,000 in reserve; a tail of a quarter of what is usable, 2,000 to 15,000 tokens).
"""

from dataclasses import dataclass

from sidecar.core.cutting import (
    as_text,
    beyond_newest,
    drop,
    evict,
    make_plan,
    shown_items,
    tail_start,
)
from sidecar.core.plan import Plan, Situation, Standing, Summary
from sidecar.core.prompt import Ttl
from sidecar.core.view import Cause

RESERVED = 20_000
PROTECT = 40_000
LEAST = 20_000
SKIPPED_TURNS = 2
TAIL_LEAST, TAIL_MOST = 2_000, 15_000
RESULT_MOST = 700
"""A summary sees 2,000 characters of each result."""
PROTECTED_TOOLS = frozenset({"skill"})
INSTRUCTION = 500


@dataclass(frozen=True, slots=True)
class Opencode:
    """Due at the window less 20,000 tokens."""

    name: str = "opencode"
    static_ttl: Ttl = "5m"

    def due(self, standing: Standing) -> Cause | None:
        """Say when the reserve is reached."""
        if standing.overflow:
            return "overflow"
        if standing.asked:
            return "user"
        return "budget" if standing.used >= standing.window - RESERVED else None

    def plan(self, situation: Situation, cause: Cause) -> Plan | None:
        """Prune when that is enough, else summarise everything but a short tail."""
        standing = situation.standing
        pruned = self._prune(situation, cause)
        if pruned is not None and pruned.tokens_after < standing.window - RESERVED:
            return pruned
        items = shown_items(situation)
        usable = standing.window - RESERVED
        start = tail_start(items, max(TAIL_LEAST, min(TAIL_MOST, usable // 4)))
        gone = items[:start]
        asked = Summary("fresh", as_text(gone, lambda _: RESULT_MOST) + INSTRUCTION)
        reason = f"{standing.used} tokens reach the window less {RESERVED}"
        return make_plan(situation, self.name, cause, drop(gone, "summarised"), reason, asked)

    def _prune(self, situation: Situation, cause: Cause) -> Plan | None:
        items = shown_items(situation)
        newest = items[-1].unit.turn if items else 0
        old = [item for item in items if item.unit.turn <= newest - SKIPPED_TURNS]
        beyond = [i for i in beyond_newest(old, PROTECT) if i.unit.tool not in PROTECTED_TOOLS]
        if sum(item.result for item in beyond) <= LEAST:
            return None
        reason = f"results before the newest {PROTECT} tokens of them"
        return make_plan(situation, self.name, cause, evict(beyond, "pruned"), reason)


POLICIES = (Opencode(),)
