"""`opencode`: summarises all but a short tail.

The original also prunes old results after each turn, if set.
"""

from collections.abc import Sequence

from sidecar.core.dataclass import dataclass
from sidecar.core.ledger.units import Item
from sidecar.core.plans.draft import below, draft, full, leave_out, tail_start
from sidecar.core.plans.guard import untouchable
from sidecar.core.plans.plan import Plan, Situation, Standing, Summary
from sidecar.core.prompt.prompt import Ttl
from sidecar.core.prompt.visibility import Cause, Dropped

# opencode, packages/opencode/src/session/compaction.ts and overflow.ts, read 2026-09.
RESERVE = 20_000
TAIL_SHARE = 0.25
TAIL_LEAST = 2_000
TAIL_MOST = 15_000
RESULT_CHARS = 2_000
INSTRUCTION_TOKENS = 158
"""The summariser's own system prompt, as measured."""
PROMPT = """\
Write what another agent needs to carry this work on, under these headings and in this order:
## Goal: what the user wants to reach.
## Instructions: what the user asked for along the way that still holds; name a plan or a
specification if there is one.
## Discoveries: what was found out that the next agent would otherwise have to find out again.
## Accomplished: what is done, what is being done now, and what is left.
## Relevant files / directories: every path that was read, changed or created and matters for what
is left; a folder where all that is in it matters."""
"""The five headings of compaction.ts in 1.x; 2.0 has others of the same sense."""


@dataclass(frozen=True, slots=True)
class Opencode:
    """Due at the window less the output reserve, at least 20,000 tokens."""

    name: str = "opencode"
    static_ttl: Ttl = "5m"

    def due(self, standing: Standing) -> Cause | None:
        return full(standing, below(standing, RESERVE))

    def plan(self, situation: Situation, cause: Cause) -> Plan | None:
        at = below(situation.standing, RESERVE)
        items = situation.items
        room = min(TAIL_MOST, max(TAIL_LEAST, round(TAIL_SHARE * at)))
        start = tail_start(items, room)
        head = items[:start]
        edits = leave_out(head, untouchable(situation), "summarised")
        summary = Summary("fresh", transcript_tokens(head), prompt=PROMPT)
        why = f"all but a tail of {room} tokens summarised, the trigger is {at}"
        return draft(situation, self.name, cause, edits, why, summary=summary)


def transcript_tokens(items: Sequence[Item]) -> int:
    """Counts a summariser's input: the conversation, long results cut."""
    return INSTRUCTION_TOKENS + sum(map(_as_text, items))


def _as_text(item: Item) -> int:
    length = len(item.unit.text)
    if item.unit.kind != "call" or item.shown is not None or length <= RESULT_CHARS:
        return 0 if isinstance(item.shown, Dropped) else item.tokens
    return item.call + item.result * RESULT_CHARS // length


POLICY = Opencode()
