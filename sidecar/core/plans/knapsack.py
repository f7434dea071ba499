"""Chooses parts to keep whole, by worth per token."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import repeat
from math import fsum

from sidecar.core.ledger.units import Item
from sidecar.core.parts import PartId

NAMED = 0.1
"""Weight of a name's chance of use beside a block's chance of being needed word for word."""
NOTHING = repeat(0.0)
"""The worth of a name that nobody has weighed: for `map`, which ends with its other argument."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Parts kept whole, and all names covered."""

    whole: frozenset[PartId]
    covered: frozenset[str]


def choose(
    candidates: Sequence[Item],
    needed: Sequence[float],
    worth: Mapping[str, float],
    covered: set[str],
    *,
    room: int,
    density: float,
) -> Choice:
    """Take the densest part until `room` tokens are spent; covered names are worth nothing.

    `needed` is each candidate's chance of need per token, `worth` the chance of use per name,
    `density` the least worth per token. As names get covered, densities only fall: a leading part
    that is still as dense as before is the best.
    """
    known = set(covered)
    worth = {**worth, **dict.fromkeys(covered, 0.0)}

    def dense(number: int) -> float:
        item = candidates[number]
        names = fsum(map(worth.get, item.unit.names, NOTHING))
        return needed[number] + NAMED * names / max(1, item.tokens_whole)

    heap = [(-dense(number), -number) for number in range(len(candidates))]
    heapify(heap)
    taken: set[PartId] = set()
    while heap and -heap[0][0] >= density:
        before, rank = heappop(heap)
        item = candidates[-rank]
        if item.tokens_whole > room:
            continue
        now = -dense(-rank)
        if now > before:
            heappush(heap, (now, rank))
            continue
        room -= item.tokens_whole
        taken.add(item.unit.part_id)
        known |= item.unit.names
        worth.update(dict.fromkeys(item.unit.names, 0.0))
    return Choice(frozenset(taken), frozenset(known))
