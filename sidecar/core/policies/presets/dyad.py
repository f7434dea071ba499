"""`dyad`: purges raw blocks (calls, results, thinking) after seven days.

Purges on a cold cache, for free; the original purges at its start.
"""

from sidecar.core.dataclass import dataclass
from sidecar.core.plans.draft import draft, leave_out
from sidecar.core.plans.guard import untouchable
from sidecar.core.plans.plan import Plan, Situation, Standing
from sidecar.core.prompt.prompt import Ttl
from sidecar.core.prompt.visibility import Cause

# dyad, ai_messages_cleanup.ts; versions of 2026 keep them for 30 days.
DAYS = 7
AGE_MS = DAYS * 24 * 60 * 60 * 1_000
RAW = frozenset({"call", "reasoning", "opaque"})


@dataclass(frozen=True, slots=True)
class Dyad:
    """Due as a turn opens on a cold cache."""

    name: str = "dyad"
    static_ttl: Ttl = "5m"

    def due(self, standing: Standing) -> Cause | None:
        return "cold" if standing.opens_turn and not standing.warm else None

    def plan(self, situation: Situation, cause: Cause) -> Plan | None:
        """Blocks of unknown age stay."""
        before = situation.standing.now - AGE_MS
        old = [i for i in situation.items if i.unit.kind in RAW and 0 < i.unit.at < before]
        edits = leave_out(old, untouchable(situation), f"older than {DAYS} days")
        why = f"{len(edits.changes)} raw blocks older than {DAYS} days purged"
        return draft(situation, self.name, cause, edits, why)


POLICY = Dyad()
