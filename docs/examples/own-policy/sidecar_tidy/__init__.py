"""`tidy`: from half of the window on, results of tools go, but for the newest."""

from dataclasses import dataclass

from sidecar.core.plans.draft import draft, full, leave_out, tail_start
from sidecar.core.plans.guard import untouchable
from sidecar.core.plans.plan import Plan, Situation, Standing
from sidecar.core.prompt.prompt import Ttl
from sidecar.core.prompt.visibility import Cause

TRIGGER = 0.50
KEPT = 0.10
"""Share of the window that stays as it is."""


@dataclass(frozen=True, slots=True)
class Tidy:
    """A frozen value: the same situation gives the same plan."""

    name: str = "tidy"
    static_ttl: Ttl = "5m"

    def due(self, standing: Standing) -> Cause | None:
        """`budget` at half of the window, or a forced cause."""
        return full(standing, min(standing.limit, round(TRIGGER * standing.window)))

    def plan(self, situation: Situation, cause: Cause) -> Plan | None:
        """Leave out results before the newest tenth of the window."""
        room = round(KEPT * situation.standing.window)
        old = situation.items[: tail_start(situation.items, room)]
        calls = [item for item in old if item.unit.kind == "call"]
        edits = leave_out(calls, untouchable(situation), "tidied away")
        return draft(
            situation, self.name, cause, edits, f"{len(edits.changes)} results tidied away"
        )


POLICY = Tidy()
