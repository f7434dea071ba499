"""Shrinks a prompt too long to send, without model or policy: the ladder's last rungs."""

from dataclasses import replace

from sidecar.core.ledger.units import Item
from sidecar.core.plans.arrivals import shorten_arrivals
from sidecar.core.plans.guard import NOTES, untouchable
from sidecar.core.plans.note import aftermath, write_note
from sidecar.core.plans.plan import REWRITE_ID, Change, Plan, Room, Situation
from sidecar.core.plans.typed_text import is_media
from sidecar.core.prompt.tokens import tokens_of
from sidecar.core.prompt.visibility import Cause, Dropped, Placeholder

NOTE = (
    "[The oldest half of this conversation was left out because it was too long. "
    f'recall {{"id": "{REWRITE_ID}"}} lists it; with "pattern" it searches it.]'
)

EACH = 0.06
TOGETHER = 0.10
"""Shares of the window that new results may take, each and all of them."""
FAILURES = 8
"""The last rung tells of failed approaches within this fraction of the window."""


def cut_newest(situation: Situation) -> Plan | None:
    """Cuts unsent results, which alone may exceed the window."""
    window = situation.standing.window
    each, together = round(EACH * window), round(TOGETHER * window)
    plan = shorten_arrivals(situation, each, "emergency", together=together)
    if plan is None:
        return None
    return replace(plan, cause=_cause(situation), reason="what has just come is more than fits")


def drop_oldest(situation: Situation) -> Plan | None:
    """Drops the oldest half of the turns, or of a single turn's steps.

    The first typed message stays; images and documents stay named.
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
        and item.unit.kind not in NOTES
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
    changes = tuple(map(_left_out, (*gone, *thinking)))
    # The prompt must fit, however many failures there are to tell.
    room = Room(prose=0, failures=situation.standing.window // FAILURES)
    left = aftermath(situation.items, changes, ())
    note = write_note(left, head=NOTE, first=first, room=room, root=situation.files.root)
    used, note_tokens = situation.standing.used, tokens_of(note)
    freed = sum(change.tokens_before - change.tokens_after for change in changes)
    refused = situation.standing.overflow
    return Plan(
        policy="emergency",
        cause=_cause(situation),
        reason=f"{'the provider said that ' if refused else ''}the prompt is too long",
        revision=situation.revision,
        changes=changes,
        first=first,
        tokens_before=used,
        tokens_after=used - freed + note_tokens,
        note=note,
        note_tokens=note_tokens,
    )


def _cause(situation: Situation) -> Cause:
    st = situation.standing
    return "overflow" if st.overflow else "user" if st.asked else "budget"


def _left_out(item: Item) -> Change:
    unit, why = item.unit, "the oldest half goes"
    # Media cost tokens beyond their text.
    if unit.kind == "typed" and is_media(item):
        return Change(unit.part_id, Placeholder(), why, item.tokens, tokens_of(unit.text))
    return Change(unit.part_id, Dropped(), why, item.tokens, 0)
