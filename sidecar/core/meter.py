"""What the status bar shows: one pure computation over exactly what would be sent.

The meter, the trigger, the log and the inspector all use it, so they cannot disagree.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from sidecar.core.parts import Millis
from sidecar.core.render import Region

Zone: TypeAlias = Literal["green", "yellow", "orange", "red"]
Accuracy: TypeAlias = Literal["exact", "estimated"]


@dataclass(frozen=True, slots=True)
class CacheState:
    """Whether the provider still holds the prefix; `hit_rate` is of the last response, 0 to 1."""

    warm: bool
    expires_at: Millis | None
    hit_rate: float
    last_break: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Costs:
    """USD as decimal strings; `None` where the model's price is unknown."""

    session: str | None
    last_turn: str | None
    next_request: str | None
    compact_now: str | None


@dataclass(frozen=True, slots=True)
class Meter:
    """Tokens of the window, by region. `used` is the sum of `regions`; output is apart.

    `percent` is `used / (window - reserved_output)` in per cent, with one decimal.
    `velocity` is tokens a turn over the last five; `turns_until_compaction` is `None` when the
    context is not growing.
    """

    session_id: str
    revision: int
    window: int
    used: int
    reserved_output: int
    free: int
    compact_at: int
    percent: float
    zone: Zone
    accuracy: Accuracy
    reason: str
    velocity: int
    turns_until_compaction: int | None
    regions: dict[Region, int]
    cache: CacheState
    cost: Costs
