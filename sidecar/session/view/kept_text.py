"""Results' texts, small once no view shows them.

A long session keeps thousands, which are read again for a rewrite alone that shows them, or by who
asks for the log.
"""

import zlib
from collections.abc import Iterable, Mapping

from sidecar.core.parts import HeldText, Message, PackedText, PartId, ToolCompleted, ToolPart
from sidecar.core.prompt.visibility import Shown

LEAST = 1_000
"""Characters of a text that is worth packing."""


class KeptText(PackedText):
    """To be packed once no view shows the text, from any thread."""

    __slots__ = ("_hash", "_held", "_length")

    def __init__(self, text: str) -> None:
        self._held: str | bytes = text
        self._hash, self._length = hash(text), len(text)

    def pack(self) -> None:
        held = self._held
        if isinstance(held, str):
            self._held = zlib.compress(held.encode("utf-8", "surrogatepass"), 1)

    def __str__(self) -> str:
        held = self._held
        if isinstance(held, str):
            return held
        return zlib.decompress(held).decode("utf-8", "surrogatepass")

    def __len__(self) -> int:
        return self._length

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if other is self or not isinstance(other, str | KeptText):
            return other is self
        return hash(other) == self._hash and str(other) == str(self)

    def __repr__(self) -> str:
        return repr(str(self))


def held(text: str) -> HeldText:
    return KeptText(text) if len(text) >= LEAST else text


def packable(messages: Iterable[Message], shown: Mapping[PartId, Shown | None]) -> list[KeptText]:
    """Finds results' texts that a rewrite does not show whole."""
    return [
        part.state.output.held
        for message in messages
        for part in message.parts
        if isinstance(part, ToolPart)
        and shown.get(part.id) is not None
        and isinstance(part.state, ToolCompleted)
        and isinstance(part.state.output.held, KeptText)
    ]


def pack(texts: Iterable[KeptText]) -> None:
    """Takes 10 ms for a megabyte."""
    for text in texts:
        text.pack()
