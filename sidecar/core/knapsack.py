"""Chooses what to keep of many texts: whole ones or single lines, by worth per token."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from sidecar.core.parts import PartId
from sidecar.core.units import Item
from sidecar.core.value import CHARS_PER_TOKEN, Lifted, lift

HEADER = 60
"""Most characters that name where lines come from."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What stays: parts whole, lines of others, and all names that this and the rest cover."""

    whole: frozenset[PartId]
    lines: Mapping[PartId, Lifted]
    covered: frozenset[str]


def choose(
    candidates: Sequence[Item],
    worth: Mapping[str, float],
    covered: set[str],
    *,
    room: int,
    density: float,
    whole: int,
    prose: float,
) -> Choice:
    """Take the densest option again and again; names once covered are worth nothing more.

    Densities only fall as names get covered, so an option that still leads after it has been
    weighed anew is the best there is.
    """
    known = set(covered)
    least = density / CHARS_PER_TOKEN
    options: list[tuple[float, int, bool]] = []
    for index, item in enumerate(candidates):
        if (value := _value(item, worth, known, prose)) <= 0:
            continue
        if item.tokens_whole <= whole:
            options.append((-value / max(1, item.tokens_whole), index, True))
        lifted = lift(item.unit.text, worth, known, least)
        if lifted is not None:
            options.append((-lifted.worth / _size(item, lifted), index, False))
    heapify(options)
    taken: set[PartId] = set()
    lines: dict[PartId, Lifted] = {}
    while options:
        _, index, entire = heappop(options)
        item = candidates[index]
        part_id = item.unit.part_id
        if part_id in taken or part_id in lines:
            continue
        lifted = None
        if entire:
            tokens, names = item.tokens_whole, item.unit.names
            gain = _value(item, worth, known, prose) / max(1, tokens)
        else:
            lifted = lift(item.unit.text, worth, known, least)
            if lifted is None:
                continue
            tokens, names = _size(item, lifted), lifted.names
            gain = lifted.worth / tokens
        if gain < density or tokens > room:
            continue
        if options and -gain > options[0][0] + 1e-12:
            heappush(options, (-gain, index, entire))
            continue
        room -= tokens
        known |= names
        if lifted is None:
            taken.add(part_id)
        else:
            lines[part_id] = lifted
    return Choice(frozenset(taken), lines, frozenset(known))


def _value(item: Item, worth: Mapping[str, float], covered: set[str], prose: float) -> float:
    weight = prose if item.unit.kind == "prose" else 1.0
    return weight * sum(worth.get(name, 0.0) for name in item.unit.names if name not in covered)


def _size(item: Item, lifted: Lifted) -> int:
    header = min(HEADER, len(item.unit.argument) + 20)
    return max(1, round((lifted.size + header) / CHARS_PER_TOKEN))
