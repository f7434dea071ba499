"""Notes of rewrites, small once no view shows them.

Each rewrite says most of an older one's notes anew: a long session keeps thousands, for an undo.
"""

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar, overload

from sidecar.core.parts import PartId
from sidecar.core.prompt.visibility import Note

_T = TypeVar("_T")


class _Kept(Sequence[_T], Generic[_T]):
    """Equals a tuple of its values; packed, these are made anew when asked for."""

    __slots__ = ("_count", "_packed", "_values")

    def __init__(self, values: Iterable[_T]) -> None:
        self._values = tuple(values)
        self._count = len(self._values)
        self._packed = b""

    def pack(self) -> None:
        if self._values:
            rows = json.dumps([self._row(value) for value in self._values])
            self._packed, self._values = zlib.compress(rows.encode(), 1), ()

    def _row(self, value: _T) -> object:
        return value

    def _value(self, row: Any) -> _T:  # noqa: ANN401 - as JSON gives a row
        found: _T = row
        return found

    def _all(self) -> tuple[_T, ...]:
        if not self._packed:
            return self._values
        return tuple(map(self._value, json.loads(zlib.decompress(self._packed))))

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> _T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[_T, ...]: ...
    def __getitem__(self, index: int | slice) -> _T | tuple[_T, ...]:
        return self._all()[index]

    def __iter__(self) -> Iterator[_T]:
        return iter(self._all())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, tuple | _Kept) and self._all() == tuple(other)

    def __hash__(self) -> int:
        return hash(self._all())


class KeptNotes(_Kept[Note]):
    """To be packed once no view shows one of them."""

    def _row(self, value: Note) -> object:
        return value.id, value.text, value.before, value.region

    def _value(self, row: Any) -> Note:  # noqa: ANN401 - as JSON gives a row
        return Note(*row)


class KeptIds(_Kept[PartId]):
    """Packed from the beginning."""

    def __init__(self, values: Iterable[PartId]) -> None:
        super().__init__(values)
        self.pack()
