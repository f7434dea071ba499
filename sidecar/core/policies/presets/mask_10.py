"""`mask-10`: results of tools older than ten steps become placeholders; words and calls stay.

Ten at a time: the prefix holds in between. Source: arXiv 2508.21433.
"""

from sidecar.core.dataclass import dataclass
from sidecar.core.plans.draft import Edits, draft, evicted, full
from sidecar.core.plans.guard import untouchable
from sidecar.core.plans.plan import Plan, Situation, Standing
from sidecar.core.prompt.prompt import Ttl
from sidecar.core.prompt.visibility import Cause

SHOWN = 10
"""The newest steps, whose results stay."""
BATCH = 10
"""Steps between rewrites."""


@dataclass(frozen=True, slots=True)
class Mask10:
    """Due every ten requests, and when full."""

    name: str = "mask-10"
    static_ttl: Ttl = "5m"

    def due(self, standing: Standing) -> Cause | None:
        cause = full(standing, standing.limit)
        if cause is None and standing.requests >= BATCH:
            return "pays"
        return cause

    def plan(self, situation: Situation, cause: Cause) -> Plan | None:
        shown = SHOWN if cause == "pays" else 0
        spared = untouchable(situation)
        old = (
            item
            for item in situation.items
            if item.unit.step < situation.step - shown and item.unit.part_id not in spared
        )
        masked = (evicted(item, f"older than {shown} steps") for item in old)
        changes = tuple(change for change in masked if change is not None)
        why = f"{len(changes)} results older than {shown} steps masked"
        return draft(situation, self.name, cause, Edits(changes), why) if changes else None


POLICY = Mask10()
