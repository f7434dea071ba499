"""Rebuilds a stretch of history from the parts worth their tokens.

A greedy knapsack keeps whole blocks; a note stands for the rest.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import field, replace
from itertools import groupby

from sidecar.core.conversation.passed_tests import beside_passed
from sidecar.core.dataclass import dataclass
from sidecar.core.ledger.deeds import ListedTodo
from sidecar.core.ledger.units import Item, Unit
from sidecar.core.parts import PartId
from sidecar.core.plans.guard import NOTES, first_typed, must_stay, running_turn
from sidecar.core.plans.images import HEAD as IMAGES_HEAD
from sidecar.core.plans.images import Stretch, images, stretches
from sidecar.core.plans.knapsack import Piece, choose
from sidecar.core.plans.note import aftermath, write_note
from sidecar.core.plans.outcomes import Upshot, upshot_of
from sidecar.core.plans.plan import (
    OPTIONAL,
    REWRITE_ID,
    Change,
    Keeping,
    Plan,
    Room,
    Situation,
    Standing,
)
from sidecar.core.plans.story import tell_story
from sidecar.core.plans.typed_text import TypedRoom, stays
from sidecar.core.plans.value import chances, needs
from sidecar.core.prompt.tokens import weigh
from sidecar.core.prompt.visibility import (
    Cause,
    Dropped,
    Excerpt,
    Placeholder,
    Shown,
    shorten,
)
from sidecar.core.text.sentences import announces

WORTHWHILE = 2_000
"""A rewrite that frees fewer tokens than this is not made, unless the prompt cannot be sent."""
KEEP_SHARE = 0.132
"""Of the window, the most that blocks kept for their worth may take."""
IMAGES_SHARE, IMAGE_LEAST = 0.2, 3e-5
"""Of the room for blocks, what images of changed files take first, and the least chance of need per
token there: what is worked on stands as it is, whatever names the blocks hold."""
ANNOUNCED = 60
"""Characters of a text that goes where it announces a call that goes."""
_PASSED = "of tests that passed the output says no more"
MOST_FOREIGN = 12
"""Tools of another agent that are named."""
HEAD = (
    "[Earlier parts of this conversation were left out; lists here are as of "
    "then. What follows stands in order of time: what the user typed, calls and answers as they "
    "were, and between them, in brackets with ⋯, what was left out, above what came of it in "
    f'order. recall {{"id": "{REWRITE_ID}"}} lists it all; with "pattern" it searches.]'
)


@dataclass(frozen=True, slots=True)
class Basis:
    """Shared by a situation's rebuilds.

    `spared` parts stay; `pieces`, by part, stay if worth their tokens. `names`: chances of use.
    """

    situation: Situation
    spared: frozenset[PartId]
    pieces: Mapping[PartId, Piece]
    names: Mapping[str, float]
    stretches: tuple[Stretch, ...]
    upshot: Upshot


def basis_of(situation: Situation, cause: Cause = "budget") -> Basis:
    """An optional rewrite spares the running turn too."""
    units = [item.unit for item in situation.items]
    upshot = upshot_of(units)
    stale = _stale(situation) | _undone(units, upshot) | _former_lists(units)
    needed = needs(units, situation.step)
    pieces = {
        unit.part_id: Piece(unit.part_id, item.tokens_whole, need, unit.names)
        for item, unit, need in zip(situation.items, units, needed, strict=True)
        if unit.part_id not in stale
    }
    return Basis(
        situation,
        must_stay(situation) | (running_turn(situation) if cause in OPTIONAL else frozenset()),
        pieces,
        chances(situation.names.known, situation.step),
        tuple(stretches(situation)),
        upshot,
    )


@dataclass(frozen=True, slots=True)
class Sifted:
    """A rebuild's changes in prompt order, before notes.

    `before`: tokens of all parts changed or retired; `freed`: how many of these go.
    """

    basis: Basis
    keeping: Keeping
    whole: frozenset[PartId]
    changes: tuple[Change, ...]
    retired: tuple[PartId, ...]
    before: int
    freed: int


def sift(basis: Basis, keeping: Keeping) -> Sifted:
    situation = basis.situation
    zone = [item for item in situation.items if item.unit.kind not in NOTES]
    old = [item for item in situation.items if item.unit.kind in NOTES]
    sorting = _sort(basis, zone, keeping)
    found = [basis.pieces.get(item.unit.part_id) for item in sorting.candidates]
    calls = {i.unit.part_id: i.unit for i in sorting.candidates if i.unit.kind == "call"}
    room = round(min(keeping.keep, KEEP_SHARE * keeping.share * situation.standing.window))
    seen = [stretch.piece for stretch in basis.stretches]
    most = round(IMAGES_SHARE * room)
    imaged = choose(seen, {}, frozenset(), room=most, density=IMAGE_LEAST)
    room -= sum([piece.tokens for piece in seen if piece.id in imaged])
    whole = choose(
        list(filter(None, found)),
        basis.names,
        set().union(*[item.unit.names for item in sorting.kept]),
        room=room,
        density=keeping.density,
        stands=lambda part: part not in calls or not situation.files.is_stale(calls[part]),
    )
    whole = imaged | (whole - _announcements(sorting, whole))
    changed = {
        c.part_id: c
        for c in (*sorting.changes, *_changes(sorting.candidates, whole, situation.factor))
    }
    changes = [changed[part] for item in zone if (part := item.unit.part_id) in changed]
    before = sum([change.tokens_before for change in changes]) + sum([i.tokens for i in old])
    freed = before - sum([change.tokens_after for change in changes])
    retired = tuple(item.unit.part_id for item in old)
    return Sifted(basis, keeping, whole, tuple(changes), retired, before, freed)


def rebuild(sifted: Sifted, cause: Cause, policy: str) -> Plan | None:
    """Returns `None` if under `WORTHWHILE` tokens come free.

    A prompt over its limit is rebuilt for any gain.
    """
    basis, changes, retired = sifted.basis, sifted.changes, sifted.retired
    if not changes:
        return None
    situation, st = basis.situation, basis.situation.standing
    room = _note_room(sifted.keeping, st)
    after = aftermath(situation.items, changes, retired, basis.upshot)
    passages = tell_story(after, room.story)
    beside = sum(weigh(passage.text, situation.factor) for passage in passages)
    told = "\n".join(passage.text for passage in passages)
    shown = images(situation, [one for one in basis.stretches if one.piece.id in sifted.whole])
    files, head = "\n".join(one.text for one in shown), _head(situation)
    root = situation.files.root
    note = write_note(after, head=head, room=room, files=files, passages=told, root=root)
    note_tokens = weigh(note, situation.factor) + beside + sum(one.tokens for one in shown)
    note_tokens += weigh(IMAGES_HEAD, situation.factor) if shown else 0
    freed = sifted.freed - note_tokens
    if freed < (1 if st.overflow or st.is_over else WORTHWHILE):
        return None
    return Plan(
        policy,
        cause,
        "",
        situation.revision,
        changes,
        0,
        st.used,
        st.used - freed,
        note,
        note_tokens,
        retired,
        figures={"kept": len(sifted.whole)},
        passages=passages,
        images=shown,
    )


def _stale(situation: Situation) -> frozenset[PartId]:
    """Finds reads of files changed afterwards or shown by an image."""
    files = situation.files
    imaged = {path for path, _ in files.changed()}
    return frozenset(
        part_id
        for part_id, (step, paths) in files.reads.items()
        if imaged.issuperset(paths) or any(files.changed_at(path) > step for path in paths)
    )


def _undone(units: Sequence[Unit], upshot: Upshot) -> Set[PartId]:
    """Finds edits of which later edits left nothing."""
    standing = {part for hunks in upshot.net.values() for hunk in hunks for part in hunk.part_ids}
    edits = (unit for unit in units if unit.replaced and unit.part_id not in standing)
    return {
        unit.part_id
        for unit in edits
        if all(one.old is not None and one.new is not None for one in unit.replaced)
    }


def _former_lists(units: Sequence[Unit]) -> Set[PartId]:
    calls = (unit for unit in units if unit.deeds and unit.means == "tool")
    wrote = [u.part_id for u in calls if any(isinstance(deed, ListedTodo) for deed in u.deeds)]
    return set(wrote[:-1])


def _head(situation: Situation) -> str:
    called = dict.fromkeys(i.unit.tool for i in situation.items if i.unit.kind == "call")
    foreign = [name for name in called if name not in situation.tools]
    if not situation.tools or not foreign:
        return HEAD
    names = ", ".join(foreign[:MOST_FOREIGN]) + (", …" if len(foreign) > MOST_FOREIGN else "")
    return f"{HEAD}\n[You do not have these tools, which another agent called below: {names}.]"


def _note_room(keeping: Keeping, standing: Standing) -> Room:
    room, scaled = keeping.room, keeping.share * standing.window
    return replace(
        room,
        story=round(min(room.story, scaled / 20)),
        hunks=round(min(room.hunks, scaled / 40)),
        rules=round(min(room.rules, standing.limit / 5)),
    )


@dataclass(slots=True)
class _Sorting:
    kept: list[Item] = field(default_factory=list)
    candidates: list[Item] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)

    def change(self, item: Item, shown: Shown | None, tokens: int, reason: str) -> None:
        if shown != item.shown:
            change = Change(item.unit.part_id, shown, reason, item.tokens, tokens)
            self.changes.append(change)


def _sort(basis: Basis, zone: Sequence[Item], keeping: Keeping) -> _Sorting:
    situation, sorting = basis.situation, _Sorting()
    tail = _tail(situation, zone, keeping)
    typed: list[Item] = []
    for item in zone:
        unit, shown = item.unit, item.shown
        dropped = isinstance(shown, Dropped)
        hidden = dropped or isinstance(shown, Placeholder)
        if unit.kind == "reasoning":
            sorting.change(item, Dropped(), 0, "thinking after an edited part cannot be sent")
        elif hidden and (item.pinned or unit.part_id in situation.preserved):
            sorting.kept.append(item)
            sorting.change(item, None, item.tokens_whole, "to be kept, so shown again")
        elif (unit.part_id in basis.spared and not dropped) or (unit.step in tail and not hidden):
            # The names left in a cut text are unknown here.
            if shown is None:
                sorting.kept.append(item)
                if not (item.pinned or unit.running or unit.part_id in situation.preserved):
                    cut, tokens = _without_passed(item, situation.factor)
                    sorting.change(item, cut, tokens, _PASSED)
        elif unit.kind == "typed":
            typed.append(item)
        else:
            sorting.candidates.append(item)
    goal = first_typed(situation.items)
    first = [item for item in typed if item.unit.message_id == goal]
    rest = [item for item in typed if item.unit.message_id != goal]
    told = stays(rest, first, _typed_room(keeping, situation.standing.window))
    for item in typed:
        stay = told[item.unit.part_id]
        if stay.shown is None:
            sorting.kept.append(item)
        sorting.change(item, stay.shown, stay.tokens, stay.reason)
    return sorting


def _typed_room(keeping: Keeping, window: int) -> TypedRoom:
    scaled = keeping.share * window
    return TypedRoom(
        round(min(keeping.first, scaled / 8)),
        keeping.each,
        round(min(keeping.typed, scaled / 10)),
        round(min(keeping.old, scaled / 16)),
    )


def _tail(situation: Situation, zone: Sequence[Item], keeping: Keeping) -> set[int]:
    room = keeping.tail * situation.standing.window
    steps: set[int] = set()
    for step, items in groupby(reversed(zone), lambda item: item.unit.step):
        room -= sum(item.tokens_whole for item in items)
        if room < 0:
            break
        steps.add(step)
    return steps


def _announcements(sorting: _Sorting, whole: Set[PartId]) -> Set[PartId]:
    """Finds chosen texts that only announce calls left out."""
    chosen = [item for item in sorting.candidates if item.unit.part_id in whole]
    stays = (item.unit for item in (*sorting.kept, *chosen))
    called = {unit.message_id for unit in stays if unit.kind == "call"}
    return {
        item.unit.part_id
        for item in chosen
        if item.unit.kind == "prose"
        and item.unit.message_id not in called
        and len(item.unit.text) <= ANNOUNCED
        and announces(item.unit.text)
    }


def _without_passed(item: Item, factor: float) -> tuple[Excerpt | None, int]:
    unit = item.unit
    kept = beside_passed(unit.text) if unit.kind == "call" else ()
    if not kept:
        return None, item.tokens_whole
    cut = Excerpt(kept)
    return cut, item.call + weigh(shorten(unit.text, cut, unit.part_id), factor)


def _changes(candidates: Sequence[Item], whole: Set[PartId], factor: float) -> list[Change]:
    changes = []
    gone = Dropped()
    for item in candidates:
        part_id: PartId = item.unit.part_id
        if part_id in whole:
            cut, tokens = _without_passed(item, factor)
            if item.shown != cut:
                reason = _PASSED if cut else "worth its tokens again"
                changes.append(Change(part_id, cut, reason, item.tokens, tokens))
        elif not isinstance(item.shown, Dropped):
            changes.append(Change(part_id, gone, "not worth its tokens", item.tokens, 0))
    return changes
