"""The meter: what the context window holds, what it costs, how long it lasts."""

from typing import Annotated

import msgspec

Zone = Annotated[str, msgspec.Meta(examples=["green", "yellow", "orange", "red"])]
Accuracy = Annotated[str, msgspec.Meta(examples=["exact", "estimated"])]


class Regions(msgspec.Struct, rename="camel", kw_only=True):
    """Tokens by where they come from; their sum is the meter's `used`."""

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
    """The newest request that the provider's cache did not serve: from where on, and why."""

    segment: str
    reason: str


class CacheState(msgspec.Struct, rename="camel", kw_only=True):
    """Whether the provider still holds the prefix; `hitRate` is of the last response, 0 to 1."""

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

    `reason` says in words where the numbers come from. `compactAt` is where the policy must
    rewrite. `velocity` is tokens a turn, `spike` that the last turn added three times what is
    usual, `burnRate` USD an hour over five turns, `overSoftLimit` the regions that take more than
    80 per cent of their room. `turnsUntilCompaction` is null while the context does not grow.
    `toolsByServer` says what of the tools' tokens is each MCP server's, by its name.
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
    """The session whose meter is asked for."""

    session_id: str
