"""Sums observations since the daemon's start. Mutable: copies were most of the cost."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import field, fields

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Json, JsonObject
from sidecar.core.prompt.observation import (
    ModelAsked,
    Observation,
    RestoreDone,
    Retried,
    SnapshotTaken,
    ToolDone,
    TurnDone,
    ViewRewritten,
)


@dataclass(slots=True)
class Totals:
    """Sums of all sessions, in the provider's tokens and USD."""

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
    cache_breaks: Counter[str] = field(default_factory=Counter)
    compactions: int = 0
    compaction_cost: float = 0.0
    tokens_saved: int = 0
    parts_pruned: int = 0
    tool_calls: int = 0
    truncated: Counter[str] = field(default_factory=Counter)
    snapshots: int = 0
    snapshot_seconds: float = 0.0
    restores: int = 0
    restore_seconds: float = 0.0

    def as_json(self) -> JsonObject:
        return {_camel(each.name): _plain(getattr(self, each.name)) for each in fields(self)}


def add(totals: Totals, seen: Observation) -> None:
    match seen:
        case ModelAsked():
            _add_request(totals, seen)
        case TurnDone():
            totals.turns += 1
        case Retried():
            totals.retries += 1
        case ToolDone(tool=tool, left_out=left_out):
            totals.tool_calls += 1
            if left_out:
                totals.truncated[tool] += 1
        case ViewRewritten():
            totals.compactions += seen.opens
            totals.compaction_cost += seen.price or 0.0
            totals.tokens_saved += seen.before - seen.after
            totals.parts_pruned += sum(count for _, count in seen.shown)
        case SnapshotTaken(seconds=seconds):
            totals.snapshots += 1
            totals.snapshot_seconds += seconds
        case RestoreDone(seconds=seconds):
            totals.restores += 1
            totals.restore_seconds += seconds
        case _:
            pass


def _add_request(totals: Totals, asked: ModelAsked) -> None:
    usage, cost = asked.usage, asked.cost or 0.0
    totals.requests += 1
    totals.failed += bool(asked.error)
    totals.overflows += asked.error == "context_overflow"
    totals.input_tokens += usage.prompt
    totals.output_tokens += usage.output
    totals.cache_read_tokens += usage.cache_read
    totals.cache_write_tokens += usage.cache_write_5m + usage.cache_write_1h
    totals.cost += cost
    if asked.cost is not None and asked.uncached is not None:
        totals.cache_saved += asked.uncached - asked.cost
    if asked.break_ is not None:
        totals.cache_breaks[asked.break_[1]] += 1


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
