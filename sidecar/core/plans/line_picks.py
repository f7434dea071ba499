"""Which lines of a text are worth keeping by themselves, by the identifiers on them."""

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
    """The lines with one or two names, side by side; `second` is the empty one's where it lacks."""

    numbers: tuple[int, ...]
    sizes: tuple[int, ...]
    first: tuple[int, ...]
    second: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NamedLines:
    """The lines of a text that hold identifiers, trimmed; sizes and names go with them.

    A size is characters, with what a kept line costs beside its text. `places` are those of a
    line's names in `order`, which has every name of
    the text once, so that a plan looks each up once: first `strays`, which only a line has that
    was cut, then the other names on lines, up to `own`, then those that no line has, and last an
    empty one. Most lines hold one or two names: `short` has those, by their place in `order`;
    `others` has the rest. `crowded` is the most names a character that a line has.
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
        """Look up what each name in `order` is worth."""
        return [*map(worth.get, self.order, NOTHING)]

    def total(self, values: Sequence[float]) -> float:
        """Add up what the text's own names are worth."""
        return fsum(values[self.strays :] if self.strays else values)

    def promising(self, values: Sequence[float], least: float) -> list[int]:
        """Give the lines whose names, covered or not, are worth at least `least` a character."""
        # A line that is worth it has a name at least that is worth the mean.
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
    """Find the lines of a text that hold identifiers; equal lines are given once.

    `names` are those that the text is weighed by as a whole.
    """
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
    """Lines chosen from a text: which, all names on them, characters, and worth.

    `gained` are the names that make up the worth: as long as none of them is covered, it stands.
    """

    numbers: tuple[int, ...]
    names: frozenset[str]
    size: int
    worth: float
    gained: frozenset[str]


def lift(
    lines: NamedLines, values: Sequence[float], least: float, among: Sequence[int] | None = None
) -> Lifted | None:
    """Choose the lines whose uncovered names are worth at least `least` a character.

    `values` are what `Lines.values` gives: nothing for what is covered. `among` are lines that
    were chosen when less was covered: no other can have become worth it.
    """
    sizes, places = lines.sizes, lines.places
    scored: list[tuple[float, int, float]] = []
    for number in lines.promising(values, least) if among is None else among:
        value = _sum(values, places[number])
        if value and value >= least * sizes[number]:
            scored.append((-value / sizes[number], number, value))
    if not scored:
        return None
    # Line numbers are all different, so that sorting never compares further.
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
    """Add up exactly; most lines have one name or two."""
    match len(places):
        case 0:
            return 0.0
        case 1:
            return values[places[0]]
        case 2:
            return values[places[0]] + values[places[1]]
        case _:
            return fsum([values[place] for place in places])
