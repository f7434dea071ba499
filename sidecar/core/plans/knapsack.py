"""Chooses texts, or single lines, to keep by worth per token."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from math import fsum
from typing import NamedTuple

from sidecar.core.ledger.units import Item
from sidecar.core.parts import PartId
from sidecar.core.plans.line_picks import NOTHING, Lifted, NamedLines, lift, lines_of
from sidecar.core.plans.value import CHARS_PER_TOKEN

HEADER = 60
"""Most characters that name where lines come from."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Parts kept whole, lines kept of others, all names covered."""

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
    """Take the densest option until `room` tokens are spent; covered names are worth nothing.

    `worth` is per name, `density` the least worth per token, `whole` the most tokens of a part kept
    whole; `prose` multiplies the worth of prose.

    As names get covered, densities only fall: a leading option with nothing newly covered is the
    best.
    """
    texts = [lines_of(item.unit.text, item.unit.names) for item in candidates]
    known = set(covered)
    worth = {**worth, **dict.fromkeys(covered | _foreign(candidates, texts), 0.0)}
    least = density / CHARS_PER_TOKEN
    heap: list[tuple[float, int, _Option]] = []
    for index, (item, text) in enumerate(zip(candidates, texts, strict=True)):
        values = text.values(worth)
        if item.tokens_whole <= whole:
            entire = _entire(item, item.unit.names, known, text.total(values), density, prose)
            if entire is not None:
                heap.append((-entire.density, 2 * index, entire))
                if _is_line(item, text, entire):
                    continue
        among = text.promising(values, least)
        if among and (lifted := _lines(item, text, values, density, among)) is not None:
            heap.append((-lifted.density, 2 * index + 1, lifted))
    heapify(heap)
    taken: set[PartId] = set()
    lines: dict[PartId, Lifted] = {}
    while heap:
        _, rank, option = heappop(heap)
        item = option.item
        part_id = item.unit.part_id
        if part_id in taken or part_id in lines or option.tokens > room:
            continue
        if not option.gained.isdisjoint(known):
            if option.lifted is None:
                left = option.gained - known
                value = fsum(map(worth.get, left, NOTHING))
                again = _entire(item, left, known, value, density, prose)
            else:
                chosen = option.lifted.numbers
                text = texts[rank // 2]
                again = _lines(item, text, text.values(worth), density, chosen)
            if again is not None:
                heappush(heap, (-again.density, rank, again))
            continue
        room -= option.tokens
        now = item.unit.names if option.lifted is None else option.lifted.names
        if option.lifted is None:
            taken.add(part_id)
        else:
            lines[part_id] = option.lifted
        known |= now
        worth.update(dict.fromkeys(now, 0.0))
    return Choice(frozenset(taken), lines, frozenset(known))


def _foreign(candidates: Sequence[Item], texts: Sequence[NamedLines]) -> set[str]:
    strays = {name for lines in texts for name in lines.order[: lines.strays]}
    return strays.difference(*[item.unit.names for item in candidates]) if strays else strays


class _Option(NamedTuple):
    """A text whole, or `lifted` lines; the `gained` names make up its density."""

    item: Item
    tokens: int
    density: float
    gained: frozenset[str]
    lifted: Lifted | None = None


def _entire(
    item: Item,
    names: frozenset[str],
    covered: set[str],
    value: float,
    density: float,
    prose: float,
) -> _Option | None:
    tokens = max(1, item.tokens_whole)
    dense = (prose if item.unit.kind == "prose" else 1.0) * value / tokens
    if not value or dense < density:
        return None
    return _Option(item, tokens, dense, names if names.isdisjoint(covered) else names - covered)


def _is_line(item: Item, lines: NamedLines, entire: _Option) -> bool:
    if len(lines.texts) != 1 or len(lines.texts[0]) != len(item.unit.text):
        return False
    return not item.unit.call_names and _tokens(item, lines.sizes[0]) >= entire.tokens


def _lines(
    item: Item, lines: NamedLines, values: Sequence[float], density: float, among: Sequence[int]
) -> _Option | None:
    lifted = lift(lines, values, density / CHARS_PER_TOKEN, among)
    if lifted is None:
        return None
    tokens = _tokens(item, lifted.size)
    dense = lifted.worth / tokens
    return _Option(item, tokens, dense, lifted.gained, lifted) if dense >= density else None


def _tokens(item: Item, size: int) -> int:
    header = min(HEADER, len(item.unit.argument) + 20)
    return max(1, round((size + header) / CHARS_PER_TOKEN))
