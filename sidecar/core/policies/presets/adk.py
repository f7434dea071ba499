"""`adk`: every three turns are summarised, large results become artifacts.

The turn before is summarised again. An artifact: one line with an id for `recall`.
"""

from collections.abc import Sequence
from dataclasses import replace

from sidecar.core.dataclass import dataclass
from sidecar.core.ledger.units import Item
from sidecar.core.plans.draft import Edits, draft, evicted, forced, leave_out, shown_items
from sidecar.core.plans.guard import NOTES, untouchable
from sidecar.core.plans.plan import Change, Plan, Situation, Standing, Summary
from sidecar.core.policies.presets.picoclaw import newest_messages
from sidecar.core.prompt.prompt import Ttl
from sidecar.core.prompt.visibility import Cause, Dropped
from sidecar.core.summaries.model_summary import transcript

# Agent Development Kit, docs/context/compaction.md and src/google/adk/apps/compaction.py, 2026.
INTERVAL = 3
"""compaction_interval: so many new invocations bring a compaction."""
OVERLAP = 1
"""overlap_size: so many invocations before them are summarised again."""
RETAINED = 5
"""event_retention_size: events that stay when the token threshold, here what may be sent, is met;
a message is an event."""
ARTIFACT_TOKENS = 2_000
"""Theirs has no number for what is large: each tool decides what it saves as an artifact."""
OVERLAP_TOKENS = 2_000
"""What of the turn before is quoted, at most."""
PROMPT = """\
Summarise this conversation between a user and an agent. Dwell on what is essential: what was
found out and decided, and which questions and tasks are still open. Be brief."""
"""What the default template of llm_event_summarizer.py asks for; theirs reads no calls."""


@dataclass(frozen=True, slots=True)
class Adk:
    """Due as a turn opens, mostly for artifacts only, and when full."""

    name: str = "adk"
    static_ttl: Ttl = "5m"

    def due(self, standing: Standing) -> Cause | None:
        cause = forced(standing)
        if cause is not None:
            return cause
        over = standing.opens_turn and standing.requests > 0
        return "budget" if over or standing.used >= standing.limit else None

    def plan(self, situation: Situation, cause: Cause) -> Plan | None:
        full = cause in ("user", "overflow") or situation.standing.used >= situation.standing.limit
        if full:
            return self._by_tokens(situation, cause)
        new = new_turns(situation.items)
        if len(new) >= INTERVAL:
            plan = self._by_turns(situation, cause, new)
            if plan is not None:
                return plan
        stored = artifacts(situation, new)
        why = f"{len(stored)} large results of earlier turns are artifacts now"
        return draft(situation, self.name, cause, Edits(stored), why)

    def _by_tokens(self, situation: Situation, cause: Cause) -> Plan | None:
        items = situation.items
        head = items[: newest_messages(items, RETAINED)]
        edits = leave_out(head, untouchable(situation), "summarised")
        summary = Summary("fresh", _text(head), prompt=PROMPT)
        why = f"all but the newest {RETAINED} events summarised"
        return draft(situation, self.name, cause, edits, why, summary=summary)

    def _by_turns(self, situation: Situation, cause: Cause, new: Sequence[int]) -> Plan | None:
        items = [item for item in situation.items if item.unit.kind not in NOTES]
        old = [item for item in items if item.unit.turn <= new[-1]]
        edits = leave_out(old, untouchable(situation), "summarised")
        before = sorted({i.unit.turn for i in items if i.unit.turn < new[0]})[-OVERLAP:]
        again = [
            replace(i, shown=None, tokens=i.tokens_whole) for i in items if i.unit.turn in before
        ]
        quoted = transcript(again, OVERLAP_TOKENS) if again else ""
        told = f"The turn before, summarised already, is part of it:\n{quoted}" if again else ""
        read = _text(old) + min(OVERLAP_TOKENS, _text(again))
        prompt = "\n".join(filter(None, (PROMPT, told)))
        summary = Summary("fresh", read, prompt=prompt)
        why = f"{len(new)} new turns summarised, {len(before)} before them once more"
        return draft(situation, self.name, cause, edits, why, summary=summary)


def new_turns(items: Sequence[Item]) -> list[int]:
    """Gives finished turns not yet summarised."""
    words = [item for item in items if item.unit.kind in ("typed", "prose", "call")]
    last = max((i.unit.turn for i in words if isinstance(i.shown, Dropped)), default=-1)
    newest = max((item.unit.turn for item in words), default=0)
    return sorted({i.unit.turn for i in shown_items(words) if last < i.unit.turn < newest})


def artifacts(situation: Situation, turns: Sequence[int]) -> tuple[Change, ...]:
    spared = untouchable(situation)
    large = (
        item
        for item in situation.items
        if item.unit.turn in turns
        and item.unit.kind == "call"
        and item.shown is None
        and item.result >= ARTIFACT_TOKENS
        and item.unit.part_id not in spared
        and item.unit.tool not in situation.protected_tools
    )
    made = (evicted(item, "an artifact, loaded on demand") for item in large)
    return tuple(change for change in made if change is not None)


def _text(items: Sequence[Item]) -> int:
    return sum(i.tokens for i in items if i.unit.kind in ("typed", "prose"))


POLICY = Adk()
