"""`manual`: people compact, fork and hand off (as in Amp)."""

from sidecar.core.dataclass import dataclass
from sidecar.core.plans.plan import Plan, Situation, Standing
from sidecar.core.prompt.prompt import Ttl
from sidecar.core.prompt.visibility import Cause

MANUAL = "manual"


@dataclass(frozen=True, slots=True)
class Manual:
    """Never due; compaction by hand uses the default policy."""

    name: str = MANUAL
    static_ttl: Ttl = "5m"

    def due(self, standing: Standing) -> Cause | None:
        del standing
        return None

    def plan(self, situation: Situation, cause: Cause) -> Plan | None:
        del situation, cause
        return None


POLICIES = (Manual(),)
