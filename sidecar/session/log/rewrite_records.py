"""Rewrites of the view as records of the log, and back. What the model sees follows from them."""

from dataclasses import dataclass, field
from typing import cast

from sidecar.core.parts import Json, JsonObject, MessageId, PartId
from sidecar.core.prompt.render import Region
from sidecar.core.prompt.visibility import (
    Cause,
    Dropped,
    Excerpt,
    Note,
    Placeholder,
    Quoted,
    Rewrite,
    Shown,
    Truncated,
)

REWRITE = "rewrite"
UNDONE = "rewrite_undone"
PINNED = "pin"


@dataclass(frozen=True, slots=True)
class Recorded:
    """A rewrite as the log has it: what it changed, and the decision behind it.

    `anchor` is the first message after what was rebuilt; `steps` counts the model calls before.
    `opens` says that it began an epoch: one that only cut what had not been sent yet did not.
    `factor`, learned from so many `observations`, and `bias` say how tokens were counted then.
    `summary` says who wrote it, how often a model was asked and what that cost, and what of it
    are facts; it is empty where none was wanted.
    A rewrite taken back is one too: its `shown` only drops thinking that fits no prefix any more,
    and shows such thinking again that does.
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
        "observations": recorded.observations,
        "bias": recorded.bias,
        "figures": recorded.figures,
        **({"summary": recorded.summary} if recorded.summary else {}),
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
        cast("int", body["observations"]),
        cast("int", body["bias"]),
        cast("JsonObject", body["figures"]),
        cast("JsonObject", body.get("summary", {})),
    )


def _shown_to_json(how: Shown | None) -> JsonObject | None:
    match how:
        case Truncated(keep=keep, max_bytes=most):
            return {"kind": "truncated", "keep": keep, "maxBytes": most}
        case Excerpt(lines=lines):
            return {"kind": "excerpt", "lines": [[first, last] for first, last in lines]}
        case Quoted(spans=spans):
            return {"kind": "quoted", "spans": [[start, end] for start, end in spans]}
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
        case {"kind": "quoted", "spans": list(spans)}:
            stretches = cast("list[list[int]]", spans)
            return Quoted(tuple((start, end) for start, end in stretches))
        case {"kind": "placeholder"}:
            return Placeholder()
        case {"kind": "dropped"}:
            return Dropped()
        case _:
            return None
