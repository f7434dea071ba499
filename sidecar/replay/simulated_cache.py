"""A provider's cache in a replay: each prompt's reads, writes and costs."""

from collections.abc import Sequence
from dataclasses import dataclass

from sidecar.core.parts import Millis
from sidecar.core.plans.plan import Rates
from sidecar.core.prompt.lifetime import is_kept, lifetime
from sidecar.core.prompt.prompt import Ttl
from sidecar.core.prompt.warmth import CachedPrefix, predict

MINIMUM = 1_024
"""Tokens; a breakpoint below writes nothing."""
HOUR = 2
"""An hour's writes cost so many times the input price."""


@dataclass(frozen=True, slots=True)
class Bill:
    """A prompt's tokens by price."""

    read: int
    write_5m: int
    write_1h: int
    uncached: int

    def cost(self, rates: Rates) -> float:
        """USD."""
        return (
            self.read * rates.read
            + self.write_5m * rates.write
            + self.write_1h * HOUR * rates.input
            + self.uncached * rates.input
        )


class StaticLifetime:
    """The static text's lifetime by request, if a policy `wants` an hour."""

    def __init__(self, wants: Ttl, tokens: int, rates: Rates) -> None:
        self.wants = wants
        self._tokens = tokens
        self._rates = rates
        self._ttl: Ttl = "5m"

    def choose(self, starts: Sequence[Millis], now: Millis, spent: float) -> Ttl:
        """For a request at `now`, after `starts` and USD `spent`."""
        rates, last = self._rates, starts[-1] if starts else None
        if self.wants == "1h" and not is_kept(self._ttl, last, now):
            self._ttl = lifetime(
                self._tokens,
                write_5m=rates.write,
                write_1h=HOUR * rates.input,
                read=rates.read,
                starts=starts,
                now=now,
                spent=spent,
            ).ttl
        return self._ttl


class SimulatedCache:
    """The cache after the prompts so far."""

    def __init__(self) -> None:
        self._warm: dict[object, CachedPrefix] = {}

    def send(
        self,
        hashes: Sequence[int],
        sizes: Sequence[int],
        places: Sequence[int],
        marks: Sequence[tuple[int, Ttl]],
        at: Millis,
    ) -> Bill:
        """Bill a prompt of segments with breakpoints after `marks`."""
        found, warm = predict(self._warm, hashes, sizes, places, marks, at, MINIMUM)
        self._warm = dict(warm)
        cached = found.read + found.write_5m + found.write_1h
        return Bill(found.read, found.write_5m, found.write_1h, sizes[-1] - cached)
