"""`codex`: at 90 per cent a summary of all, with the newest 20,000 tokens of typed messages.

Constants: codex-rs compact.rs, 2026 (COMPACT_USER_MESSAGE_MAX_TOKENS 20,000; limit 90 per cent).
"""

from dataclasses import dataclass

from sidecar.core.cutting import drop, make_plan, shown_items
from sidecar.core.plan import Plan, Situation, Standing, Summary
from sidecar.core.prompt import Ttl
from sidecar.core.view import Cause

THRESHOLD = 0.90
TYPED_MOST = 20_000


@dataclass(frozen=True, slots=True)
class Codex:
    """Due at 90 per cent of the window."""

    name: str = "codex"
    static_ttl: Ttl = "5m"

    def due(self, standing: Standing) -> Cause | None:
        """Say when the limit is reached."""
        if standing.overflow:
            return "overflow"
        if standing.asked:
            return "user"
        at = min(THRESHOLD * standing.window, standing.limit)
        return "budget" if standing.used >= at else None

    def plan(self, situation: Situation, cause: Cause) -> Plan | None:
        """Keep typed messages, newest first, and nothing else."""
        items = shown_items(situation)
        room = TYPED_MOST
        gone = []
        for item in reversed(items):
            if item.unit.kind == "typed" and item.tokens <= room:
                room -= item.tokens
            else:
                gone.append(item)
        used = situation.standing.used
        asked = Summary("fresh", used)
        reason = f"{used} tokens reach 90 per cent of the window"
        return make_plan(situation, self.name, cause, drop(gone, "summarised"), reason, asked)


POLICIES = (Codex(),)
