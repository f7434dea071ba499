"""`openmanus`: first in, first out; the newest 100 messages stay.

Beyond, nearly every request breaks the prefix.
"""

from sidecar.core.dataclass import dataclass
from sidecar.core.plans.draft import draft, forced, leave_out, shown_items
from sidecar.core.plans.guard import untouchable
from sidecar.core.plans.plan import Plan, Situation, Standing
from sidecar.core.prompt.prompt import Ttl
from sidecar.core.prompt.visibility import Cause

# OpenManus, app/schema.py, class Memory: max_messages.
MESSAGES = 100


@dataclass(frozen=True, slots=True)
class OpenManus:
    """Due above 100 messages, whatever the tokens."""

    name: str = "openmanus"
    static_ttl: Ttl = "5m"

    def due(self, standing: Standing) -> Cause | None:
        return forced(standing) or ("budget" if standing.messages > MESSAGES else None)

    def plan(self, situation: Situation, cause: Cause) -> Plan | None:
        sizes: dict[str, int] = {}
        for item in shown_items(situation.items):
            unit = item.unit
            # A message of results follows each message with calls.
            sizes[unit.message_id] = max(
                sizes.get(unit.message_id, 1), 2 if unit.kind == "call" else 1
            )
        count = sum(sizes.values())
        most = MESSAGES if cause in ("budget", "idle") else min(MESSAGES, count // 2)
        over: set[str] = set()
        left = count
        for message_id, size in sizes.items():
            if left <= most:
                break
            over.add(message_id)
            left -= size
        if not over:
            return None
        items = situation.items
        last = max(i for i, item in enumerate(items) if item.unit.message_id in over)
        edits = leave_out(items[: last + 1], untouchable(situation), "among the oldest messages")
        why = f"{count} messages, the newest {left} stay"
        return draft(situation, self.name, cause, edits, why)


POLICY = OpenManus()
