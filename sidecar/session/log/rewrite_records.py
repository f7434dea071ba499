"""Rewrites as records, and back."""

from dataclasses import field
from typing import TypeVar, cast

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import JsonObject, MessageId, PartId
from sidecar.core.prompt.visibility import (
    Dropped,
    Excerpt,
    Note,
    Placeholder,
    Quoted,
    Rewrite,
    Shown,
    Truncated,
)
from sidecar.store.format.view_records import (
    DroppedShape,
    ExcerptShape,
    PlaceholderShape,
    QuotedShape,
    RewriteRecord,
    ShownShape,
    TruncatedShape,
    UndoneRecord,
    ViewRecord,
)

_NO_MORE, _GONE = Placeholder(), Dropped()
_PLACEHOLDER, _DROPPED = PlaceholderShape(), DroppedShape()
"""Each of them once: a long session leaves thousands of parts out."""
_V = TypeVar("_V", RewriteRecord, UndoneRecord)


@dataclass(frozen=True, slots=True)
class Recorded:
    """A logged rewrite; `opens` if it began an epoch.

    `anchor` is the first message after the rewritten stretch; `steps` counts model calls before.
    `factor` (from `observations`) and `bias` are the estimate in use. `summary` has author,
    attempts, cost and facts. An undo's `shown` has only thinking whose prefix fits no more, or
    again.
    """

    rewrite: Rewrite
    policy: str
    reason: str
    tokens_before: int
    tokens_after: int
    price: str | None
    steps: int
    anchor: MessageId | None
    opens: bool
    factor: float
    observations: int = 0
    bias: int = 0
    figures: JsonObject = field(default_factory=dict)
    summary: JsonObject = field(default_factory=dict)


def written(recorded: Recorded, kind: type[_V]) -> _V:
    """Makes a record without a revision."""
    rewrite = recorded.rewrite
    return kind(
        compaction_id=rewrite.id,
        cause=rewrite.cause,
        shown={part_id: _shape(how) for part_id, how in rewrite.shown.items()},
        # Any sequence is written as a list.
        notes=cast("tuple[Note, ...]", rewrite.notes),
        retired=cast("tuple[PartId, ...]", rewrite.retired),
        policy=recorded.policy,
        reason=recorded.reason,
        tokens_before=recorded.tokens_before,
        tokens_after=recorded.tokens_after,
        price=recorded.price,
        steps=recorded.steps,
        anchor=recorded.anchor,
        opens=recorded.opens,
        factor=recorded.factor,
        observations=recorded.observations,
        bias=recorded.bias,
        figures=recorded.figures,
        summary=recorded.summary,
    )


def recorded_in(record: ViewRecord) -> Recorded:
    shown = {part_id: _shown(how) for part_id, how in record.shown.items()}
    rewrite = Rewrite(record.compaction_id, record.cause, shown, record.notes, record.retired)
    return Recorded(
        rewrite=rewrite,
        policy=record.policy,
        reason=record.reason,
        tokens_before=record.tokens_before,
        tokens_after=record.tokens_after,
        price=record.price,
        steps=record.steps,
        anchor=record.anchor,
        opens=record.opens,
        factor=record.factor,
        observations=record.observations,
        bias=record.bias,
        figures=record.figures,
        summary=record.summary,
    )


def _shape(how: Shown | None) -> ShownShape | None:
    match how:
        case Truncated(keep=keep, max_bytes=most):
            return TruncatedShape(keep, most)
        case Excerpt(lines=lines):
            return ExcerptShape(lines)
        case Quoted(spans=spans):
            return QuotedShape(spans)
        case Placeholder():
            return _PLACEHOLDER
        case Dropped():
            return _DROPPED
        case None:
            return None


def _shown(shape: ShownShape | None) -> Shown | None:
    match shape:
        case TruncatedShape(keep=keep, max_bytes=most):
            return Truncated(keep, most)
        case ExcerptShape(lines=lines):
            return Excerpt(lines)
        case QuotedShape(spans=spans):
            return Quoted(spans)
        case PlaceholderShape():
            return _NO_MORE
        case DroppedShape():
            return _GONE
        case None:
            return None
