"""Simulates a provider's cache in a replay."""

from bisect import bisect_right
from collections.abc import Sequence

from sidecar.core.dataclass import dataclass
from sidecar.core.ledger.units import Item
from sidecar.core.parts import Millis
from sidecar.core.plans.plan import Rates
from sidecar.core.prompt.breakpoints import STRIDE
from sidecar.core.prompt.cache.lifetime import is_kept, lifetime
from sidecar.core.prompt.cache.warmth import Warm, predict
from sidecar.core.prompt.cache_rules import CacheRules
from sidecar.core.prompt.prefix import CacheMark
from sidecar.core.prompt.prompt import Ttl
from sidecar.core.prompt.visibility import Dropped

USUAL = CacheRules(minimum=1_024)
"""The rules by which a replay caches unless told otherwise."""
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
        return (
            self.read * rates.read
            + self.write_5m * rates.write
            + self.write_1h * HOUR * rates.input
            + self.uncached * rates.input
        )


class StaticLifetime:
    """Chooses the static text's lifetime by request, if a policy `wants` an hour."""

    def __init__(self, wants: Ttl, tokens: int, rates: Rates, rules: CacheRules = USUAL) -> None:
        self.wants: Ttl = wants if rules.long else "5m"
        self._rules = rules
        self._tokens = tokens
        self._rates = rates
        self._ttl: Ttl = "5m"

    def choose(self, starts: Sequence[Millis], now: Millis, spent: float) -> Ttl:
        rates, last = self._rates, starts[-1] if starts else None
        if self.wants == "1h" and not is_kept(self._rules.lives(self._ttl), last, now):
            self._ttl = lifetime(
                self._tokens,
                write_5m=rates.write,
                write_1h=HOUR * rates.input,
                read=rates.read,
                starts=starts,
                now=now,
                spent=spent,
                rules=self._rules,
            ).ttl
        return self._ttl


class Segments:
    """A prompt: segment 0 is the static prefix, segment i item i - 1.

    `hashes` (chained), `sizes` (cumulative tokens) and `places` have an item per segment.
    """

    def __init__(self, static: int) -> None:
        self.hashes: list[int] = [0]
        self.sizes: list[int] = [static]
        self.places: list[int] = [0]
        self._run: int | None = None

    def append(self, item: Item) -> None:
        reached, unit = self.hashes[-1], item.unit
        if isinstance(item.shown, Dropped):
            self.hashes.append(reached)
            self.sizes.append(self.sizes[-1])
            self.places.append(self.places[-1])
            return
        is_call = unit.kind == "call"
        joined = is_call and self._run == unit.step
        if joined:
            self._go_on(reached)
        self.hashes.append(hash((reached, unit.part_id, item.tokens)))
        self.sizes.append(self.sizes[-1] + item.tokens)
        self._run = unit.step if is_call else None
        self.places.append(self.places[-1] + (0 if joined else 2 if is_call else 1))

    def _go_on(self, reached: int) -> None:
        # Results follow all calls of a step: what ended here ended with this call's result.
        for index in range(len(self.hashes) - 1, 0, -1):
            if self.hashes[index] != reached:
                break
            self.hashes[index] = hash((reached, "and another call"))

    def marks(self, shared: int, anchored: int, rules: CacheRules = USUAL) -> list[CacheMark]:
        """Returns breakpoints behind the static prefix: anchor, last, newest.

        `shared`: items that the last prompt had too; `anchored`: the item before which a rewritten
        stretch ends.
        """
        places = self.places
        newest = len(places) - 1
        last = min(shared, newest)
        chosen = {self._shown(index) for index in (anchored, last, newest)} - {0}
        reach = places[newest] - STRIDE
        for _ in range(rules.marks - 1 - len(chosen)):
            if rules.lookback is None or reach <= max(places[last], 1):
                break
            chosen.add(self._shown(bisect_right(places, reach) - 1))
            reach -= STRIDE
        return [(index, "5m") for index in sorted(chosen)]

    def _shown(self, index: int) -> int:
        # Only a segment that is not dropped can be marked.
        while index and self.hashes[index] == self.hashes[index - 1]:
            index -= 1
        return index


class SimulatedCache:
    """The cache after the prompts so far."""

    def __init__(self, rules: CacheRules = USUAL) -> None:
        self._rules = rules
        self._warm: Warm = {}

    def send(self, prompt: Segments, marks: Sequence[CacheMark], at: Millis) -> Bill:
        hashes, sizes, places = prompt.hashes, prompt.sizes, prompt.places
        found, self._warm = predict(self._warm, hashes, sizes, places, marks, at, self._rules)
        return Bill(found.read, found.write_5m, found.write_1h, sizes[-1] - found.cached)
