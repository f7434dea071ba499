"""What commands answer, as Markdown for a chat window."""

from collections.abc import Sequence

from sidecar.core.meter import Meter
from sidecar.core.parts import JsonObject

LARGEST = 12
"""Pieces of the context that are listed one by one."""


def told_compaction(done: JsonObject) -> str:
    """Say what a compaction has done, from the answer of `context/compact`."""
    before, after = _count(done["tokensBefore"]), _count(done["tokensAfter"])
    plan = done.get("plan")
    pieces = len(plan) if isinstance(plan, list) else 0
    lines = [f"The context was compacted: {before} → {after} tokens, {pieces} pieces rewritten."]
    if isinstance(summary := done.get("summary"), str) and summary:
        lines += ["", summary]
    return "\n".join(lines)


def told_breakdown(meter: Meter, segments: Sequence[JsonObject]) -> str:
    """Say what fills the context: by region, and the largest pieces."""
    room = meter.window - meter.reserved_output
    lines = [
        f"**Context: {meter.percent:g} %**, {_count(meter.used)} of {_count(room)} tokens "
        f"({meter.accuracy}); {_count(meter.reserved_output)} are kept for the answer, and the "
        f"context is compacted at {_count(meter.compact_at)}.",
        "",
        "| region | tokens |",
        "| --- | ---: |",
    ]
    lines += [f"| {region} | {_count(n)} |" for region, n in meter.regions.items() if n]
    largest = sorted(segments, key=_tokens, reverse=True)[:LARGEST]
    lines += ["", "| largest pieces | region | tokens | cached |", "| --- | --- | ---: | --- |"]
    for one in largest:
        label = str(one["label"]).replace("|", "\\|").replace("\n", " ")
        cached = "yes" if one["cached"] else ""
        lines.append(f"| {label} | {one['region']} | {_count(one['tokens'])} | {cached} |")
    return "\n".join(lines)


def _tokens(segment: JsonObject) -> int:
    found = segment["tokens"]
    return found if isinstance(found, int) else 0


def _count(number: object) -> str:
    return f"{number:,}" if isinstance(number, int) else str(number)
