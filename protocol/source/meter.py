"""The meter: contents of the context window, cost, and time left."""

from typing import Annotated

import msgspec

Zone = Annotated[str, msgspec.Meta(examples=["green", "yellow", "orange", "red"])]
Accuracy = Annotated[str, msgspec.Meta(examples=["exact", "estimated"])]


class Regions(msgspec.Struct, rename="camel", kw_only=True):
    """Tokens by origin; the sum is the meter's `used`."""

    system: int
    tools: int
    instructions: int
    learned: int
    summary: int
    ledger: int
    user: int
    assistant: int
    reasoning: int
    tool_results: int
    context: int


class CacheBreak(msgspec.Struct, rename="camel", kw_only=True):
    """The newest request not served by the provider's cache: first segment missed, and reason."""

    segment: str
    reason: str


class CacheState(msgspec.Struct, rename="camel", kw_only=True):
    """Whether the provider still holds the prefix; `hitRate` is of the last response, 0 to 1.

    `expiresAt` is left out where nobody knows how long the provider keeps it.
    """

    warm: bool
    hit_rate: float
    expires_at: str | msgspec.UnsetType = msgspec.UNSET
    last_break: CacheBreak | msgspec.UnsetType = msgspec.UNSET


class Costs(msgspec.Struct, rename="camel", kw_only=True):
    """USD as decimal strings; null where the model's price is unknown."""

    session: str | None
    last_turn: str | None
    next_request: str | None
    compact_now: str | None


class Meter(msgspec.Struct, rename="camel", kw_only=True):
    """Tokens of the window. `percent` is `used / (window - reservedOutput)` in per cent.

    `reason` explains the numbers' source. `compactAt`: size at which the policy must rewrite.
    `velocity`: tokens a turn; `spike`: the last turn added three times the usual; `burnRate`: USD
    an hour over five turns; `overSoftLimit`: regions above 80 per cent of their room.
    `turnsUntilCompaction` is null without growth. `toolsByServer`: tool tokens by MCP server.
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
    burn_rate: str | None
    over_soft_limit: list[str]
    turns_until_compaction: int | None
    regions: Regions
    tools_by_server: dict[str, int]
    cache: CacheState
    cost: Costs


class ContextMeterParams(msgspec.Struct, rename="camel", kw_only=True):
    """Read a session's meter."""

    session_id: str
