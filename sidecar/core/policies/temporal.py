"""`temporal`: after 250 messages the workflow continues as new, with two sentences.

Constant: Temporal's AI agent sample, `MAX_TURNS_BEFORE_CONTINUE = 250`.
"""

from dataclasses import dataclass

from sidecar.core.cutting import drop, make_plan, shown_items
from sidecar.core.plan import Plan, Situation, Standing, Summary
from sidecar.core.prompt import Ttl
from sidecar.core.view import Cause

MESSAGES = 250
SENTENCES = 150
"""Tokens of two sentences."""


@dataclass(frozen=True, slots=True)
class Temporal:
    """Due when 250 messages have come since the last start."""

    name: str = "temporal"
    static_ttl: Ttl = "5m"

    def due(self, standing: Standing) -> Cause | None:
        """Say when there may be enough messages: two a request, since the last rewrite."""
        if standing.overflow:
            return "overflow"
        if standing.asked:
            return "user"
        return (
            "budget" if standing.messages > MESSAGES and standing.requests * 2 >= MESSAGES else None
        )

    def plan(self, situation: Situation, cause: Cause) -> Plan | None:
        """Drop everything but the newest."""
        used = situation.standing.used
        asked = Summary("fresh", used, SENTENCES)
        gone = drop(shown_items(situation), "continued as new")
        return make_plan(situation, self.name, cause, gone, f"{MESSAGES} messages", asked)


POLICIES = (Temporal(),)
