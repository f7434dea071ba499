"""The last rung, when the provider says that the prompt is too long: no model, no policy."""

from sidecar.core.guard import untouchable
from sidecar.core.plan import REWRITE_ID, Change, Plan, Situation, tokens_of
from sidecar.core.view import Dropped

NOTE = (
    "[The oldest half of this conversation was left out because the provider refused its length. "
    f'recall {{"id": "{REWRITE_ID}"}} lists it; with "pattern" it searches it.]'
)


def drop_oldest(situation: Situation) -> Plan | None:
    """Drop the oldest half of the turns, or of the steps where there is only one turn.

    The first typed message, attached media and what must not be touched stay.
    """
    kept = untouchable(situation)
    items = [i for i in situation.items if not isinstance(i.shown, Dropped)]
    turns = sorted({item.unit.turn for item in items})
    steps = sorted({item.unit.step for item in items})
    old_turns, old_steps = set(turns[: len(turns) // 2]), set(steps[: len(steps) // 2])
    goal = next((i.unit.message_id for i in items if i.unit.kind == "typed"), None)
    gone = [
        item
        for item in items
        if (item.unit.turn in old_turns if old_turns else item.unit.step in old_steps)
        and item.unit.part_id not in kept
        and item.unit.message_id != goal
        and item.unit.kind not in ("ledger", "excerpt")
    ]
    if not gone:
        return None
    first = next(i for i, item in enumerate(situation.items) if item is gone[0])
    going = {item.unit.part_id for item in gone}
    thinking = [
        item
        for item in situation.items[first:]
        if item.unit.kind == "reasoning"
        and item.unit.part_id not in kept | going
        and item.shown is None
    ]
    changes = tuple(
        Change(item.unit.part_id, Dropped(), "the oldest half goes", item.tokens, 0)
        for item in (*gone, *thinking)
    )
    used, note_tokens = situation.standing.used, tokens_of(NOTE)
    after = used - sum(change.tokens_before for change in changes) + note_tokens
    return Plan(
        "emergency",
        "overflow",
        "the provider said that the prompt is too long",
        situation.revision,
        changes,
        first,
        used,
        after,
        NOTE,
        note_tokens,
    )
