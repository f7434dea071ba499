"""Measures a policy's memory, as in docs/how-to/measuring.md.

Names in whole parts count apart: policies keep lines by the same names.
"""

from collections.abc import Sequence

from sidecar.core.conversation.call_outcome import one_line
from sidecar.core.dataclass import dataclass
from sidecar.core.ledger.guidance import LONGEST_RULE
from sidecar.core.ledger.units import Item, Unit, overcome
from sidecar.core.plans.guard import NOTES
from sidecar.core.plans.told_failures import QUOTED
from sidecar.core.prompt.visibility import Dropped, Excerpt, Placeholder, Quoted, Truncated, shorten
from sidecar.core.text.identifiers import names_in
from sidecar.core.text.rule_sentences import FIRM
from sidecar.replay.conversation import Request

PROSE_LEAST = 40
"""Characters of an assistant's text; shorter ones are remarks."""


@dataclass(frozen=True, slots=True)
class Glimpse:
    """Names in `whole` parts, else in `view`, else one recall away (`reach`)."""

    whole: frozenset[str]
    view: frozenset[str]
    reach: frozenset[str]
    text: str
    notes: str


class Memory:
    """Counts needed names left in a run.

    Of `far` names, `whole` stood in whole parts, `view` in view, `ledger` also in notes, `reach`
    also within one recall.
    """

    def __init__(self) -> None:
        self._units: list[Unit] = []
        self._seen: set[str] = set()
        self._lost_whole: set[str] = set()
        self._lost_view: set[str] = set()
        self._lost_ledger: set[str] = set()
        self._lost_reach: set[str] = set()
        self._covered: set[str] = set()
        self._text = ""
        self._notes = ""
        self.far = self.whole = self.view = self.ledger = self.reach = 0
        self.failures = self.failures_kept = 0
        self.constraints = self.constraints_kept = 0
        self.prose = self.prose_kept = 0

    def add(self, unit: Unit) -> None:
        self._units.append(unit)
        self._seen.update(unit.names)
        if self._lost_whole:
            self._lost_whole.difference_update(unit.names)
            self._lost_view.difference_update(unit.names)
            self._lost_ledger.difference_update(unit.names)
            self._lost_reach.difference_update(unit.names)

    def rewrite(self, items: Sequence[Item], *, covered: bool) -> None:
        """Takes in a rewrite; `covered`: a note's id recalls the rest.

        The rest is reachable while a note stands.
        """
        whole: set[str] = set()
        view: set[str] = set()
        reach: set[str] = set()
        shown: list[str] = []
        notes: list[str] = []
        for item in items:
            unit = item.unit
            if isinstance(item.shown, Dropped):
                continue
            if unit.kind == "ledger":
                notes.append(unit.text)
                continue
            text = shown_text(item)
            if item.shown is None and unit.kind != "excerpt":
                whole.update(unit.names)
            else:
                view |= names_in(text).union(unit.call_names)
                reach.update(unit.names)
            shown += (text, unit.call)
        self.stand(
            Glimpse(
                frozenset(whole),
                frozenset(view),
                frozenset(reach),
                "\0".join(shown),
                "\0".join(notes),
            ),
            covered=covered,
        )

    def stand(self, now: Glimpse, *, covered: bool) -> None:
        """Works as `rewrite`, from a prompt already taken apart."""
        whole, view, reach = now.whole, now.view, now.reach
        self._text, self._notes = now.text, now.notes
        self._lost_whole = self._seen - whole
        self._lost_view = self._lost_whole - view
        self._lost_ledger = set(self._lost_view)
        if covered:
            self._covered = set(self._seen)
        elif not now.notes:
            self._covered = set()
        self._lost_reach = self._lost_view - reach - self._covered

    def answer(self, request: Request) -> None:
        for name in request.far:
            self._look(name)
            self.far += 1
            self.whole += name not in self._lost_whole
            self.view += name not in self._lost_view
            self.ledger += name not in self._lost_ledger
            self.reach += name not in self._lost_reach

    def _look(self, name: str) -> None:
        # A name may stand inside another or across words: the text itself decides.
        if name in self._lost_view and name in self._text:
            self._lost_view.discard(name)
        if name not in self._lost_view or name in self._notes:
            self._lost_ledger.discard(name)
        if name not in self._lost_ledger:
            self._lost_reach.discard(name)

    def finish(self, items: Sequence[Item]) -> None:
        shown = {i.unit.part_id: i for i in items if not isinstance(i.shown, Dropped)}
        notes = "\n".join(i.unit.text for i in items if i.unit.kind in NOTES)
        later = overcome(self._units)
        typed = [
            one_line(rule, LONGEST_RULE).removesuffix("…")
            for unit in self._units
            for rule in _constraints(unit)
        ]
        if typed:
            standing = one_line("\n".join((notes, *map(shown_text, shown.values()))), 10**9)
            self.constraints += len(typed)
            self.constraints_kept += sum(rule in standing for rule in typed)
        for unit in self._units:
            item = shown.get(unit.part_id)
            if unit.kind == "call" and unit.failed and unit.part_id not in later:
                self.failures += 1
                self.failures_kept += _failure_kept(unit, item, notes)
            elif unit.kind == "prose" and len(unit.text) >= PROSE_LEAST:
                self.prose += len(unit.text)
                if item is not None or _first_words(unit.text) in notes:
                    self.prose_kept += len(unit.text)


def _constraints(unit: Unit) -> list[str]:
    if unit.kind != "typed" or unit.attached:
        return []
    return [unit.text[slice(*rule.span)] for rule in unit.rules if rule.sure == FIRM]


def shown_text(item: Item) -> str:
    match item.shown:
        case Excerpt() | Quoted() | Truncated():
            return shorten(item.unit.text, item.shown, item.unit.part_id)
        case Placeholder():
            unit = item.unit
            return f"{unit.tool} {unit.argument} {unit.status} {_finding(unit)}"
        case Dropped():
            return ""
        case None:
            return item.unit.text


def _finding(unit: Unit) -> str:
    # As `outcome.finding` for a result without a title.
    if unit.failed:
        return unit.error
    return next((one_line(line) for line in unit.text.splitlines() if line.strip()), "")


def _first_words(text: str) -> str:
    line = next((line for line in text.splitlines() if line.strip()), "")
    return one_line(line)[:PROSE_LEAST]


def _failure_kept(unit: Unit, item: Item | None, notes: str) -> bool:
    if item is not None and item.shown is None:
        return True
    return failure_kept(unit, None if item is None else shown_text(item), notes)


def failure_kept(unit: Unit, shown: str | None, notes: str) -> bool:
    line = unit.error[:QUOTED]
    if shown is not None and line in one_line(shown, 10**9):
        return True
    return unit.argument[:QUOTED] in notes and line in notes
