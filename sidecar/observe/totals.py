"""What has added up since the daemon started, for `daemon/status`: a fold over observations."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

from sidecar.core.observed import (
    Asked,
    Observation,
    RestoreDone,
    Retried,
    Rewritten,
    SnapshotTaken,
    ToolDone,
    TurnDone,
)
from sidecar.core.parts import Json, JsonObject


@dataclass(frozen=True, slots=True)
class Totals:
    """Of all sessions. Tokens as the provider counts them; costs in USD, of known prices only."""

    turns: int = 0
    requests: int = 0
    failed: int = 0
    overflows: int = 0
    retries: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost: float = 0.0
    cache_saved: float = 0.0
    cache_breaks: Mapping[str, int] = field(default_factory=dict)
    compactions: int = 0
    compaction_cost: float = 0.0
    tokens_saved: int = 0
    parts_pruned: int = 0
    tool_calls: int = 0
    truncated: Mapping[str, int] = field(default_factory=dict)
    snapshots: int = 0
    snapshot_seconds: float = 0.0
    restores: int = 0
    restore_seconds: float = 0.0

    def as_json(self) -> JsonObject:
        """Give them in camel case; `truncated` is by tool, `cacheBreaks` by segment."""
        return {_camel(each.name): _plain(getattr(self, each.name)) for each in fields(self)}


def added(totals: Totals, seen: Observation) -> Totals:
    """Give the totals with one observation more."""
    match seen:
        case Asked():
            return _with_request(totals, seen)
        case TurnDone():
            return replace(totals, turns=totals.turns + 1)
        case Retried():
            return replace(totals, retries=totals.retries + 1)
        case ToolDone(tool=tool, left_out=left_out):
            truncated = _counted(totals.truncated, tool) if left_out else totals.truncated
            return replace(totals, tool_calls=totals.tool_calls + 1, truncated=truncated)
        case Rewritten():
            return replace(
                totals,
                compactions=totals.compactions + seen.opens,
                compaction_cost=totals.compaction_cost + (seen.price or 0.0),
                tokens_saved=totals.tokens_saved + seen.before - seen.after,
                parts_pruned=totals.parts_pruned + sum(count for _, count in seen.shown),
            )
        case SnapshotTaken(seconds=seconds):
            took = totals.snapshot_seconds + seconds
            return replace(totals, snapshots=totals.snapshots + 1, snapshot_seconds=took)
        case RestoreDone(seconds=seconds):
            took = totals.restore_seconds + seconds
            return replace(totals, restores=totals.restores + 1, restore_seconds=took)
        case _:
            return totals


def _with_request(totals: Totals, asked: Asked) -> Totals:
    usage, cost = asked.usage, asked.cost or 0.0
    breaks = totals.cache_breaks
    saved = 0.0 if asked.cost is None or asked.uncached is None else asked.uncached - asked.cost
    return replace(
        totals,
        requests=totals.requests + 1,
        failed=totals.failed + bool(asked.error),
        overflows=totals.overflows + (asked.error == "context_overflow"),
        input_tokens=totals.input_tokens + usage.prompt,
        output_tokens=totals.output_tokens + usage.output,
        cache_read_tokens=totals.cache_read_tokens + usage.cache_read,
        cache_write_tokens=totals.cache_write_tokens + usage.cache_write_5m + usage.cache_write_1h,
        cost=totals.cost + cost,
        cache_saved=totals.cache_saved + saved,
        cache_breaks=breaks if asked.break_ is None else _counted(breaks, asked.break_[1]),
    )


def _counted(counts: Mapping[str, int], name: str) -> Mapping[str, int]:
    return {**counts, name: counts.get(name, 0) + 1}


def _plain(value: object) -> Json:
    match value:
        case bool() | int():
            return value
        case float():
            return round(value, 6)
        case Mapping():
            return {str(key): _plain(each) for key, each in value.items()}
        case _:
            return str(value)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)
