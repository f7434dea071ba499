"""Turns a plan into a rewrite: allowed changes, beginning, notes."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sidecar.core.dataclass import dataclass
from sidecar.core.engine.ladder import allowed
from sidecar.core.ledger.units import Item
from sidecar.core.parts import MessageId, PartId
from sidecar.core.plans.guard import NOTES
from sidecar.core.plans.images import images_note
from sidecar.core.plans.plan import REWRITE_ID, Change, Plan, Situation
from sidecar.core.plans.rebuild import HEAD
from sidecar.core.prompt.prompt import Prompt
from sidecar.core.prompt.render import Region
from sidecar.core.prompt.visibility import Dropped, Note, Rewrite, Shown


@dataclass(frozen=True, slots=True)
class Outline:
    """A rewrite beginning at item `first`, before thinking is dropped."""

    changes: tuple[Change, ...]
    first: int
    rewrite: Rewrite

    def without_thinking(self, gone: frozenset[PartId], items: Sequence[Item]) -> "Outline":
        changes = _with_thinking(self.changes, gone, items)
        return replace(self, changes=changes, rewrite=replace(self.rewrite, shown=_shown(changes)))


def outlined(plan: Plan, situation: Situation, rewrite_id: str) -> Outline | None:
    changes = allowed(plan.changes, situation)
    touched = {change.part_id for change in changes} | set(plan.retired)
    if not touched:
        return None
    items = situation.items
    noted = bool(plan.note or plan.told or plan.images)
    first = _first(items, touched, plan.first if noted else len(items))
    notes = _notes(plan, items[first].unit.message_id, rewrite_id)
    if plan.images:
        before = anchor_after(situation) or items[first].unit.message_id
        text = images_note(plan.images)
        notes = (*notes, Note(PartId(f"{rewrite_id} images"), text, before, "toolResults"))
    rewrite = Rewrite(rewrite_id, plan.cause, _shown(changes), notes, plan.retired)
    return Outline(changes, first, rewrite)


def begun_by_user(plan: Plan, prompt: Prompt) -> Plan | None:
    """Adds a note if the prompt would begin with an answer, which providers refuse."""
    begins = bool(prompt.messages) and prompt.messages[0].role == "assistant"
    return replace(plan, note=plan.note or HEAD, first=0) if begins else None


def anchor_after(situation: Situation) -> MessageId | None:
    """Finds the first message after the rebuilt part."""
    for item in situation.items:
        if item.unit.kind not in NOTES and item.unit.step >= situation.step - 2:
            return item.unit.message_id
    return None


def opens_epoch(plan: Plan, situation: Situation, held: bool) -> bool:
    """Whether a rewrite begins an epoch; `held`: an earlier request held its first change.

    A rewrite by hand, or before an epoch's first request, always does.
    """
    return held or plan.cause == "user" or not situation.sent


def shared_before(items: Sequence[Item], first: int) -> int:
    """Counts items of whole messages shared at both prompts' start."""
    names = [item.unit.message_id for item in items[: first + 1]]
    return names.index(names[first]) if first < len(names) else first


def _shown(changes: Iterable[Change]) -> dict[PartId, Shown | None]:
    return {change.part_id: change.shown for change in changes}


def _first(items: Sequence[Item], touched: set[PartId], noted: int) -> int:
    changed = (i for i, item in enumerate(items) if item.unit.part_id in touched)
    first = min(next(changed), noted)
    while noted <= first and first and _same_message(items[first - 1], items[first]):
        first -= 1
    return first


def _same_message(one: Item, other: Item) -> bool:
    both = one.unit, other.unit
    return both[0].message_id == both[1].message_id and all(u.kind not in NOTES for u in both)


def _notes(plan: Plan, before: MessageId, rewrite_id: str) -> tuple[Note, ...]:
    texts: tuple[tuple[str, str, Region], ...] = (
        ("told", plan.told, "summary"),
        ("ledger", plan.note, "ledger"),
    )
    return tuple(
        Note(PartId(f"{rewrite_id} {name}"), text.replace(REWRITE_ID, rewrite_id), before, region)
        for name, text, region in texts
        if text
    ) + tuple(
        Note(PartId(f"{rewrite_id} passage {n}"), passage.text, passage.before, "ledger")
        for n, passage in enumerate(plan.passages)
    )


def _with_thinking(
    changes: Sequence[Change], gone: frozenset[PartId], items: Sequence[Item]
) -> tuple[Change, ...]:
    sizes = {item.unit.part_id: item.tokens for item in items}
    reason = "thinking after an edited part cannot be sent"
    dropped = (Change(p, Dropped(), reason, sizes.get(p, 0), 0) for p in sorted(gone))
    return (*(change for change in changes if change.part_id not in gone), *dropped)
