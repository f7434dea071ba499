"""Measures the next prompt exactly, for the status bar."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Millis
from sidecar.core.prompt.budget import (
    BEFORE,
    ZONE_STARTS,
    Budget,
    Zone,
    ZoneStarts,
    is_spike,
    over_soft_limit,
    shares,
    spread,
    turns_until,
    velocity,
    zone,
)
from sidecar.core.prompt.render import Region

Accuracy: TypeAlias = Literal["exact", "estimated"]


@dataclass(frozen=True, slots=True)
class CacheState:
    """The provider's cache; `hit_rate`: 0 to 1, of the last response."""

    warm: bool
    expires_at: Millis | None
    hit_rate: float
    last_break: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Costs:
    """Costs in USD; `None` if the price is unknown."""

    session: str | None
    last_turn: str | None
    next_request: str | None
    compact_now: str | None


@dataclass(frozen=True, slots=True)
class Meter:
    """Tokens by region; `used` sums `regions`, without output.

    `percent`: `used / (window - reserved_output)`, one decimal. The policy rewrites at
    `compact_at`. `velocity`: tokens a turn and `burn_rate`: USD an hour, over the last five turns.
    `spike`: the last turn added three times the usual.
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
    spike: bool
    turns_until_compaction: int | None
    burn_rate: str | None
    over_soft_limit: tuple[Region, ...]
    regions: dict[Region, int]
    tools_by_server: dict[str, int]
    cache: CacheState
    cost: Costs
    zones: ZoneStarts = ZONE_STARTS

    @property
    def limit(self) -> int:
        return self.window - self.reserved_output


@dataclass(frozen=True, slots=True)
class Size:
    """A prompt's tokens in total, with raw estimates for its regions.

    `accuracy`: `exact` if the provider reported this very prompt. `tools`: (MCP server or "", raw
    estimate). `guessed`: tokens that no provider has counted. `messages`: number rendered, without
    notes, before neighbours are joined. `static`: tokens before the history.
    """

    total: int
    raw: Mapping[Region, int]
    accuracy: Accuracy
    reason: str
    tools: tuple[tuple[str, int], ...] = ()
    guessed: int = 0
    messages: int = 0
    static: int = 0


def measure(  # noqa: PLR0913 - all that the meter is made of, once, by name
    *,
    session_id: str,
    revision: int,
    room: Budget,
    compact_at: int,
    size: Size,
    turn_sizes: Sequence[int],
    burn_rate: str | None,
    cache: CacheState,
    cost: Costs,
    zones: ZoneStarts = ZONE_STARTS,
) -> Meter:
    regions = spread(size.raw, size.total)
    begun = sum(regions[region] for region in BEFORE)
    growth = velocity((begun, *turn_sizes)) if turn_sizes else 0
    by_server: dict[str, int] = {}
    told = shares([raw for _, raw in size.tools], regions["tools"])
    for (server, _), tokens in zip(size.tools, told, strict=True):
        if server:
            by_server[server] = by_server.get(server, 0) + tokens
    return Meter(
        session_id=session_id,
        revision=revision,
        window=room.window,
        used=size.total,
        reserved_output=room.reserved_output,
        free=max(0, room.limit - size.total),
        compact_at=compact_at,
        percent=round(100 * size.total / room.limit, 1) if room.limit else 100.0,
        zone=zone(size.total, room.limit, zones),
        accuracy=size.accuracy,
        reason=size.reason,
        velocity=growth,
        spike=is_spike(turn_sizes),
        turns_until_compaction=turns_until(size.total, compact_at, growth),
        burn_rate=burn_rate,
        over_soft_limit=over_soft_limit(room.limit, regions),
        regions=regions,
        tools_by_server=by_server,
        cache=cache,
        cost=cost,
        zones=zones,
    )
