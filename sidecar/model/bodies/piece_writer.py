"""Writes bodies in pieces, and keeps those that the next body may repeat."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

import msgspec

from sidecar.core.parts import JsonObject
from sidecar.core.prompt.prompt import ToolSpec
from sidecar.core.prompt.render import Rendered
from sidecar.model.bodies.body_json import json_bytes

_Piece = TypeVar("_Piece", Rendered, ToolSpec)


class PieceWriter:
    """Keeps the last body's pieces as JSON, by identity."""

    def __init__(self) -> None:
        self._last: dict[int, tuple[object, bytes]] = {}
        self._now: dict[int, tuple[object, bytes]] = {}

    def unwritten(self, messages: Sequence[Rendered]) -> int:
        """Counts blocks of messages that the last body lacked."""
        return sum(len(one.blocks) for one in messages if id(one) not in self._last)

    def array(
        self,
        pieces: Sequence[_Piece],
        make: Callable[[_Piece], list[JsonObject]],
        before: Iterable[JsonObject] = (),
        instead: Mapping[int, list[JsonObject]] | None = None,
    ) -> msgspec.Raw:
        """Writes a list of `make`'s results, which depend on the piece alone.

        `instead` gives, by identity, replacements of pieces not kept.
        """
        written = [json_bytes(one) for one in before]
        for piece in pieces:
            if instead and id(piece) in instead:
                written.append(_joined(instead[id(piece)]))
                continue
            known = self._last.get(id(piece)) or (piece, _joined(make(piece)))
            self._now[id(piece)] = known
            written.append(known[1])
        return msgspec.Raw(b"[" + b",".join(filter(None, written)) + b"]")

    def whole(self, body: dict[str, object]) -> bytes:
        """Writes and ends a body of `array`'s lists and plain values."""
        self._last, self._now = self._now, {}
        return msgspec.json.encode(body)


def _joined(made: list[JsonObject]) -> bytes:
    return b",".join(map(json_bytes, made))
