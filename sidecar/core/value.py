"""What a stretch of context is worth: how likely its identifiers are used again, and where.

Fitted on recorded sessions; ARCHITECTURE.md says how.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat
from math import fsum
from typing import NamedTuple

from sidecar.core.names import Name, Source, names_in

AGES = (3, 8, 15, 30, 60, 120)
"""Requests since an identifier was last used, or last seen: the columns of `CHANCE`."""
USES = (0, 1, 3)
"""How often the agent has used it since it appeared: the rows of `CHANCE`."""
CHANCE: dict[Source, tuple[tuple[float, ...], ...]] = {
    "result": (
        (0.028, 0.026, 0.026, 0.019, 0.013, 0.008, 0.005),
        (0.200, 0.140, 0.150, 0.120, 0.090, 0.058, 0.022),
        (0.175, 0.160, 0.180, 0.135, 0.095, 0.060, 0.030),
        (0.225, 0.230, 0.260, 0.225, 0.150, 0.110, 0.060),
    ),
    "call": (
        (0.165, 0.148, 0.148, 0.123, 0.083, 0.053, 0.027),
        (0.235, 0.235, 0.240, 0.205, 0.132, 0.087, 0.044),
        (0.290, 0.305, 0.290, 0.275, 0.190, 0.122, 0.045),
        (0.370, 0.425, 0.440, 0.370, 0.280, 0.207, 0.100),
    ),
    "prose": (
        (0.180, 0.160, 0.155, 0.132, 0.098, 0.062, 0.028),
        (0.390, 0.310, 0.280, 0.260, 0.175, 0.138, 0.085),
        (0.390, 0.390, 0.385, 0.375, 0.307, 0.228, 0.125),
        (0.390, 0.390, 0.430, 0.420, 0.345, 0.225, 0.090),
    ),
    "typed": (
        (0.120, 0.140, 0.230, 0.180, 0.180, 0.130, 0.040),
        (0.480, 0.450, 0.350, 0.350, 0.280, 0.250, 0.040),
        (0.370, 0.400, 0.370, 0.370, 0.280, 0.210, 0.050),
        (0.310, 0.420, 0.480, 0.440, 0.370, 0.230, 0.060),
    ),
}
"""The chance that an identifier is used again after it has been out of sight for a while, by who
brought it, how often it was used, and how long ago."""
_OLDEST, _MOST_USES = AGES[-1] + 1, USES[-1] + 1
_BY_AGE = {
    source: tuple(
        tuple(rows[bisect_left(USES, uses)][bisect_left(AGES, ago)] for ago in range(_OLDEST + 1))
        for uses in range(_MOST_USES + 1)
    )
    for source, rows in CHANCE.items()
}
"""`CHANCE` for every number of uses and every age: a plan asks for tens of thousands."""
CHARS_PER_TOKEN = 2.9
"""For choosing only; what is kept is counted by the tokenizer."""
LINE_END = 3
"""Characters that a kept line costs beside its text."""
LONGEST = 240
"""Characters of a line that an excerpt may hold."""


def chances(names: Iterable[str], known: Mapping[str, Name], step: int) -> dict[str, float]:
    """Give the chance of each identifier that the agent uses it again."""
    found = {}
    for text in names:
        name = known[text]
        uses = name.uses
        ago = step - (name.used if uses else name.seen)
        row = _BY_AGE[name.source][uses if uses < _MOST_USES else _MOST_USES]
        found[text] = row[(ago if ago < _OLDEST else _OLDEST) if ago > 0 else 0]
    return found


class _Short(NamedTuple):
    """The lines with one or two identifiers, side by side; `second` is empty where there is one."""

    numbers: tuple[int, ...]
    sizes: tuple[int, ...]
    first: tuple[str, ...]
    second: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of a text that hold identifiers, trimmed; names and sizes go with them.

    A size is characters, with what a kept line costs beside its text. Most lines hold one or two
    names: `short` has those in the form that is quickest to weigh, `others` numbers the rest.
    """

    texts: tuple[str, ...]
    names: tuple[frozenset[str], ...]
    sizes: tuple[int, ...]
    short: _Short
    others: tuple[int, ...]

    def promising(self, worth: Mapping[str, float], least: float) -> list[int]:
        """Give the lines whose names, covered or not, are worth at least `least` a character."""
        get, short, names, sizes = worth.get, self.short, self.names, self.sizes
        one, other = map(get, short.first, NOTHING), map(get, short.second, NOTHING)
        found = [
            number
            for number, size, x, y in zip(short.numbers, short.sizes, one, other, strict=False)
            if x + y >= least * size
        ]
        found += [
            number
            for number in self.others
            if fsum(map(get, names[number], NOTHING)) >= least * sizes[number]
        ]
        return found


@lru_cache(maxsize=4096)
def lines_of(text: str) -> Lines:
    """Find the lines of a text that hold identifiers; equal lines are given once."""
    texts = []
    names = []
    for line in dict.fromkeys(raw.strip()[:LONGEST] for raw in text.splitlines()):
        held = names_in(line)
        if held:
            texts.append(line)
            names.append(held)
    sizes = tuple(len(line) + LINE_END for line in texts)
    few = tuple(number for number, held in enumerate(names) if len(held) <= 2)
    pairs = [(*names[number], "")[:2] for number in few]
    short = _Short(
        few,
        tuple(sizes[number] for number in few),
        tuple(one for one, _ in pairs),
        tuple(other for _, other in pairs),
    )
    others = tuple(number for number, held in enumerate(names) if len(held) > 2)
    return Lines(tuple(texts), tuple(names), sizes, short, others)


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
    text: str,
    worth: Mapping[str, float],
    covered: Set[str],
    least: float,
    among: Sequence[int] | None = None,
) -> Lifted | None:
    """Choose the lines whose uncovered names are worth at least `least` a character.

    `among` are lines that were chosen when less was covered: no other can have become worth it.
    """
    lines = lines_of(text)
    held, sizes, get = lines.names, lines.sizes, worth.get
    scored: list[tuple[float, int, float, frozenset[str]]] = []
    for number in lines.promising(worth, least) if among is None else among:
        new = held[number]
        if not new.isdisjoint(covered):
            new -= covered
        if (value := fsum(map(get, new, NOTHING))) and value >= least * sizes[number]:
            scored.append((-value / sizes[number], number, value, new))
    if not scored:
        return None
    if len(scored) == 1:
        [(_, number, value, new)] = scored
        return Lifted((number,), held[number], sizes[number], value, new)
    # Line numbers are all different, so that sorting never compares further.
    scored.sort()
    chosen: list[int] = []
    gained: set[str] = set()
    total, size = 0.0, 0
    for _, number, whole, new in scored:
        value, fresh = whole, new
        if not gained.isdisjoint(new):
            fresh = new - gained
            value = fsum(map(get, fresh, NOTHING))
        if value >= least * sizes[number]:
            chosen.append(number)
            gained |= fresh
            total += value
            size += sizes[number]
    names = frozenset[str]().union(*[held[number] for number in chosen])
    return Lifted(tuple(sorted(chosen)), names, size, total, frozenset(gained))


NOTHING = repeat(0.0)
"""What a name is worth that nobody has weighed: for `map`, which ends with its other argument."""
