"""Notes of rewrites, small once no view shows them.

Each rewrite says most of an older one's notes anew: a long session keeps thousands, for an undo.
"""

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import overload

from sidecar.core.prompt.visibility import Note


class KeptNotes(Sequence[Note]):
    """Equal to a tuple of the same notes."""

    __slots__ = ("_count", "_notes", "_packed")

    def __init__(self, notes: Iterable[Note]) -> None:
        self._notes = tuple(notes)
        self._count = len(self._notes)
        self._packed = b""

    def pack(self) -> None:
        """From now on notes are made anew whenever they are asked for."""
        if self._notes:
            rows = [(note.id, note.text, note.before, note.region) for note in self._notes]
            self._packed, self._notes = zlib.compress(json.dumps(rows).encode(), 1), ()

    def _all(self) -> tuple[Note, ...]:
        if not self._packed:
            return self._notes
        return tuple(Note(*row) for row in json.loads(zlib.decompress(self._packed)))

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Note]:
        return iter(self._all())

    @overload
    def __getitem__(self, index: int) -> Note: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Note, ...]: ...
    def __getitem__(self, index: int | slice) -> Note | tuple[Note, ...]:
        return self._all()[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, tuple | KeptNotes) and self._all() == tuple(other)

    def __hash__(self) -> int:
        return hash(self._all())
