"""The `retention` settings: age and size of stored data."""

from sidecar.config.readers import count
from sidecar.config.setting import setting
from sidecar.core.dataclass import dataclass

HOUR = 3_600_000
"""In milliseconds."""
DAY = 24 * HOUR


@dataclass(frozen=True, slots=True)
class Retention:
    """Limits for the hourly sweep; 0 disables."""

    outputs_days: int = setting(
        7,
        count(0, 36_500),
        "days after its call at which a complete output of a tool goes, where no live session "
        "refers to it; 0 is never",
        applies="turn",
        own=True,
    )
    outputs_mib: int = setting(
        0,
        count(0, 100_000_000),
        "what complete outputs may take together, the oldest go first; 0 is no bound",
        applies="turn",
        own=True,
    )
    archive_days: int = setting(
        0,
        count(0, 36_500),
        "days without use after which a session is archived; 0 is never",
        applies="turn",
        own=True,
    )
    sessions_mib: int = setting(
        0,
        count(0, 100_000_000),
        "what sessions may take in the store; beyond it, those used longest ago are archived; 0 "
        "is no bound",
        applies="turn",
        own=True,
    )
