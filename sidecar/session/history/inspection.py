"""Itemises the next request's context."""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from sidecar.core.conversation.call_outcome import argument, one_line
from sidecar.core.dataclass import dataclass
from sidecar.core.parts import (
    FilePart,
    JsonObject,
    Message,
    OpaquePart,
    Part,
    PartId,
    ReasoningPart,
    TextPart,
    ToolPart,
    TurnId,
)
from sidecar.core.prompt.budget import shares
from sidecar.core.prompt.render import (
    Block,
    CallBlock,
    MediaBlock,
    OpaqueBlock,
    ReasoningBlock,
    Region,
    Rendered,
    ResultBlock,
    TextBlock,
)
from sidecar.core.prompt.tokens import Count, count_block, count_tool
from sidecar.session.log.session_log import SessionLog
from sidecar.session.view.model_view import ModelView
from sidecar.session.view.view_history import Views
from sidecar.tools.mcp_names import server_of

LABEL = 80
ENOUGH = 24_000
"""Characters searched for keys before the cut to a label or title."""
THINKING = "thinking"
UNKNOWN = "unknown block"


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of the context; all `tokens` sum to the meter's `used`.

    `reason`: of the rewrite by which the part is not shown whole.
    """

    id: str
    region: Region
    label: str
    tokens: int
    presentation: str
    cached: bool
    turn_id: TurnId | None = None
    part_id: str | None = None
    server: str = ""
    pinned: bool = False
    reason: str = ""


def segments(
    view: ModelView, log: SessionLog, count: Count, regions: Mapping[Region, int], hit: int | None
) -> tuple[Segment, ...]:
    """Lists the context's pieces in prompt order; tokens add up to the meter's `regions`.

    Pieces are cached up to link `hit` of the prompt's hash chain, in which all tools are one.
    Dropped parts have no tokens.
    """
    pieces = list(_pieces(view, log, count))
    raws: dict[Region, list[int]] = {}
    for segment, raw, _ in pieces:
        raws.setdefault(segment.region, []).append(raw)
    told = {region: iter(shares(found, regions[region])) for region, found in raws.items()}
    given: list[Segment] = []
    for segment, _, link in pieces:
        cached = link is not None and hit is not None and link <= hit
        given.append(replace(segment, tokens=next(told[segment.region]), cached=cached))
    return tuple(given)


def _pieces(
    view: ModelView, log: SessionLog, count: Count
) -> Iterator[tuple[Segment, int, int | None]]:
    """Yields segments with raw tokens and link in the hash chain, `None` if unsent."""
    for tool in view.static.tools:
        piece = Segment(f"tool:{tool.name}", "tools", tool.name, 0, "verbatim", False)
        piece = replace(piece, server=server_of(tool))
        yield piece, count_tool(tool, count), 0
    links = itertools.count(1)
    for number, block in enumerate(view.static.system):
        label = "system prompt" if block.region == "system" else str(block.region)
        piece = Segment(f"static:{number}", block.region, label, 0, "verbatim", False)
        yield piece, count_block(block, count), next(links)
    for seen in view.rendering.seen(log):
        pieces = [
            Segment(n.id, n.region, one_line(n.text, LABEL), 0, "note", False, None, n.id)
            for n in seen.notes
        ]
        blocks = [block for one in seen.rendered for block in one.blocks]
        pieces += [_of_block(view, block) for block in blocks[len(pieces) :]]
        for piece, raw in zip(pieces, seen.raw, strict=True):
            yield piece, raw, next(links)
        yield from ((gone, 0, None) for gone in _dropped(view, seen.message, seen.rendered))


def marked(found: Iterable[Segment], views: Views) -> Iterator[Segment]:
    """Adds pins, and reasons for parts that are not whole."""
    pinned = views.pinned
    reasons = {
        part_id: recorded.reason
        for recorded in views.standing()
        for part_id in recorded.rewrite.shown
    }
    for one in found:
        whole = one.presentation in ("verbatim", "note")
        reason = "" if one.part_id is None or whole else reasons.get(PartId(one.part_id), "")
        yield replace(one, pinned=one.part_id in pinned, reason=reason)


def _of_block(view: ModelView, block: Block) -> Segment:
    part_id = block.part_id
    result = isinstance(block.content, ResultBlock)
    how = None if part_id is None else view.rendering.shown.shown.get(part_id)
    # A call keeps its input, whatever became of its result.
    whole = how is None or isinstance(block.content, CallBlock)
    kind = "verbatim" if whole else type(how).__name__.lower()
    return Segment(
        f"{part_id}:result" if result else str(part_id),
        block.region,
        _label(block),
        0,
        kind,
        False,
        block.turn_id,
        part_id,
    )


def _dropped(
    view: ModelView, message: Message, rendered: tuple[Rendered, ...]
) -> Iterator[Segment]:
    here = {block.part_id for one in rendered for block in one.blocks}
    for part in message.parts:
        if part.id in view.rendering.shown.shown and part.id not in here:
            region, label = described(part)
            label = one_line(label, LABEL)
            yield Segment(part.id, region, label, 0, "dropped", False, message.turn_id, part.id)


def described(part: Part) -> tuple[Region, str]:
    match part:
        case TextPart(source="context", text=text):
            return "context", text
        case TextPart(source="typed" | "steer", text=text):
            return "user", text
        case TextPart(text=text):
            return "assistant", text
        case FilePart(name=name, uri=uri):
            return "user", name or uri
        case ReasoningPart():
            return "reasoning", THINKING
        case ToolPart(name=name, input=given):
            return "toolResults", f"{name} {argument(given)}"
        case OpaquePart(block=body):
            return "assistant", str(body.get("type", UNKNOWN))
        case _:
            return "assistant", ""


def _label(block: Block) -> str:
    match block.content:
        case TextBlock(text=text):
            return one_line(text, LABEL)
        case ReasoningBlock():
            return THINKING
        case CallBlock(name=name, input=given):
            return one_line(f"{name} {argument(given)}", LABEL)
        case ResultBlock(text=text):
            return one_line(text, LABEL) or "(no output)"
        case MediaBlock(media=media):
            return media.media_type
        case OpaqueBlock(block=body):
            return str(body.get("type", UNKNOWN))


def as_json(segment: Segment, accuracy: str) -> JsonObject:
    told: JsonObject = {
        "id": segment.id,
        "region": segment.region,
        "label": segment.label,
        "tokens": segment.tokens,
        "accuracy": accuracy,
        "presentation": segment.presentation,
        "cached": segment.cached,
        "pinned": segment.pinned,
    }
    if segment.reason:
        told["reason"] = segment.reason
    if segment.server:
        told["server"] = segment.server
    if segment.turn_id is not None:
        told["turnId"] = segment.turn_id
    if segment.part_id is not None:
        told["partId"] = segment.part_id
    return told
