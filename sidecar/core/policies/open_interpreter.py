"""`open-interpreter`: each output cut to 2,800 tokens before it is first sent; history whole.

Constant: Open Interpreter, `max_output = 2800`.
"""

from dataclasses import dataclass

from sidecar.core.plan import Plan, Situation, Standing
from sidecar.core.prompt import Ttl
from sidecar.core.rebuild import shorten_arrivals
from sidecar.core.view import Cause

OUTPUT = 2_800


@dataclass(frozen=True, slots=True)
class OpenInterpreter:
    """Due when more than 2,800 tokens have just come; a sent prefix is never touched."""

    name: str = "open-interpreter"
    static_ttl: Ttl = "5m"

    def due(self, standing: Standing) -> Cause | None:
        """Say when something long has come."""
        return "budget" if standing.newest > OUTPUT else None

    def plan(self, situation: Situation, cause: Cause) -> Plan | None:
        """Cut what is new and long."""
        del cause
        return shorten_arrivals(situation, OUTPUT, self.name)


POLICIES = (OpenInterpreter(),)
