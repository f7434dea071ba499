"""What no rewrite may touch, and the thinking that an edit before it invalidates."""

from collections.abc import Collection, Iterable, Sequence

from sidecar.core.parts import MessageId, PartId
from sidecar.core.plan import Change, Situation
from sidecar.core.units import Item
from sidecar.core.view import Dropped

NEWEST_STEPS = 2
"""The model is in the middle of these: what it just asked for and what came of it stay."""
GOAL_SHARE = 0.25
"""Of the window: the most that the first typed message may take to stay word for word."""
NOTES = frozenset({"ledger", "excerpt"})
"""Kinds of items that are not parts of the log; a plan retires them and never changes them."""


def untouchable(situation: Situation) -> frozenset[PartId]:
    """Name the parts that stay as they are: pinned, preserved, running, newest.

    Newest are the last typed message with all that was attached to it and the last two steps.
    """
    newest = newest_typed(situation.items)
    recent = situation.step - NEWEST_STEPS
    kept = set(situation.preserved)
    for item in situation.items:
        unit = item.unit
        if (
            item.pinned
            or unit.running
            or (unit.kind not in NOTES and (unit.step >= recent or unit.message_id == newest))
        ):
            kept.add(unit.part_id)
    return frozenset(kept)


def goal_parts(situation: Situation) -> frozenset[PartId]:
    """Name the parts of the first message that the user typed, which say what all is about.

    No rewrite of a session touches them, whatever the policy that it imitates would do. None are
    named when they fill much of the window or are shortened already.
    """
    typed = [item for item in situation.items if item.unit.kind == "typed"]
    if not typed:
        return frozenset()
    first = [item for item in typed if item.unit.message_id == typed[0].unit.message_id]
    whole = sum(item.tokens_whole for item in first)
    if whole > GOAL_SHARE * situation.standing.window or any(item.shown for item in first):
        return frozenset()
    return frozenset(item.unit.part_id for item in first)


def newest_typed(items: Sequence[Item]) -> MessageId | None:
    """Give the id of the message that the user typed last."""
    typed = (item.unit.message_id for item in reversed(items) if item.unit.kind == "typed")
    return next(typed, None)


def with_thinking_dropped(
    changes: Iterable[Change],
    items: Sequence[Item],
    retired: Collection[PartId] = (),
) -> tuple[Change, ...]:
    """Add to changes what they force: thinking after the first edit is no longer valid.

    Newer models answer 400 when a block of thinking comes back after an edited one, that of the
    newest steps included; leaving all of it out is always allowed. Gives the changes in prompt
    order; `retired` notes count as edited.
    """
    wanted = {change.part_id: change for change in changes}
    edited = wanted.keys() | set(retired)
    ordered = []
    begun = False
    for item in items:
        part_id = item.unit.part_id
        begun = begun or part_id in edited
        if part_id in wanted:
            ordered.append(wanted[part_id])
        elif begun and is_thinking(item):
            reason = "thinking after an edited part cannot be sent"
            ordered.append(Change(part_id, Dropped(), reason, item.tokens, 0))
    return tuple(ordered)


def is_thinking(item: Item) -> bool:
    """Whether an item is thinking that the model still sees."""
    return item.unit.kind == "reasoning" and not isinstance(item.shown, Dropped)
