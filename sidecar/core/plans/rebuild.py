"""Rebuilds a stretch of history from the parts worth their tokens.

A greedy knapsack keeps blocks whole, by their chance of need and by names not yet covered. The rest
is dropped, with a note and an id for recall.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from sidecar.core.ledger.units import Item
from sidecar.core.parts import PartId
from sidecar.core.plans.guard import NOTES, first_typed, goal_parts, untouchable
from sidecar.core.plans.knapsack import Choice, choose
from sidecar.core.plans.note import Room, write_note
from sidecar.core.plans.plan import REWRITE_ID, Change, Plan, Situation
from sidecar.core.plans.typed_text import TypedRoom, stays
from sidecar.core.plans.value import CHARS_PER_TOKEN, chances, needs
from sidecar.core.prompt.tokens import weigh
from sidecar.core.prompt.visibility import Cause, Dropped, Placeholder, Shown, Truncated
from sidecar.core.text.rule_sentences import size_of

WORTHWHILE = 2_000
"""A rewrite that frees fewer tokens than this is not made, unless the prompt cannot be sent."""
KEEP_SHARE = 1 / 8
"""Of the window, the most that blocks kept for their worth may take."""
LEAST_RESULT = 800
"""A result is not cut to fewer tokens than this because others came with it."""
HEAD = (
    "[Earlier parts of this conversation were left out here to keep it short. "
    f'recall {{"id": "{REWRITE_ID}"}} lists them; with "pattern" it searches them.]'
)


@dataclass(frozen=True, slots=True)
class Keeping:
    """Amounts a rebuild keeps: tokens, shares of the window, densities (chance of use per token).

    `keep`: the knapsack's tokens, at most `KEEP_SHARE` of the window; `density`: its least;
    `listed`: least for the list of names; `tail`: share of the newest requests.

    Typed, in tokens: `first` message, `each` other, `typed` in all, `old` for rules and first
    words. Caps in windows times `share`: an eighth for `first`, a tenth for `typed`, a sixteenth
    for `old`.
    """

    keep: int = 10_000
    density: float = 3e-5
    listed: float = 1.5e-3
    tail: float = 0.005
    first: int = 4_000
    each: int = 2_500
    typed: int = 8_000
    old: int = 8_000
    room: Room = field(default_factory=Room)
    share: float = 1.0


def rebuild(
    situation: Situation,
    keeping: Keeping,
    cause: Cause,
    policy: str,
    worth: Mapping[str, float] | None = None,
) -> Plan | None:
    """Plan to rebuild all items; `None` if under `WORTHWHILE` tokens come free.

    A prompt over its limit is rebuilt for any gain. `worth` is `worth_of`'s result.
    """
    zone = [item for item in situation.items if item.unit.kind not in NOTES]
    old = [item for item in situation.items if item.unit.kind in NOTES]
    sorting = _sort(situation, zone, keeping)
    covered = set[str]().union(*(item.unit.names for item in sorting.kept))
    if worth is None:
        worth = worth_of(situation)
    choice = choose(
        sorting.candidates,
        needs(situation.items, sorting.candidates, situation.step),
        worth,
        covered,
        room=round(min(keeping.keep, KEEP_SHARE * keeping.share * situation.standing.window)),
        density=keeping.density,
    )
    changes = [*sorting.changes, *_changes(sorting.candidates, choice)]
    place = {item.unit.part_id: index for index, item in enumerate(zone)}
    changes.sort(key=lambda change: place[change.part_id])
    if not changes:
        return None
    missing = _missing(sorting.candidates, worth, choice.covered, keeping.listed)
    retired = tuple(item.unit.part_id for item in old)
    note = write_note(
        situation.items,
        changes,
        retired,
        head=HEAD,
        names=missing,
        room=_note_room(keeping.room, keeping.share * situation.standing.window),
    )
    note_tokens = weigh(note, situation.factor)
    freed = sum(change.tokens_before - change.tokens_after for change in changes)
    freed += sum(item.tokens for item in old) - note_tokens
    st = situation.standing
    if freed < (1 if st.overflow or st.is_over else WORTHWHILE):
        return None
    return Plan(
        policy,
        cause,
        "",
        situation.revision,
        tuple(changes),
        0,
        situation.standing.used,
        situation.standing.used - freed,
        note,
        note_tokens,
        retired,
        figures={"kept": len(choice.whole), "named": len(missing)},
    )


def _note_room(room: Room, window: float) -> Room:
    return replace(
        room, names=round(min(room.names, window / 15)), asked=round(min(room.asked, window / 40))
    )


def shorten_arrivals(
    situation: Situation, each: int, policy: str, *, together: int | None = None
) -> Plan | None:
    """Cut unsent results to about `each` tokens, all to `together`; `None` if none is long.

    Costs no cache. Results with media stay whole.
    """
    fresh = [
        (index, item)
        for index, item in enumerate(situation.items)
        if index >= situation.sent
        and item.unit.kind == "call"
        and item.shown is None
        and not item.pinned
        and item.unit.part_id not in situation.preserved
        and size_of(item.unit.text) >= item.result
    ]
    most = each
    if together is not None:
        most = min(each, _level([item.result for _, item in fresh], together))
    changes = []
    first = len(situation.items)
    for index, item in fresh:
        unit = item.unit
        if item.result <= most * 1.2:
            continue
        cut = Truncated("both", size_of(unit.text) * most // item.result)
        reason = f"a result of {item.result} tokens, {most} at most in this window"
        changes.append(Change(unit.part_id, cut, reason, item.tokens, item.call + most + 20))
        first = min(first, index)
    if not changes:
        return None
    used = situation.standing.used
    after = used - sum(change.tokens_before - change.tokens_after for change in changes)
    reason = f"{len(changes)} long results cut before they are sent for the first time"
    return Plan(policy, "budget", reason, situation.revision, tuple(changes), first, used, after)


def _level(sizes: Sequence[int], together: int) -> int:
    """Size to cut larger ones to, so that all fit `together`; at least `LEAST_RESULT`."""
    room, left = together, len(sizes)
    for size in sorted(sizes):
        if size * left > room:
            return max(LEAST_RESULT, room // left)
        room -= size
        left -= 1
    return max(sizes, default=0)


@dataclass(slots=True)
class _Sorting:
    kept: list[Item] = field(default_factory=list)
    candidates: list[Item] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)

    def change(self, item: Item, shown: Shown | None, tokens: int, reason: str) -> None:
        if shown != item.shown:
            change = Change(item.unit.part_id, shown, reason, item.tokens, tokens)
            self.changes.append(change)


def _sort(situation: Situation, zone: Sequence[Item], keeping: Keeping) -> _Sorting:
    sorting = _Sorting()
    spared = untouchable(situation) | goal_parts(situation)
    tail = _tail(situation, zone, keeping)
    typed: list[Item] = []
    for item in zone:
        unit = item.unit
        wanted = item.pinned or unit.part_id in situation.preserved
        dropped = isinstance(item.shown, Dropped)
        hidden = dropped or isinstance(item.shown, Placeholder)
        if unit.kind == "reasoning":
            sorting.change(item, Dropped(), 0, "thinking after an edited part cannot be sent")
        elif wanted and hidden:
            sorting.kept.append(item)
            sorting.change(item, None, item.tokens_whole, "to be kept, so shown again")
        elif (unit.part_id in spared and not dropped) or (unit.step in tail and not hidden):
            # The names left in a cut text are unknown here.
            if item.shown is None:
                sorting.kept.append(item)
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
    sizes: dict[int, int] = {}
    for item in zone:
        step = item.unit.step
        sizes[step] = sizes.get(step, 0) + item.tokens_whole
    room = keeping.tail * situation.standing.window
    steps: set[int] = set()
    for step in sorted(sizes, reverse=True):
        room -= sizes[step]
        if room < 0:
            break
        steps.add(step)
    return steps


def worth_of(situation: Situation) -> dict[str, float]:
    """Chance of use of each identifier."""
    return chances(situation.names.known, situation.step)


def _missing(
    candidates: Sequence[Item], worth: Mapping[str, float], told: Set[str], listed: float
) -> list[str]:
    """Names on candidates only, likeliest per character first."""
    # How long a name of each chance may be, to be worth being listed.
    longest = {p: (p / listed - 1) * CHARS_PER_TOKEN for p in set(worth.values())}
    short = [name for name, p in worth.items() if len(name) <= longest[p] and name not in told]
    foreign = set(short).difference(*[item.unit.names for item in candidates])
    found = [name for name in short if name not in foreign] if foreign else short
    return sorted(found, key=lambda name: (-worth[name] / (len(name) + 6), name))


def _changes(candidates: Sequence[Item], choice: Choice) -> list[Change]:
    changes = []
    for item in candidates:
        part_id: PartId = item.unit.part_id
        if part_id in choice.whole:
            if item.shown is not None:
                reason = "worth its tokens again"
                changes.append(Change(part_id, None, reason, item.tokens, item.tokens_whole))
        elif not isinstance(item.shown, Dropped):
            changes.append(Change(part_id, Dropped(), "not worth its tokens", item.tokens, 0))
    return changes
