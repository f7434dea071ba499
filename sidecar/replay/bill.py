"""The requests that a recording says were paid for, subagents' too."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Json, JsonObject, Message, Millis, StepFinishPart, Usage

DEAREST = 1_000_000
"""USD; a dearer request is none."""


@dataclass(frozen=True, slots=True)
class BilledRequest:
    """A request with its recorded usage; `cost`: USD by the agent's own words, if any.

    Requests of any recordings that share one of `keys` are the same. `aside`: a subagent's.
    """

    keys: tuple[str, ...]
    model: str
    usage: Usage
    cost: float | None = None
    aside: bool = False


def billed(
    name: str, at: Millis, model: str, usage: Usage, cost: Json = None, *, aside: bool = False
) -> BilledRequest:
    """`name`: the provider's id of the answer, or empty. A cost of nothing is none."""
    written = usage.cache_write_5m + usage.cache_write_1h
    seen = f"{at} {usage.input} {usage.cache_read} {written}" if at and usage.prompt else ""
    keys = tuple(key for key in (name, seen) if key)
    return BilledRequest(keys, model, usage, _usd(cost), aside)


def bill_each(
    lines: Iterable[tuple[int, JsonObject]],
    read: Callable[[JsonObject], Iterator[BilledRequest]],
) -> Iterator[BilledRequest]:
    """A line with an impossible value tells of no request."""
    for _, line in lines:
        with suppress(ValueError, OverflowError, RecursionError):
            yield from list(read(line))


def bill_of(messages: Iterable[Message]) -> list[BilledRequest]:
    """Counts what each answer reports, for recordings without more."""
    found = []
    for message in messages:
        for part in message.parts:
            if isinstance(part, StepFinishPart) and part.usage.prompt:
                cost = None if part.cost is None else float(part.cost)
                found.append(billed("", message.created, message.model, part.usage, cost))
    return found


def counted_once(requests: Iterable[BilledRequest]) -> list[BilledRequest]:
    """Keeps one of an answer's lines, with the most output: the first ones have only its start."""
    kept: dict[str, BilledRequest] = {}
    for number, one in enumerate(requests):
        key = one.keys[0] if one.keys else f"#{number}"
        before = kept.get(key)
        if before is None or one.usage.output >= before.usage.output:
            kept[key] = one if before is None else _joined(before, one)
    return list(kept.values())


def _joined(before: BilledRequest, one: BilledRequest) -> BilledRequest:
    keys = tuple(dict.fromkeys((*before.keys, *one.keys)))
    cost = before.cost if one.cost is None else one.cost
    return BilledRequest(keys, one.model or before.model, one.usage, cost, before.aside)


def _usd(cost: Json) -> float | None:
    if isinstance(cost, bool) or not isinstance(cost, int | float):
        return None
    return float(cost) if 0 < cost < DEAREST else None
