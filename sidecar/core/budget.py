"""The window and what it is spent on: one formula, used by meter, trigger, log and inspector.

    history = window - system - instructions - learned - summary - ledger - tools - max_tokens

Window and max_tokens are different settings and neither is ever derived from the other silently.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Literal, TypeAlias

from sidecar.core.render import Region

Zone: TypeAlias = Literal["green", "yellow", "orange", "red"]

REGIONS: tuple[Region, ...] = (
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
LEAST_RESERVE = 4_000
"""Output is never squeezed below this, whatever max_tokens says."""
COMPACT_AT = 0.9
"""Share of the budget at which the red zone begins and automatic compaction is due."""
RECENT_TURNS = 5


@dataclass(frozen=True, slots=True)
class Budget:
    """All in tokens; `limit` is what may be used for input: the window less the reserve."""

    window: int
    reserved_output: int
    limit: int
    compact_at: int


def budget(window: int, max_tokens: int) -> Budget:
    """Split a window into room for input and the reserve for the answer."""
    reserved = max(LEAST_RESERVE, max_tokens)
    limit = max(0, window - reserved)
    return Budget(window, reserved, limit, int(limit * COMPACT_AT))


def zone(used: int, limit: int) -> Zone:
    """Pressure in four steps, at 50, 75 and 90 per cent of the limit."""
    share = used / limit if limit else 1.0
    if share >= 0.9:
        return "red"
    if share >= 0.75:
        return "orange"
    return "yellow" if share >= 0.5 else "green"


def velocity(sizes: Sequence[int]) -> int:
    """Mean growth in tokens a turn, over the last five; `sizes` is the context after each turn."""
    recent = sizes[-(RECENT_TURNS + 1) :]
    if len(recent) < 2:
        return recent[0] if recent else 0
    return max(0, round((recent[-1] - recent[0]) / (len(recent) - 1)))


def turns_until(used: int, threshold: int, growth: int) -> int | None:
    """Turns until `threshold` is reached at this growth; `None` if it is not growing."""
    if growth <= 0:
        return None
    return max(0, ceil((threshold - used) / growth))


def spread(raw: Mapping[Region, int], total: int) -> dict[Region, int]:
    """Scale estimates by region so that they add up to exactly `total`.

    The largest remainders are rounded up, so that no region is off by more than one.
    """
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
