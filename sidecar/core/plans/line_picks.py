"""Lines of a text worth keeping alone, by their identifiers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, repeat
from math import fsum
from operator import truediv
from typing import NamedTuple

from sidecar.core.text.identifiers import names_in

LINE_END = 3
"""Characters that a kept line costs beside its text."""
LONGEST = 240
"""Characters of a line that an excerpt may hold."""
_ROUNDING = 1 - 1e-9
"""Keeps a bound on the safe side of how sums and quotients are rounded."""
NOTHING = repeat(0.0)
"""What a name is worth that nobody has weighed: for `map`, which ends with its other argument."""


class _Short(NamedTuple):
    """Lines with one or two names, as columns; `first` and `second` are places in `order`."""

    numbers: tuple[int, ...]
    sizes: tuple[int, ...]
    first: tuple[int, ...]
    second: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NamedLines:
    """A text's lines with identifiers, trimmed; `sizes` in characters plus `LINE_END`.

    `order` lists names once: `strays` on cut lines only, others on lines up to `own`, names on no
    line, `""`. `places`: each line's names as indices into `order`. `short`: lines of one or two
    names; `others`: the rest. `crowded`: most names per character of a line.
    """

    texts: tuple[str, ...]
    sizes: tuple[int, ...]
    places: tuple[tuple[int, ...], ...]
    order: tuple[str, ...]
    strays: int
    own: int
    short: _Short
    others: tuple[int, ...]
    crowded: float

    def values(self, worth: Mapping[str, float]) -> list[float]:
        """Worth of each name in `order`."""
        return [*map(worth.get, self.order, NOTHING)]

    def total(self, values: Sequence[float]) -> float:
        """Worth of the text's own names."""
        return fsum(values[self.strays :] if self.strays else values)

    def promising(self, values: Sequence[float], least: float) -> list[int]:
        """Lines worth `least` per character, counting covered names too."""
        # A line worth enough has at least one name worth the mean.
        if not self.texts or max(values[: self.own]) < least / self.crowded * _ROUNDING:
            return []
        short, sizes, places, value = self.short, self.sizes, self.places, values.__getitem__
        one, other = map(value, short.first), map(value, short.second)
        found = [
            number
            for number, size, x, y in zip(short.numbers, short.sizes, one, other, strict=True)
            if x + y >= least * size
        ]
        found += [
            number
            for number in self.others
            if fsum(map(value, places[number])) >= least * sizes[number]
        ]
        return found


@lru_cache(maxsize=4096)
def lines_of(text: str, names: frozenset[str] = frozenset()) -> NamedLines:
    """Distinct lines with identifiers; `names` are the whole text's."""
    texts = []
    held = []
    for line in dict.fromkeys(raw.strip()[:LONGEST] for raw in text.splitlines()):
        found = names_in(line)
        if found:
            texts.append(line)
            held.append(found)
    on_lines = dict.fromkeys(chain.from_iterable(held))
    strays = [name for name in on_lines if name not in names]
    own = [name for name in on_lines if name in names]
    order = (*strays, *own, *names.difference(own), "")
    place = {name: number for number, name in enumerate(order)}
    sizes = tuple(len(line) + LINE_END for line in texts)
    places = tuple(tuple(place[name] for name in found) for found in held)
    few = tuple(number for number, found in enumerate(places) if len(found) <= 2)
    pairs = [(*places[number], -1)[:2] for number in few]
    short = _Short(
        few,
        tuple(sizes[number] for number in few),
        tuple(one for one, _ in pairs),
        tuple(other for _, other in pairs),
    )
    return NamedLines(
        tuple(texts),
        sizes,
        places,
        order,
        len(strays),
        len(on_lines),
        short,
        tuple(number for number, found in enumerate(places) if len(found) > 2),
        max(map(truediv, map(len, held), sizes), default=0.0),
    )


class Lifted(NamedTuple):
    """Chosen line numbers, all names on them, characters, worth.

    The worth holds until a `gained` name is covered.
    """

    numbers: tuple[int, ...]
    names: frozenset[str]
    size: int
    worth: float
    gained: frozenset[str]


def lift(
    lines: NamedLines, values: Sequence[float], least: float, among: Sequence[int] | None = None
) -> Lifted | None:
    """Choose lines whose uncovered names are worth `least` per character; `None` if none.

    `values` is from `NamedLines.values`, 0 for covered names. `among`: the only lines possible.
    """
    sizes, places = lines.sizes, lines.places
    scored: list[tuple[float, int, float]] = []
    for number in lines.promising(values, least) if among is None else among:
        value = _sum(values, places[number])
        if value and value >= least * sizes[number]:
            scored.append((-value / sizes[number], number, value))
    if not scored:
        return None
    # Line numbers are unique, so sorting never compares further.
    scored.sort()
    chosen: list[int] = []
    gained: set[int] = set()
    total, size = 0.0, 0
    for _, number, whole in scored:
        value, held = whole, places[number]
        if not gained.isdisjoint(held):
            value = _sum(values, [place for place in held if place not in gained])
        if value >= least * sizes[number]:
            chosen.append(number)
            gained.update(held)
            total += value
            size += sizes[number]
    order = lines.order
    names = frozenset([order[place] for place in gained])
    worth_it = frozenset([order[place] for place in gained if values[place]])
    return Lifted(tuple(sorted(chosen)), names, size, total, worth_it)


def _sum(values: Sequence[float], places: Sequence[int]) -> float:
    match len(places):
        case 0:
            return 0.0
        case 1:
            return values[places[0]]
        case 2:
            return values[places[0]] + values[places[1]]
        case _:
            return fsum([values[place] for place in places])
