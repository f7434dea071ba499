"""`openmanus`: first in, first out: the newest 100 messages.

Constant: OpenManus, schema.py `Memory.max_messages = 100`. It rewrites the prefix at every
message once it is full, which is what a prompt cache suffers from most.
"""

from dataclasses import dataclass

from sidecar.core.cutting import drop, make_plan, shown_items
from sidecar.core.parts import MessageId
from sidecar.core.plan import Plan, Situation, Standing
from sidecar.core.prompt import Ttl
from sidecar.core.view import Cause

MESSAGES = 100


@dataclass(frozen=True, slots=True)
class Openmanus:
    """Due above 100 messages."""

    name: str = "openmanus"
    static_ttl: Ttl = "5m"

    def due(self, standing: Standing) -> Cause | None:
        """Say when there may be more messages than are kept."""
        if standing.overflow:
            return "overflow"
        if standing.asked:
            return "user"
        return "budget" if standing.messages > MESSAGES else None

    def plan(self, situation: Situation, cause: Cause) -> Plan | None:
        """Drop the oldest messages; a call's message goes with its results'."""
        items = shown_items(situation)
        left = MESSAGES
        seen: set[tuple[MessageId, bool]] = set()
        gone = []
        for item in reversed(items):
            answered = item.unit.kind == "call"
            for message in {(item.unit.message_id, False), (item.unit.message_id, answered)}:
                left -= message not in seen
                seen.add(message)
            if left < 0:
                gone.append(item)
        reason = f"the newest {MESSAGES} messages stay"
        return make_plan(situation, self.name, cause, drop(gone[::-1], "first in"), reason)


POLICIES = (Openmanus(),)
