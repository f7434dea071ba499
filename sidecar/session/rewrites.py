"""Rewrites of the view as records of the log, and back. What the model sees follows from them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from sidecar.core.parts import Json, JsonObject, MessageId, Part, PartId
from sidecar.core.render import Region
from sidecar.core.view import (
    Cause,
    Dropped,
    Excerpt,
    Note,
    Placeholder,
    Rewrite,
    Shown,
    Truncated,
    View,
    fold_rewrites,
)
from sidecar.session.log import SessionLog
from sidecar.store.values import Record

REWRITE = "rewrite"
UNDONE = "rewrite_undone"
PINNED = "pin"


@dataclass(frozen=True, slots=True)
class Recorded:
    """A rewrite as the log has it: what it changed, and the decision behind it.

    `anchor` is the first message after what was rebuilt; `steps` counts the model calls before.
    `opens` says that it began an epoch: one that only cut what had not been sent yet did not.
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
    figures: JsonObject = field(default_factory=dict)


def to_json(recorded: Recorded) -> JsonObject:
    """Give the body of a rewrite's record."""
    rewrite = recorded.rewrite
    notes: list[Json] = [
        {"id": n.id, "text": n.text, "before": n.before, "region": n.region} for n in rewrite.notes
    ]
    return {
        "compactionId": rewrite.id,
        "cause": rewrite.cause,
        "shown": {part_id: _shown_to_json(how) for part_id, how in rewrite.shown.items()},
        "notes": notes,
        "retired": list(rewrite.retired),
        "policy": recorded.policy,
        "reason": recorded.reason,
        "tokensBefore": recorded.tokens_before,
        "tokensAfter": recorded.tokens_after,
        "price": recorded.price,
        "steps": recorded.steps,
        "anchor": recorded.anchor,
        "opens": recorded.opens,
        "factor": recorded.factor,
        "figures": recorded.figures,
    }


def from_json(body: JsonObject) -> Recorded:
    """Read a record's body that `to_json` wrote."""
    shown = cast("dict[str, JsonObject | None]", body["shown"])
    notes = cast("list[dict[str, str]]", body["notes"])
    rewrite = Rewrite(
        cast("str", body["compactionId"]),
        cast("Cause", body["cause"]),
        {PartId(part_id): _shown_from_json(how) for part_id, how in shown.items()},
        tuple(
            Note(PartId(n["id"]), n["text"], MessageId(n["before"]), cast("Region", n["region"]))
            for n in notes
        ),
        tuple(PartId(part_id) for part_id in cast("list[str]", body["retired"])),
    )
    anchor = cast("str | None", body["anchor"])
    return Recorded(
        rewrite,
        cast("str", body["policy"]),
        cast("str", body["reason"]),
        cast("int", body["tokensBefore"]),
        cast("int", body["tokensAfter"]),
        cast("str | None", body["price"]),
        cast("int", body["steps"]),
        None if anchor is None else MessageId(anchor),
        body["opens"] is True,
        cast("float", body["factor"]),
        cast("JsonObject", body["figures"]),
    )


_PARSED: dict[str, Recorded] = {}
MOST_PARSED = 1_000
"""Records never change, so each is read once; far more than any session has."""


def _parsed(body: JsonObject) -> Recorded:
    key = cast("str", body["compactionId"])
    if key not in _PARSED:
        if len(_PARSED) >= MOST_PARSED:
            _PARSED.clear()
        _PARSED[key] = from_json(body)
    return _PARSED[key]


def standing_rewrites(records: Sequence[Record]) -> tuple[Recorded, ...]:
    """Give the rewrites of a log that are not undone, in order."""
    undone = {record.body.get("compactionId") for record in records if record.kind == UNDONE}
    return tuple(
        _parsed(record.body)
        for record in records
        if record.kind == REWRITE and record.body.get("compactionId") not in undone
    )


def view_of(records: Sequence[Record]) -> View:
    """Fold a log's records into how its parts are shown now."""
    return fold_rewrites(recorded.rewrite for recorded in standing_rewrites(records))


def pinned_parts(records: Sequence[Record]) -> frozenset[PartId]:
    """Give the parts that are pinned."""
    pinned: dict[PartId, bool] = {}
    for record in records:
        if record.kind == PINNED:
            pinned[PartId(cast("str", record.body["partId"]))] = record.body["pinned"] is True
    return frozenset(part_id for part_id, kept in pinned.items() if kept)


def left_out_by(log: SessionLog, compaction_id: str) -> tuple[Part, ...] | None:
    """Give the parts that a rewrite left out or shortened, oldest first; `None` if there is none.

    A rewrite that was taken back can still be asked.
    """
    bodies = (r.body for r in log.records if r.kind == REWRITE)
    body = next((b for b in bodies if b.get("compactionId") == compaction_id), None)
    if body is None:
        return None
    hidden = {part_id for part_id, how in from_json(body).rewrite.shown.items() if how is not None}
    return tuple(part for message in log for part in message.parts if part.id in hidden)


def _shown_to_json(how: Shown | None) -> JsonObject | None:
    match how:
        case Truncated(keep=keep, max_bytes=most):
            return {"kind": "truncated", "keep": keep, "maxBytes": most}
        case Excerpt(lines=lines):
            return {"kind": "excerpt", "lines": [[first, last] for first, last in lines]}
        case Placeholder():
            return {"kind": "placeholder"}
        case Dropped():
            return {"kind": "dropped"}
        case None:
            return None


def _shown_from_json(body: JsonObject | None) -> Shown | None:
    match body:
        case {"kind": "truncated", "keep": ("head" | "tail" | "both") as keep, "maxBytes": int(n)}:
            return Truncated(keep, n)
        case {"kind": "excerpt", "lines": list(lines)}:
            pairs = cast("list[list[int]]", lines)
            return Excerpt(tuple((first, last) for first, last in pairs))
        case {"kind": "placeholder"}:
            return Placeholder()
        case {"kind": "dropped"}:
            return Dropped()
        case _:
            return None
