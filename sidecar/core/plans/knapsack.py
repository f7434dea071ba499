"""Chooses pieces that a rewrite keeps whole, by worth per token."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from heapq import heapify, heappop, heappush
from math import fsum
from typing import NamedTuple

from sidecar.core.parts import PartId

NAMED = 0.15
"""Weight of a name's chance of use beside a block's chance of being needed word for word."""


class Piece(NamedTuple):
    """A part that may be kept whole; `need`: chance of need per token."""

    id: PartId
    tokens: int
    need: float
    names: Collection[str] = ()


def choose(
    pieces: Sequence[Piece],
    worth: Mapping[str, float],
    covered: Set[str],
    *,
    room: int,
    density: float,
    stands: Callable[[PartId], bool] = lambda _: True,
) -> frozenset[PartId]:
    """Picks the piece with most worth per token, until `room` tokens are spent.

    `worth`: chance of use per name; names `covered` or picked count for nothing. `density`: least
    worth per token. `stands`: whether a piece still shows what is so; asked of the next piece
    alone. Worth only falls: a leader still as dense is best.
    """
    weighed = defaultdict(float, worth)
    weighed.update(dict.fromkeys(covered, 0.0))
    chance = weighed.__getitem__

    def dense(piece: Piece) -> float:
        _, tokens, need, names = piece
        return need + NAMED * fsum(map(chance, names)) / (tokens or 1)

    heap = [(-dense(one), -number) for number, one in enumerate(pieces) if one.tokens <= room]
    heapify(heap)
    least = min([piece.tokens for piece in pieces], default=0)
    taken: set[PartId] = set()
    while heap and -heap[0][0] >= density and least <= room:
        before, rank = heappop(heap)
        piece = pieces[-rank]
        if piece.tokens > room:
            continue
        now = -dense(piece)
        if now > before:
            heappush(heap, (now, rank))
            continue
        if not stands(piece.id):
            continue
        room -= piece.tokens
        taken.add(piece.id)
        weighed.update(dict.fromkeys(piece.names, 0.0))
    return frozenset(taken)
