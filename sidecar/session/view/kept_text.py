"""Results' texts, small once no view shows them.

A long session keeps thousands, which are read again for a rewrite alone that shows them, or by who
asks for the log.
"""

from collections.abc import Iterable, Mapping

from sidecar.core.parts import HeldText, KeptText, Message, PartId, ToolCompleted, ToolPart
from sidecar.core.prompt.visibility import Shown

LEAST = 1_000
"""Characters of a text that is worth packing."""


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
