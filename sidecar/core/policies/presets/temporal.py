"""`temporal`: after 250 messages continues as new, with a summary of two sentences.

From a sample with short conversations: a window may fill before.
"""

from sidecar.core.dataclass import dataclass
from sidecar.core.plans.draft import draft, forced, leave_out, message_count
from sidecar.core.plans.guard import untouchable
from sidecar.core.plans.plan import Plan, Situation, Standing, Summary
from sidecar.core.prompt.prompt import Ttl
from sidecar.core.prompt.visibility import Cause

# temporal-ai-agent, workflows/agent_goal_workflow.py: MAX_TURNS_BEFORE_CONTINUE.
MESSAGES = 250
SUMMARY_TOKENS = 150
"""Two sentences."""
PROMPT = """\
Summarise this conversation in two sentences of plain text: what it is about and what was done, and
what comes next. No headings, no list, no comment of your own."""
"""What prompt_summary_with_history asks for; theirs is wrapped in JSON, which nobody here reads."""


@dataclass(frozen=True, slots=True)
class Temporal:
    """Due at 250 messages."""

    name: str = "temporal"
    static_ttl: Ttl = "5m"

    def due(self, standing: Standing) -> Cause | None:
        return forced(standing) or ("budget" if standing.messages >= MESSAGES else None)

    def plan(self, situation: Situation, cause: Cause) -> Plan | None:
        items = situation.items
        count = message_count(items)
        if cause in ("budget", "idle") and count < MESSAGES:
            return None
        edits = leave_out(items, untouchable(situation), "continued as new")
        summary = Summary(
            "fresh", sum(item.tokens for item in items), SUMMARY_TOKENS, prompt=PROMPT
        )
        why = f"{count} messages, continued as new with two sentences"
        return draft(situation, self.name, cause, edits, why, summary=summary)


POLICY = Temporal()
