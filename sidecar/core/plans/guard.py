"""Finds parts that no rewrite may touch, and thinking made invalid by edits."""

from collections.abc import Collection, Iterable, Sequence, Set

from sidecar.core.ledger.units import Item
from sidecar.core.parts import MessageId, PartId
from sidecar.core.plans.plan import Change, Situation
from sidecar.core.prompt.visibility import Dropped

NEWEST_STEPS = 2
"""The model is in the middle of these: what it just asked for and what came of it stay."""
TYPED_SHARE = 0.10
"""Of the room for history: what earlier typed messages of the newest steps may take to stay."""
ANSWER_SHARE = 0.5
"""Of it: what answers of the newest steps may take to stay; a longer one would end the work."""
RUNNING_SHARE = 0.05
"""Of the window: what the steps of the running turn may take to stay where no rewrite need be.
Of a longer one is chosen, as a turn may fill the window."""
GOAL_SHARE, MUST_SHARE = 0.25, 0.45
"""Of the room for history: what the first typed message may take to stay word for word, by itself
and with all else that must stay. Beyond that it is shortened to its rules and both ends.
"""
GOAL_SURE = 200
"""Tokens of it that stay word for word whatever else must stay."""
NOTES = frozenset({"ledger", "excerpt", "image"})
"""Kinds of items that are not parts of the log; a plan retires them and never changes them."""


def untouchable(situation: Situation) -> frozenset[PartId]:
    """Gives parts to leave as shown: pinned, preserved, running or newest.

    Newest are the last typed message with its attachments and the last `NEWEST_STEPS` steps; in
    these, earlier typed messages stay up to `TYPED_SHARE`, answers up to `ANSWER_SHARE`.
    """
    newest = newest_typed(situation.items)
    recent = situation.step - NEWEST_STEPS
    st = situation.standing
    history = st.limit - st.static
    room = {"typed": TYPED_SHARE * history, "prose": ANSWER_SHARE * history}
    kept = set(situation.preserved)
    for item in reversed(situation.items):
        unit = item.unit
        if item.pinned or unit.running or (unit.kind not in NOTES and unit.message_id == newest):
            kept.add(unit.part_id)
        elif unit.kind not in NOTES and unit.step >= recent:
            if unit.kind in room:
                room[unit.kind] -= item.tokens_whole
            if room.get(unit.kind, 0) >= 0:
                kept.add(unit.part_id)
    return frozenset(kept)


def must_stay(situation: Situation) -> frozenset[PartId]:
    spared = untouchable(situation)
    return spared | goal_parts(situation, spared)


def running_turn(situation: Situation) -> frozenset[PartId]:
    """Gives the running turn's calls and answers, unless above `RUNNING_SHARE`."""
    items = [item for item in situation.items if item.unit.kind not in NOTES]
    turn = max((item.unit.turn for item in items), default=0)
    said = [i for i in items if i.unit.turn == turn and i.unit.kind in ("call", "prose")]
    if sum(item.tokens_whole for item in said) > RUNNING_SHARE * situation.standing.window:
        return frozenset()
    return frozenset(item.unit.part_id for item in said)


def goal_parts(situation: Situation, spared: Set[PartId]) -> frozenset[PartId]:
    """Gives the first typed message's parts, which every policy leaves whole.

    If not all fit beside the untouchable (`spared`), gives the shortest.
    """
    goal = first_typed(situation.items)
    if goal is None:
        return frozenset()
    must = sum(
        item.tokens
        for item in situation.items
        if item.unit.part_id in spared and item.unit.message_id != goal
    )
    st = situation.standing
    room = st.limit - st.static
    left = max(GOAL_SURE, min(GOAL_SHARE * room, MUST_SHARE * room - must))
    kept: set[PartId] = set()
    first = (i for i in situation.items if i.unit.kind == "typed" and i.unit.message_id == goal)
    for item in sorted(first, key=lambda item: item.tokens_whole):
        left -= item.tokens_whole
        if left < 0:
            break
        if item.shown is None:
            kept.add(item.unit.part_id)
    return frozenset(kept)


def first_typed(items: Sequence[Item]) -> MessageId | None:
    return next((item.unit.message_id for item in items if item.unit.kind == "typed"), None)


def newest_typed(items: Sequence[Item]) -> MessageId | None:
    typed = (item.unit.message_id for item in reversed(items) if item.unit.kind == "typed")
    return next(typed, None)


def with_thinking_dropped(
    changes: Iterable[Change],
    items: Sequence[Item],
    retired: Collection[PartId] = (),
) -> tuple[Change, ...]:
    """Adds changes that drop all thinking after the first edit, in prompt order.

    Newer models answer 400 to thinking after an edited block. `retired` notes are edits too.
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
    return item.unit.kind == "reasoning" and not isinstance(item.shown, Dropped)
