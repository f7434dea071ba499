"""What every rewrite must leave alone, and cuts that fall between whole steps and turns."""

from collections.abc import Callable, Iterable, Sequence

from sidecar.core.parts import PartId
from sidecar.core.plan import Change, Plan, Situation, Summary
from sidecar.core.units import Item
from sidecar.core.view import Cause, Dropped, Placeholder

NEWEST_STEPS = 2
"""Steps before the coming request that nothing touches."""
STUB = 40
"""Tokens of a placeholder."""


def untouchable(situation: Situation) -> frozenset[PartId]:
    """Give what no plan may change: pinned, preserved, running, newest message, newest steps."""
    items = situation.items
    newest = next((i.unit.message_id for i in reversed(items) if i.unit.kind == "typed"), None)
    return situation.preserved | frozenset(
        item.unit.part_id
        for item in items
        if item.pinned
        or item.unit.running
        or item.unit.message_id == newest
        or item.unit.step >= situation.step - NEWEST_STEPS
    )


def shown_items(situation: Situation) -> list[Item]:
    """Give the items that are still shown in some form."""
    return [item for item in situation.items if not isinstance(item.shown, Dropped)]


def drop(items: Iterable[Item], reason: str) -> tuple[Change, ...]:
    """Leave items out."""
    return tuple(
        Change(item.unit.part_id, Dropped(), reason, item.tokens, 0)
        for item in items
        if not isinstance(item.shown, Dropped)
    )


def evict(items: Iterable[Item], reason: str) -> tuple[Change, ...]:
    """Put placeholders in the place of results."""
    return tuple(
        Change(item.unit.part_id, Placeholder(), reason, item.tokens, item.call + STUB)
        for item in items
    )


def is_result(item: Item) -> bool:
    """Whether an item is a call whose whole result is still shown."""
    return item.unit.kind == "call" and item.shown is None


def beyond_newest(items: Sequence[Item], protect: int) -> list[Item]:
    """Give the results that lie before the newest `protect` tokens of results, oldest first."""
    seen = 0
    beyond = []
    for item in reversed(items):
        if is_result(item):
            seen += item.result
            if seen > protect:
                beyond.append(item)
    return beyond[::-1]


def tail_start(items: Sequence[Item], room: int) -> int:
    """Give the index where a tail of whole steps within `room` tokens begins."""
    used = 0
    start = len(items)
    index = len(items)
    while index > 0:
        first = index - 1
        while first > 0 and items[first - 1].unit.step == items[first].unit.step:
            first -= 1
        size = sum(item.tokens for item in items[first:index])
        if used + size > room and start < len(items):
            break
        used, start, index = used + size, first, first
        if used > room:
            break
    return start


def make_plan(
    situation: Situation,
    policy: str,
    cause: Cause,
    changes: Sequence[Change],
    reason: str,
    summary: Summary | None = None,
) -> Plan | None:
    """Make a plan of changes; untouchables are left out, later thinking goes with them.

    An earlier note that lies after the first change is retired by a plan with a summary.
    """
    keep = untouchable(situation)
    allowed = {c.part_id: c for c in changes if c.part_id not in keep}
    if not allowed:
        return None
    items = situation.items
    first = next(i for i, item in enumerate(items) if item.unit.part_id in allowed)
    thinking = (
        item
        for item in items[first:]
        if item.unit.kind == "reasoning"
        and item.unit.part_id not in keep
        and item.unit.part_id not in allowed
    )
    whole = (*allowed.values(), *drop(thinking, "thinking after an edited part cannot be sent"))
    notes = [i for i in items[first:] if summary and i.unit.kind in ("ledger", "excerpt")]
    freed = sum(change.tokens_before - change.tokens_after for change in whole)
    freed += sum(note.tokens for note in notes) - (summary.output_tokens if summary else 0)
    used = situation.standing.used
    return Plan(
        policy,
        cause,
        reason,
        situation.revision,
        whole,
        first,
        used,
        used - freed,
        retired=tuple(note.unit.part_id for note in notes),
        summary=summary,
    )


def as_text(items: Iterable[Item], most_result: Callable[[Item], int]) -> int:
    """Give the tokens of a conversation written out for a summary, results cut."""
    return sum(min(item.tokens, item.call + most_result(item)) for item in items)
