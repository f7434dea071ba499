"""How a provider caches prompts, as values."""

from typing import Literal, TypeAlias

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Millis, Usage
from sidecar.core.prompt.prompt import Ttl

CachedBy: TypeAlias = Literal["marks", "prefix", "nothing"]
"""Entries end at breakpoints alone, or any common prefix is read, or nothing is cached."""
LifePolicy: TypeAlias = Literal["refresh", "fixed", "evict", "unknown"]
"""A life counts from each use, or from the write; or room is made when needed; or who knows."""


@dataclass(frozen=True, slots=True)
class CacheRules:
    """Rules by which a prompt is cached; sizes in tokens, lives in milliseconds.

    `marks`: the most breakpoints of a request; with `implicit`, the last is the provider's own, at
    the end. `marks_answers`: whether the model's own blocks can be marked. A read looks back from
    each over `lookback` positions, `None` for all. Of a common prefix, whole multiples of
    `granularity` are read. Nothing below `minimum` is cached. `short` is the usual life, by which
    an unknown one is foreseen too; `long` one that is sold for a dearer write, 0 for none.
    `pings_renew`: whether repeating a request without an answer is possible, and prolongs the life.
    `source`: whose rules these are, then where they are from, and what is unsure.
    """

    by: CachedBy = "marks"
    marks: int = 4
    lookback: int | None = 20
    implicit: bool = False
    marks_answers: bool = True
    granularity: int = 1
    minimum: int = 0
    life: LifePolicy = "refresh"
    short: Millis = 300_000
    long: Millis = 3_600_000
    writes_cost: bool = True
    pings_renew: bool = True
    source: str = "Anthropic, Prompt caching, read 2026-11"

    @property
    def ends_when_told(self) -> bool:
        """Whether an entry's end is known, not only its least or likely life."""
        return self.by != "nothing" and self.life in ("refresh", "fixed")

    @property
    def vendor(self) -> str:
        return self.source.partition(",")[0]

    @property
    def lifetimes(self) -> str:
        told = (str(life // 60_000) for life in (self.short, self.long) if life)
        return "none" if self.by == "nothing" else f"{'/'.join(told)} min"

    def lives(self, ttl: Ttl) -> Millis:
        return self.long if ttl == "1h" and self.long else self.short

    def whole(self, tokens: int) -> int:
        """Returns how many of a common prefix's tokens are read."""
        return tokens - tokens % self.granularity if tokens >= self.minimum else 0

    def left(self, usage: Usage) -> int:
        """Returns the tokens cached after an answered request."""
        match self.by:
            case "marks":
                return usage.prompt - usage.input
            case "prefix":
                return self.whole(usage.prompt)
            case "nothing":
                return 0


MARKED = CacheRules()
