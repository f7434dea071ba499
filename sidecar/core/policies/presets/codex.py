"""`codex`: at 90 per cent of the window a summary, and typed messages verbatim.

Without tools, the summary's request misses the cache.
"""

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import PartId
from sidecar.core.plans.draft import Edits, cut_to, draft, full, leave_out
from sidecar.core.plans.guard import untouchable
from sidecar.core.plans.plan import Change, Plan, Situation, Standing, Summary
from sidecar.core.prompt.prompt import Ttl
from sidecar.core.prompt.visibility import Cause, Dropped

# codex, codex-rs/core/src/compact.rs and protocol/src/openai_models.rs, read 2026-08.
TRIGGER = 0.90
TYPED_TOKENS = 20_000
"""COMPACT_USER_MESSAGE_MAX_TOKENS."""
PROMPT = """\
Make a checkpoint of this work: a handoff summary for another language model that will resume it.
It sees your summary and what the user typed, and nothing else. Say
- how far the work is, and which decisions were made;
- what constrains it, and what the user prefers;
- what is left to do, as clear next steps;
- which data, examples and references are needed to go on.
Keep it short and ordered, so that the other model can go on without asking."""
"""The four points of templates/compact/prompt.md."""


@dataclass(frozen=True, slots=True)
class Codex:
    """Due at 90 per cent of the window."""

    name: str = "codex"
    static_ttl: Ttl = "5m"

    def due(self, standing: Standing) -> Cause | None:
        return full(standing, min(standing.limit, round(TRIGGER * standing.window)))

    def plan(self, situation: Situation, cause: Cause) -> Plan | None:
        used = situation.standing.used
        kept, cut = typed(situation)
        spared = untouchable(situation) | kept
        gone = leave_out(situation.items, spared | {change.part_id for change in cut}, "summarised")
        edits = Edits(gone.changes + cut, gone.retired)
        why = f"all summarised but {len(kept)} typed messages, at {TRIGGER:.0%} of the window"
        summary = Summary("fresh", used, prompt=PROMPT)
        return draft(situation, self.name, cause, edits, why, summary=summary)


def typed(situation: Situation) -> tuple[frozenset[PartId], tuple[Change, ...]]:
    """Gives typed parts kept whole, newest first, and a change cutting one more."""
    spared = untouchable(situation)
    room = TYPED_TOKENS
    kept: set[PartId] = set()
    for item in reversed(situation.items):
        unit = item.unit
        if unit.kind != "typed" or isinstance(item.shown, Dropped):
            continue
        if item.tokens > room and unit.part_id not in spared:
            change = cut_to(item, room, "both", "the oldest typed message that is kept, cut")
            return frozenset(kept), () if change is None else (change,)
        room = max(0, room - item.tokens)
        kept.add(unit.part_id)
    return frozenset(kept), ()


POLICY = Codex()
