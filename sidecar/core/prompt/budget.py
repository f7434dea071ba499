"""Divides the window among the parts of a prompt.

history = window - system - instructions - learned - summary - ledger - tools - max_tokens
"""

from bisect import bisect
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from sidecar.core.dataclass import dataclass

if TYPE_CHECKING:
    from sidecar.core.prompt.render import Region

Zone: TypeAlias = Literal["green", "yellow", "orange", "red"]
_ZONES: tuple[Zone, ...] = get_args(Zone)

ZoneStarts: TypeAlias = tuple[float, float, float]
ZONE_STARTS: ZoneStarts = (0.5, 0.75, 0.9)
"""The shares of the limit from which it is yellow, orange and red."""
REGIONS: "tuple[Region, ...]" = (
    "system",
    "tools",
    "instructions",
    "learned",
    "summary",
    "ledger",
    "user",
    "assistant",
    "reasoning",
    "toolResults",
    "context",
)
GUESSED_OFF = 50
"""What no provider has counted is estimated, and may take more by this fraction, a fiftieth."""
LEAST_RESERVE = 4_000
"""Output is never squeezed below this, whatever max_tokens says."""
RECENT_TURNS = 5
SPIKE = 3
"""A turn that adds this many times what turns added before it is a spike."""
SOFT_LIMIT = 0.8
"""The share of the room for the history that one region may take before it is said."""
BEFORE: "tuple[Region, ...]" = ("system", "tools", "instructions", "learned")
"""What stood there before the first turn."""
STATIC_REGIONS: "frozenset[Region]" = frozenset(
    ("system", "tools", "instructions", "learned", "summary", "ledger")
)


@dataclass(frozen=True, slots=True)
class Budget:
    """Sizes in tokens; `limit` is the window less the reserve."""

    window: int
    reserved_output: int
    limit: int


def budget(window: int, max_tokens: int) -> Budget:
    reserved = max(LEAST_RESERVE, max_tokens)
    limit = max(0, window - reserved)
    return Budget(window, reserved, limit)


def at_most(tokens: int, guessed: int) -> int:
    """Returns the most tokens a prompt may take; `guessed` ones may be a fiftieth more."""
    return tokens + guessed // GUESSED_OFF


def over_soft_limit(limit: int, regions: "Mapping[Region, int]") -> "tuple[Region, ...]":
    """Returns regions over `SOFT_LIMIT` of their room.

    Static regions have the limit as room, others the rest.
    """
    history = max(0, limit - sum(regions.get(region, 0) for region in STATIC_REGIONS))
    return tuple(
        region
        for region in REGIONS
        if regions.get(region, 0) > SOFT_LIMIT * (limit if region in STATIC_REGIONS else history)
        and regions.get(region, 0) > 0
    )


def is_spike(sizes: Sequence[int]) -> bool:
    """Whether the last turn added `SPIKE` times the recent mean; false under three `sizes`."""
    recent = sizes[-(RECENT_TURNS + 2) :]
    if len(recent) < 3:
        return False
    grown = [max(0, after - before) for before, after in pairwise(recent)]
    baseline = sum(grown[:-1]) / len(grown[:-1])
    return baseline > 0 and grown[-1] >= SPIKE * baseline


def burn_rate(costs: Sequence[tuple[int, float]], now: int) -> float | None:
    """Returns USD per hour since the first of `costs` (ms, USD); `None` within a minute."""
    if not costs:
        return None
    passed = now - costs[0][0]
    return None if passed < 60_000 else sum(cost for _, cost in costs) * 3_600_000 / passed


def zones(starts: ZoneStarts = ZONE_STARTS) -> tuple[tuple[float, float, Zone], ...]:
    """Returns each zone with its bounds (from, to), as shares of the limit."""
    bounds = pairwise((0.0, *starts, 1.0))
    return tuple((*bound, name) for bound, name in zip(bounds, _ZONES, strict=True))


def zone(used: int, limit: int, starts: ZoneStarts = ZONE_STARTS) -> Zone:
    return _ZONES[bisect(starts, used / limit if limit else 1.0)]


def velocity(sizes: Sequence[int]) -> int:
    """Returns the mean tokens added by the last five turns; `sizes`: context after each turn.

    Omits turns that shrank the context, as by a rewrite.
    """
    if len(sizes) < 2:
        return sizes[0] if sizes else 0
    recent = pairwise(sizes[-(RECENT_TURNS + 1) :])
    grown = [after - before for before, after in recent if after >= before]
    return round(sum(grown) / len(grown)) if grown else 0


def turns_until(used: int, threshold: int, growth: int) -> int | None:
    """Returns `None` without growth."""
    if growth <= 0:
        return None
    return max(0, ceil((threshold - used) / growth))


def shares(raw: Sequence[int], total: int) -> tuple[int, ...]:
    """Scales estimates to sum to `total`; rounding puts each off by one at most."""
    weight, running, reached = sum(raw), 0, 0
    given = []
    for one in raw:
        running += one
        # Rounding the running sum keeps the parts from drifting away from the whole.
        upto = round(running * total / weight) if weight else 0
        given.append(upto - reached)
        reached = upto
    return tuple(given)


def spread(raw: "Mapping[Region, int]", total: int) -> "dict[Region, int]":
    weight = sum(raw.values())
    if weight == 0:
        return {region: total if region == "system" else 0 for region in REGIONS}
    shares = {region: raw.get(region, 0) * total / weight for region in REGIONS}
    whole = {region: int(share) for region, share in shares.items()}
    short = total - sum(whole.values())
    by_remainder = sorted(REGIONS, key=lambda region: whole[region] - shares[region])
    for region in by_remainder[:short]:
        whole[region] += 1
    return whole
