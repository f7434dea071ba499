"""`picoclaw`: near the limit the oldest half of the turns goes, whole turns and no summary.

A history of a single turn, which has no safe place to cut, loses all but its newest steps; so
does one whose older turns are too small to matter.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sidecar.core.draft import draft, full, leave_out, shown_items
from sidecar.core.guard import NOTES, untouchable
from sidecar.core.plan import Plan, Situation, Standing
from sidecar.core.prompt import Ttl
from sidecar.core.units import Item
from sidecar.core.view import Cause

# PicoClaw, pkg/agent, forceCompression: half of the turns; its budget check counts the answer's
# reserve, which comes to about 90 per cent of the window.
TRIGGER = 0.90
DROPPED = 0.5


@dataclass(frozen=True, slots=True)
class PicoClaw:
    """Due when 90 per cent of the window are full."""

    name: str = "picoclaw"
    static_ttl: Ttl = "5m"

    def due(self, standing: Standing) -> Cause | None:
        """Say when the limit is near."""
        return full(standing, min(standing.limit, round(TRIGGER * standing.window)))

    def plan(self, situation: Situation, cause: Cause) -> Plan | None:
        """Drop the older half of the turns in view; all but the newest steps if that is no gain."""
        items = situation.items
        turns = sorted({item.unit.turn for item in shown_items(items)})
        spared = untouchable(situation)
        going = int(DROPPED * len(turns))
        if going:
            edits = leave_out(items[: _end(items, turns[going - 1])], spared, "an old turn")
            why = f"the oldest {going} of {len(turns)} turns dropped"
            plan = draft(situation, self.name, cause, edits, why)
            if plan is not None:
                return plan
        edits = leave_out(items, spared, "a turn that is too long")
        why = f"no whole turn to drop among {len(turns)}, all but the newest steps dropped"
        return draft(situation, self.name, cause, edits, why)


def _end(items: Sequence[Item], turn: int) -> int:
    """Give the index after the last part of a turn."""
    places = (
        index
        for index, item in enumerate(items)
        if item.unit.turn <= turn and item.unit.kind not in NOTES
    )
    return max(places) + 1


POLICIES = (PicoClaw(),)
