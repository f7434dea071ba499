"""`claude-code`: a full summary near the limit, asked for on the warm prefix; and microcompact.

Constants: 20,000 tokens of output reserve and 13,000 more (recorded compactions at 155,000 to
167,000 of 200,000); microcompact clears results but the newest three once 100,000 tokens are
used, like the API's `clear_tool_uses`. The five files that it reads again after a summary are
not modelled.
"""

from dataclasses import dataclass

from sidecar.core.cutting import drop, evict, is_result, make_plan, shown_items, untouchable
from sidecar.core.plan import Plan, Situation, Standing, Summary
from sidecar.core.prompt import Ttl
from sidecar.core.view import Cause

RESERVED = 33_000
KEPT_RESULTS = 3
CLEAR_AT = 100_000


@dataclass(frozen=True, slots=True)
class ClaudeCode:
    """Due at the window less 33,000 tokens."""

    name: str = "claude-code"
    static_ttl: Ttl = "5m"

    def due(self, standing: Standing) -> Cause | None:
        """Say when the reserve is reached."""
        if standing.overflow:
            return "overflow"
        if standing.asked:
            return "user"
        return "budget" if standing.used >= standing.window - RESERVED else None

    def plan(self, situation: Situation, cause: Cause) -> Plan | None:
        """Summarise everything but the newest steps."""
        used = situation.standing.used
        keep = untouchable(situation)
        gone = [i for i in shown_items(situation) if i.unit.part_id not in keep]
        reason = f"{used} tokens reach the window less {RESERVED}"
        asked = Summary("extension", used)
        return make_plan(situation, self.name, cause, drop(gone, "summarised"), reason, asked)


@dataclass(frozen=True, slots=True)
class Microcompact:
    """Clears old results at 100,000 tokens or half the window; then as `claude-code`."""

    name: str = "claude-code-microcompact"
    static_ttl: Ttl = "5m"
    then: ClaudeCode = ClaudeCode()

    def due(self, standing: Standing) -> Cause | None:
        """Say when results may be cleared, or a summary is due."""
        if (cause := self.then.due(standing)) is not None:
            return cause
        grown = standing.used - standing.base
        clear_at = min(CLEAR_AT, standing.window // 2)
        return "budget" if standing.used >= clear_at and grown >= clear_at // 10 else None

    def plan(self, situation: Situation, cause: Cause) -> Plan | None:
        """Clear all but the newest three results; summarise when that is not enough."""
        standing = situation.standing
        results = [item for item in shown_items(situation) if is_result(item)]
        reason = f"all results but the newest {KEPT_RESULTS}"
        cleared = evict(results[:-KEPT_RESULTS], "cleared")
        plan = make_plan(situation, self.name, cause, cleared, reason)
        if self.then.due(standing) is None:
            return plan
        if plan is not None and plan.tokens_after < standing.window - RESERVED:
            return plan
        return self.then.plan(situation, cause)


POLICIES = (ClaudeCode(), Microcompact())
