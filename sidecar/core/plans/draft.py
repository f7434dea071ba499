"""Drafts plans for simple policies, with the usual triggers and edits."""

from collections.abc import Iterable, Mapping, Sequence, Set

from sidecar.core.dataclass import dataclass
from sidecar.core.ledger.units import Item
from sidecar.core.parts import PartId
from sidecar.core.plans.guard import NOTES, with_thinking_dropped
from sidecar.core.plans.note import aftermath, write_note
from sidecar.core.plans.plan import REWRITE_ID, Change, Plan, Room, Situation, Standing, Summary
from sidecar.core.prompt.tokens import tokens_of
from sidecar.core.prompt.visibility import Cause, Dropped, Placeholder, Truncated
from sidecar.core.text.truncate import Keep

NOTE = (
    "[Earlier parts of this conversation were left out here. "
    f'recall {{"id": "{REWRITE_ID}"}} lists them; with "pattern" it searches them.]'
)
QUOTED = 96
"""Characters that a preset's note quotes of what was tried, and of how it failed."""
CUT_NOTE_TOKENS = 30
"""What the line costs that stands where a text was cut."""
FINDING = 120
"""Most characters of the finding in a placeholder."""
LEAST_CUT = 100
"""A text is not cut to fewer tokens than this."""


@dataclass(frozen=True, slots=True)
class Edits:
    """Changes of a plan, and notes of earlier rewrites to retire."""

    changes: tuple[Change, ...]
    retired: tuple[PartId, ...] = ()


def forced(standing: Standing) -> Cause | None:
    if standing.overflow:
        return "overflow"
    return "user" if standing.asked else None


def full(standing: Standing, at: int) -> Cause | None:
    return forced(standing) or ("budget" if standing.used >= at else None)


def below(standing: Standing, reserve: int) -> int:
    """Gives the tokens at which to rewrite, leaving `reserve` free.

    At least a quarter of the window: presets' reserves suit 200,000 tokens.
    """
    window = standing.window
    return min(standing.limit, max(window - reserve, window // 4))


def shown_items(items: Iterable[Item]) -> list[Item]:
    return [i for i in items if i.unit.kind not in NOTES and not isinstance(i.shown, Dropped)]


def leave_out(items: Iterable[Item], spared: Set[PartId], reason: str) -> Edits:
    changes = []
    retired = []
    for item in items:
        part_id = item.unit.part_id
        if part_id in spared or isinstance(item.shown, Dropped):
            continue
        if item.unit.kind in NOTES:
            retired.append(part_id)
        else:
            changes.append(Change(part_id, Dropped(), reason, item.tokens, 0))
    return Edits(tuple(changes), tuple(retired))


def evicted(item: Item, reason: str) -> Change | None:
    """Replaces a result by a placeholder; `None` if not shorter."""
    unit = item.unit
    if unit.kind != "call" or isinstance(item.shown, Placeholder | Dropped):
        return None
    left = placeholder_tokens(item)
    if left >= item.result:
        return None
    return Change(unit.part_id, Placeholder(), reason, item.tokens, item.call + left)


def placeholder_tokens(item: Item) -> int:
    unit = item.unit
    finding = unit.text[:500].lstrip().partition("\n")[0][:FINDING]
    said = FINDING if unit.failed else len(finding)
    named = unit.tool + unit.argument + unit.status + unit.part_id
    return round((len(named) + said + 60) / 2.9) + 8


def cut_to(item: Item, most: int, keep: Keep, reason: str) -> Change | None:
    """Cuts an item's text to `most` tokens; `None` if shorter, media, or below `LEAST_CUT`."""
    whole = item.tokens_whole - item.call
    text = item.unit.text
    # Media cost tokens beyond their text.
    if most < LEAST_CUT or item.tokens - item.call <= most or len(text) < whole:
        return None
    size = len(text.encode("utf-8", "surrogatepass")) * (most - CUT_NOTE_TOKENS) // whole
    cut = Truncated(keep, size)
    return Change(item.unit.part_id, cut, reason, item.tokens, item.call + most)


def tail_start(items: Sequence[Item], room: int) -> int:
    """Gives the index where the newest whole steps within `room` tokens begin."""
    start = len(items)
    used = 0
    for index in range(len(items) - 1, -1, -1):
        item = items[index]
        used += item.tokens
        if used > room or item.unit.kind in NOTES:
            break
        before = items[index - 1].unit if index else None
        if before is None or before.kind in NOTES or before.step != item.unit.step:
            start = index
    return start


def message_count(items: Iterable[Item]) -> int:
    """Counts messages in view; a message's results count as one more."""
    seen = [item.unit for item in shown_items(items)]
    asked = {unit.message_id for unit in seen if unit.kind == "call"}
    return len({unit.message_id for unit in seen}) + len(asked)


def draft(
    situation: Situation,
    policy: str,
    cause: Cause,
    edits: Edits,
    why: str,
    *,
    summary: Summary | None = None,
    figures: Mapping[str, float] | None = None,
) -> Plan | None:
    """Returns `None` if the prompt would not shrink.

    If parts are dropped or notes retired, a note has their ledger and recall id.
    """
    items, used = situation.items, situation.standing.used
    retired = frozenset(edits.retired)
    changes = with_thinking_dropped(edits.changes, items, retired)
    if not changes:
        return None
    gone = {change.part_id for change in changes} | retired
    first = next(i for i, item in enumerate(items) if item.unit.part_id in gone)
    freed = sum(change.tokens_before - change.tokens_after for change in changes)
    freed += sum(item.tokens for item in items if item.unit.part_id in retired)
    note = ""
    if retired or any(isinstance(c.shown, Dropped) for c in edits.changes):
        left = aftermath(items, changes, retired)
        room, root = _room(situation), situation.files.root
        note = write_note(left, head=NOTE, first=first, room=room, root=root)
    note_tokens = tokens_of(note) if note else 0
    # Estimates of parts may come to more than was reported of the whole.
    after = max(0, used - freed) + note_tokens + (summary.output_tokens if summary else 0)
    if after >= used:
        return None
    return Plan(
        policy=policy,
        cause=cause,
        reason=f"{used} to {after} tokens: {why}",
        revision=situation.revision,
        changes=changes,
        first=first,
        tokens_before=used,
        tokens_after=after,
        note=note,
        note_tokens=note_tokens,
        retired=edits.retired,
        summary=summary,
        figures={"freed": freed, "changed": len(changes), **(figures or {})},
    )


def _room(situation: Situation) -> Room:
    window = situation.standing.window
    share, asked = min(100, window // 2_000), min(Room().asked, window // 40)
    return Room(asked, share, prose=0, todo=3 * share, subtasks=share, quoted=QUOTED)
