"""Token counts: raw estimates, corrected by reported ones.

Estimates use a foreign tokenizer; a factor per model corrects them.
"""

import json
from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

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
"""Deltas below this say more about framing than about the tokenizer."""
USUAL_FACTOR = 1.25
"""Tokens that a model counts for each of a raw estimate, where nothing is known of it."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """A factor for raw estimates, and the number of corrections."""

    factor: float
    observations: int = 0


def observe(calibration: Calibration, *, raw_delta: int, reported_delta: int) -> Calibration:
    """Learn from the growth between two totals, estimated and reported.

    A moving average, early observations weighing most; factors stay in 0.8 to 3.
    """
    if raw_delta < SMALLEST or reported_delta <= 0:
        return calibration
    seen = min(3.0, max(0.8, reported_delta / raw_delta))
    weight = max(0.15, 1 / (calibration.observations + 1))
    factor = calibration.factor + weight * (seen - calibration.factor)
    return Calibration(min(3.0, max(0.8, factor)), calibration.observations + 1)


def count_block(block: Block, count: Count) -> int:
    """Raw estimate of a block."""
    match block.content:
        case TextBlock(text=text):
            return count(text) + FRAMING
        case MediaBlock(media=media):
            return count_media(media)
        case ReasoningBlock(text=text, metadata=metadata):
            # Redacted thinking is opaque; its length is the only clue.
            hidden = str(metadata.get("data", ""))
            return count(text) + len(hidden) // 4 + FRAMING
        case CallBlock(name=name, input=given):
            return count(name) + count(json.dumps(given, ensure_ascii=False)) + CALL_FRAMING
        case ResultBlock(text=text, media=media):
            return count(text) + sum(count_media(m) for m in media) + CALL_FRAMING
        case OpaqueBlock(block=body):
            return count(json.dumps(body, ensure_ascii=False)) + FRAMING


def count_tool(tool: ToolSpec, count: Count) -> int:
    """Raw estimate of a tool's definition."""
    schema = json.dumps(tool.input_schema, ensure_ascii=False)
    return count(tool.name) + count(tool.description) + count(schema) + CALL_FRAMING


def count_media(media: Media) -> int:
    """Tokens of an image (width x height / 750, at most 1,600) or a document (by bytes)."""
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


def checked(reported: int, estimated: float) -> str:
    """Whether a reported total agrees with its estimate, in words."""
    if estimated and abs(reported / estimated - 1) > DISAGREES:
        return f"as the provider reported it; the text alone was estimated at {round(estimated)}"
    return "as the provider reported it"


def tokens_of(text: str) -> int:
    """Estimate a note without a tokenizer."""
    return round(len(text) / 2.9) + 8


def weigh(text: str, factor: float = USUAL_FACTOR) -> int:
    """Estimate a note within a tenth.

    Hashes, times and numbers take almost one more token a digit.
    """
    usual = len(text) / 3.2 + 0.93 * sum(map(text.count, "0123456789"))
    return round(usual * factor / USUAL_FACTOR) + 8
