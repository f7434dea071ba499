"""Estimates tokens, corrected by reported totals: the tokenizer is not the provider's."""

import json
from base64 import b64decode
from collections.abc import Callable
from typing import TypeAlias

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Media
from sidecar.core.prompt.prompt import ToolSpec
from sidecar.core.prompt.render import (
    Block,
    CallBlock,
    MediaBlock,
    OpaqueBlock,
    ReasoningBlock,
    ResultBlock,
    TextBlock,
)

Count: TypeAlias = Callable[[str], int]
"""Tokens of a text, by some tokenizer."""

FRAMING = 4
"""Tokens around a block: role, type, delimiters."""
CALL_FRAMING = 12
IMAGE = 1_600
"""The provider scales larger images down to about this; used where the size cannot be read."""
PDF_PAGE = 2_000
PDF_PAGE_BYTES = 50_000
SMALLEST = 500
"""Raw tokens; less says more about framing than about the tokenizer."""
LEAST_BELIEVED = 0.25
"""A report of fewer tokens for each raw one does not count this text, and teaches nothing."""
MOST_AT_FIRST = 2.0
"""A first answer raises the factor so many times at most: the rest is what vendors add to tools."""
USUAL_FACTOR = 1.25
"""Tokens that a model counts for each of a raw estimate, where nothing is known of it."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Corrects raw estimates: `factor` is tokens per raw token, from `observations` answers.

    `bias`: tokens to add to the text before the history.
    """

    factor: float
    observations: int = 0
    bias: int = 0

    def static(self, raw: int) -> int:
        return round(raw * self.factor) + self.bias


def observe(calibration: Calibration, *, static: int, history: int, reported: int) -> Calibration:
    """Learns from a `reported` total of tokens; `static` and `history` are raw estimates.

    The first answer divides the total in proportion. Later answers leave the static part and give
    the history the rest, unless too small.
    """
    known = calibration
    if (known.observations and history < SMALLEST) or (
        reported < LEAST_BELIEVED * (static + history)
    ):
        return known
    factor, head = known.factor, known.static(static)
    if known.observations and reported - head >= LEAST_BELIEVED * history:
        factor = (reported - head) / history
    elif static + history >= SMALLEST:
        factor = min(reported / (static + history), MOST_AT_FIRST * factor)
        head = reported - round(factor * history)
    else:
        head = max(0, reported - round(factor * history))
    return Calibration(factor, known.observations + 1, head - round(static * factor))


def count_block(block: Block, count: Count) -> int:
    texts, rest = counted_in(block)
    return sum(map(count, texts)) + rest


def counted_in(block: Block) -> tuple[tuple[str, ...], int]:
    """Returns a block's texts, and the tokens of what is no text."""
    match block.content:
        case TextBlock(text=text):
            return (text,), FRAMING
        case MediaBlock(media=media):
            return (), count_media(media)
        case ReasoningBlock(text=text, metadata=metadata):
            # Redacted thinking is opaque; its length is the only clue.
            hidden = str(metadata.get("data") or metadata.get("encrypted_content") or "")
            return (text,), len(hidden) // 4 + FRAMING
        case CallBlock(name=name, input=given):
            return (name, json.dumps(given, ensure_ascii=False)), CALL_FRAMING
        case ResultBlock(text=text, media=media):
            return (text,), sum(map(count_media, media)) + CALL_FRAMING
        case OpaqueBlock(block=body):
            return (json.dumps(body, ensure_ascii=False),), FRAMING


def count_tool(tool: ToolSpec, count: Count) -> int:
    return sum(map(count, texts_of_tool(tool))) + CALL_FRAMING


def texts_of_tool(tool: ToolSpec) -> tuple[str, ...]:
    return tool.name, tool.description, json.dumps(tool.input_schema, ensure_ascii=False)


def count_media(media: Media) -> int:
    """Returns tokens of an image (width x height / 750, up to 1,600) or a document (by bytes)."""
    if media.media_type == "application/pdf":
        return PDF_PAGE * max(1, len(media.data) * 3 // 4 // PDF_PAGE_BYTES)
    try:
        size = _image_size(b64decode(media.data[:400], validate=False))
    except ValueError:
        size = None
    return IMAGE if size is None else min(IMAGE, max(1, size[0] * size[1] // 750))


def _image_size(head: bytes) -> tuple[int, int] | None:
    if head.startswith(b"\x89PNG\r\n\x1a\n") and len(head) >= 24:
        return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")
    if head.startswith((b"GIF87a", b"GIF89a")) and len(head) >= 10:
        return int.from_bytes(head[6:8], "little"), int.from_bytes(head[8:10], "little")
    return None


DISAGREES = 0.10
"""When a reported total differs by more than this share from the estimate, it is said."""
PLAUSIBLE = (0.8, 3.0)
"""Tokens that any model counts for each of a raw estimate."""


def checked(reported: int, raw: int, factor: float) -> str:
    least, most = PLAUSIBLE
    estimated = raw * min(most, max(least, factor))
    if estimated and abs(reported / estimated - 1) > DISAGREES:
        return f"as the provider reported it; the text alone was estimated at {round(estimated)}"
    return "as the provider reported it"


def tokens_of(text: str) -> int:
    return round(len(text) / 2.9) + 8


def weigh(text: str, factor: float = USUAL_FACTOR) -> int:
    """Estimates tokens within a tenth; digits take almost one more token each."""
    data = text.encode("utf-8", "surrogatepass")
    digits = len(data) - len(data.translate(None, b"0123456789"))
    usual = len(text) / 3.2 + 0.93 * digits
    return round(usual * factor / USUAL_FACTOR) + 8
