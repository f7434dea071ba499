"""What the status bar shows: one pure computation over exactly what would be sent.

The meter, the trigger, the log and the inspector all use it, so they cannot disagree.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sidecar.core.parts import Millis
from sidecar.core.prompt.budget import (
    BEFORE,
    Zone,
    budget,
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
    `compact_at` is where the policy must rewrite. `velocity` is tokens a turn over the last five,
    `spike` that the last turn added three times what is usual; `turns_until_compaction` is `None`
    when the context is not growing. `burn_rate` is USD an hour over the last five turns.
    `tools_by_server` is what of the tools' tokens is each MCP server's.
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


@dataclass(frozen=True, slots=True)
class Size:
    """How large the prompt is: tokens in all, and raw estimates that say how they are spread.

    `accuracy` is `exact` when the provider reported just this prompt; `reason` says in words
    where the total comes from. `tools` are raw estimates of each tool, with the MCP server that
    it is from, or "". `guessed` is what of the total no provider has counted.
    """

    total: int
    raw: Mapping[Region, int]
    accuracy: Accuracy
    reason: str
    tools: tuple[tuple[str, int], ...] = ()
    guessed: int = 0


def measure(  # noqa: PLR0913 - all that the meter is made of, once, by name
    *,
    session_id: str,
    revision: int,
    window: int,
    max_tokens: int,
    compact_at: int,
    size: Size,
    turn_sizes: Sequence[int],
    burn_rate: str | None,
    cache: CacheState,
    cost: Costs,
) -> Meter:
    """Compute the meter. `turn_sizes` is the context after each turn so far, oldest first."""
    room = budget(window, max_tokens)
    regions = spread(size.raw, size.total)
    begun = sum(regions[region] for region in BEFORE)
    growth = velocity((begun, *turn_sizes)) if turn_sizes else 0
    return Meter(
        session_id=session_id,
        revision=revision,
        window=window,
        used=size.total,
        reserved_output=room.reserved_output,
        free=max(0, room.limit - size.total),
        compact_at=compact_at,
        percent=round(100 * size.total / room.limit, 1) if room.limit else 100.0,
        zone=zone(size.total, room.limit),
        accuracy=size.accuracy,
        reason=size.reason,
        velocity=growth,
        spike=is_spike(turn_sizes),
        turns_until_compaction=turns_until(size.total, compact_at, growth),
        burn_rate=burn_rate,
        over_soft_limit=over_soft_limit(room.limit, regions),
        regions=regions,
        tools_by_server=_by_server(size.tools, regions["tools"]),
        cache=cache,
        cost=cost,
    )


def _by_server(tools: Sequence[tuple[str, int]], total: int) -> dict[str, int]:
    """Add up the tools of each MCP server, as the breakdown counts them one by one."""
    found: dict[str, int] = {}
    told = shares([raw for _, raw in tools], total)
    for (server, _), tokens in zip(tools, told, strict=True):
        if server:
            found[server] = found.get(server, 0) + tokens
    return found
