"""Warns of quotas nearly used up."""

from sidecar.config.retention import Retention
from sidecar.core.dataclass import dataclass
from sidecar.core.files.tree import MIB

WARN_AT = 0.8
"""Share of a quota, for a warning."""


@dataclass(frozen=True, slots=True)
class Quota:
    """A quota nearly used up: `used` of `bound` MiB, and advice."""

    name: str
    message: str
    action: str
    used: float
    bound: int


def near_quotas(rules: Retention, outputs: int, sessions: int) -> dict[str, Quota]:
    """Returns nearly used quotas by rule; `outputs` and `sessions` are bytes."""
    kinds = (
        (
            "outputs_mib",
            "Complete outputs of tools take",
            outputs,
            rules.outputs_mib,
            "the oldest of sessions that are not in use go; what was shown of them stays",
        ),
        (
            "sessions_mib",
            "Sessions take",
            sessions,
            rules.sessions_mib,
            "those that were used longest ago are archived",
        ),
    )
    return {
        name: Quota(
            f"retention.{name}",
            f"{what} {used / MIB:.1f} MiB of the {bound} that retention.{name} allows. Beyond "
            f"that, {then}.",
            f"See `sidecar prune --dry-run`, or set retention.{name} higher.",
            used / MIB,
            bound,
        )
        for name, what, used, bound, then in kinds
        if is_near(used, bound)
    }


def is_near(used: int, bound: int) -> bool:
    """Compares `used` bytes with `bound` MiB."""
    return bool(bound) and used > bound * MIB * WARN_AT
