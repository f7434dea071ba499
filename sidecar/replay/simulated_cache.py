"""A provider's cache in a replay: what each prompt reads and writes, and what that costs."""

from collections.abc import Sequence
from dataclasses import dataclass

from sidecar.core.parts import Millis
from sidecar.core.plans.plan import Rates
from sidecar.core.prompt.prompt import Ttl
from sidecar.core.prompt.warmth import CachedPrefix, predict

MINIMUM = 1_024
"""Tokens; a breakpoint below writes nothing."""


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
            + self.write_1h * 2 * rates.input
            + self.uncached * rates.input
        )


class SimulatedCache:
    """What the prompts so far left in the cache."""

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
