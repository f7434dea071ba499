"""Messages as the model sees them."""

from collections.abc import Mapping
from itertools import takewhile
from typing import TypeAlias

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import (
    Message,
    MessageId,
    Millis,
    OpaquePart,
    PartId,
    ReasoningPart,
    ToolPart,
    Usage,
)
from sidecar.core.prompt.render import (
    Block,
    CallBlock,
    KnownCall,
    Region,
    Rendered,
    ResultBlock,
    render,
    result_of,
)
from sidecar.core.prompt.tokens import Count, count_block
from sidecar.core.prompt.visibility import Note, Shown, rendered_note, show

PartWeights: TypeAlias = Mapping[PartId, tuple[int, int]]
"""Raw estimates by part: (the call's own share, the rest)."""

NO_REGIONS: Mapping[Region, int] = {}
"""Of most messages of a long session, which show nothing."""


@dataclass(frozen=True, slots=True)
class RenderedMessage:
    """A message behind its notes, with raw estimates per block.

    `notes` come first in `rendered` and in `raw`, one block each.
    """

    message: Message
    model: str
    notes: tuple[Note, ...]
    rendered: tuple[Rendered, ...]
    raw: tuple[int, ...]
    regions: Mapping[Region, int]

    def weights(self) -> dict[PartId, tuple[int, int]]:
        parts: dict[PartId, tuple[int, int]] = {}
        blocks = (block for one in self.rendered for block in one.blocks)
        for block, tokens in zip(blocks, self.raw, strict=True):
            if block.part_id is not None:
                call, rest = parts.get(block.part_id, (0, 0))
                is_call = isinstance(block.content, CallBlock)
                weight = (call + tokens, rest) if is_call else (call, rest + tokens)
                parts[block.part_id] = weight
        return parts


@dataclass(frozen=True, slots=True)
class Anchor:
    """The last response whose usage still measures the prompt's beginning.

    `blocks` counts message blocks in its request. A rewrite ends the anchor; `ModelView.last` keeps
    what is cached.
    """

    message_id: MessageId
    usage: Usage
    started: Millis
    blocks: int
    model: str


def look(
    message: Message,
    shown: Mapping[PartId, Shown],
    model: str,
    count: Count,
    notes: tuple[Note, ...] = (),
    before: RenderedMessage | None = None,
) -> RenderedMessage:
    """Renders and counts a message; `before`, the same shown alike, has what is unchanged."""
    chosen = _rough if message.status == "open" else count
    known = {} if before is None or before.model != model else _kept(before, message)
    plain = (*map(rendered_note, notes), *render(show(message, shown), model, known))
    rendered: list[Rendered] = []
    raw: list[int] = []
    regions: dict[Region, int] = {}
    for one in plain:
        blocks: list[Block] = []
        for block in one.blocks:
            counted, region = block, block.region
            if block.tokens is None:
                # Each block of a long session passes here: `replace` takes three times as long.
                tokens = count_block(block, chosen)
                counted = Block(block.content, region, block.part_id, block.turn_id, tokens)
            blocks.append(counted)
            raw.append(counted.tokens or 0)
            regions[region] = regions.get(region, 0) + raw[-1]
        rendered.append(Rendered(one.role, tuple(blocks)))
    return RenderedMessage(
        message, model, notes, tuple(rendered), tuple(raw), regions or NO_REGIONS
    )


def _kept(before: RenderedMessage, message: Message) -> dict[PartId, KnownCall]:
    """Finds counted blocks of unchanged calls; of those that went on, the call's own."""
    if (before.message.status == "open") != (message.status == "open"):
        return {}
    pairs = zip(before.message.parts, message.parts, strict=False)
    calls = [(a, b) for a, b in pairs if isinstance(a, ToolPart) and isinstance(b, ToolPart)]
    same = {
        now.id: was is now
        for was, now in calls
        if was is now
        or (
            (was.call_id, was.name) == (now.call_id, now.name)
            and was.input is now.input
            and was.metadata is now.metadata
        )
    }
    kept: dict[PartId, KnownCall] = {}
    for block in [block for one in before.rendered for block in one.blocks]:
        if block.part_id is None or block.part_id not in same:
            continue
        if isinstance(block.content, CallBlock):
            kept[block.part_id] = block, None
        elif isinstance(block.content, ResultBlock) and same[block.part_id]:
            kept[block.part_id] = kept[block.part_id][0], block
    return kept


def weigh_result(message: Message, part: ToolPart, count: Count) -> int:
    """Estimates a call's whole result raw, as `look` does."""
    chosen = _rough if message.status == "open" else count
    return count_block(Block(result_of(part), "toolResults"), chosen)


def alike(one: RenderedMessage, other: RenderedMessage) -> int:
    pairs = zip(
        (block for rendered in one.rendered for block in rendered.blocks),
        (block for rendered in other.rendered for block in rendered.blocks),
        strict=False,
    )
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def thinks(message: Message) -> bool:
    """Whether content is bound to the prompt before."""
    return any(isinstance(part, ReasoningPart | OpaquePart) for part in message.parts)


def characters(message: Message) -> int:
    return sum(len(getattr(part, "text", None) or "") for part in message.parts)


def _rough(text: str) -> int:
    # A message that still streams is counted again and again; this is good enough for the meter.
    return len(text) // 4
