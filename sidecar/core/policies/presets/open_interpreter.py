"""`open-interpreter`: cuts each result to 2,800 tokens on arrival; the history stays.

The cache never breaks; a full window has no remedy.
"""

from sidecar.core.dataclass import dataclass
from sidecar.core.plans.draft import Edits, cut_to, draft
from sidecar.core.plans.plan import Plan, Situation, Standing
from sidecar.core.prompt.prompt import Ttl
from sidecar.core.prompt.visibility import Cause

# Open Interpreter, interpreter/core/utils/truncate_output.py: 2,800, half from each end. The
# original counts characters; the presets compare policies by tokens.
OUTPUT_TOKENS = 2_800


@dataclass(frozen=True, slots=True)
class OpenInterpreter:
    """Due when new content exceeds one result's limit."""

    name: str = "open-interpreter"
    static_ttl: Ttl = "5m"

    def due(self, standing: Standing) -> Cause | None:
        return "budget" if standing.newest > OUTPUT_TOKENS else None

    def plan(self, situation: Situation, cause: Cause) -> Plan | None:
        changes = []
        for item in situation.items[situation.sent :]:
            unit = item.unit
            if unit.kind != "call" or item.shown is not None or unit.running:
                continue
            if item.pinned or unit.part_id in situation.preserved:
                continue
            reason = f"a result of {item.result} tokens, {OUTPUT_TOKENS} at most"
            change = cut_to(item, OUTPUT_TOKENS, "both", reason)
            if change is not None:
                changes.append(change)
        why = f"{len(changes)} new results cut to {OUTPUT_TOKENS} tokens before they are sent"
        return draft(situation, self.name, cause, Edits(tuple(changes)), why)


POLICY = OpenInterpreter()
