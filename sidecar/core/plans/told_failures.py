"""Tells a note's failures that are not overcome, with their lessons and cures."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from sidecar.core.conversation.call_outcome import LONGEST, one_line
from sidecar.core.conversation.complaints import to_mend
from sidecar.core.ledger.units import Unit
from sidecar.core.parts import PartId
from sidecar.core.plans.outcomes import Upshot
from sidecar.core.plans.plan import UnitsShown
from sidecar.core.prompt.visibility import Dropped, Excerpt, Quoted, Shown, Truncated, shorten
from sidecar.core.text.sentences import SHORT, announces, without_announcement, without_intentions

FAILED, REFUSED = "Failed, do not repeat:", "Refused by the user:"
OPEN = "Not through yet when last run:"
LESSON, CURE = 300, 160
"""Characters of what a failure meant, remedy and all, and of what went through in its place."""
QUOTED = 60
"""Characters of an error line that must be left of a shortened result, or the note tells it."""


def failure_lines(
    shown: UnitsShown, upshot: Upshot, learnt: Mapping[PartId, Unit], most: int
) -> list[tuple[str, str]]:
    """Gives title and line of each failure out of view, with texts of `most` characters.

    At `most` 0, attempts that a tool answered alike share a line, with what was learnt.
    """
    lost = (unit for unit, how in shown if unit.part_id in upshot.failures and _lost(unit, how))
    if not most:
        return list(dict.fromkeys(_alike(lost, upshot.cures, learnt)))
    return list(dict.fromkeys((_title(unit), failure_line(unit, most)) for unit in lost))


def lessons(shown: UnitsShown, failures: Set[PartId]) -> Mapping[PartId, Unit]:
    """Finds each failed call's lesson: the next request's text, if left out."""
    found: dict[PartId, Unit] = {}
    waiting: list[Unit] = []
    for unit, how in shown if failures else ():
        if unit.part_id in failures:
            waiting.append(unit)
        elif waiting and unit.kind == "prose":
            near = [failed for failed in waiting if unit.step - failed.step == 1]
            if near and isinstance(how, Dropped) and _learnt(unit.text):
                found[near[-1].part_id] = unit
            waiting.clear()
    return found


def first_line(text: str, most: int) -> str:
    if len(text) < SHORT:
        return ""
    return one_line(next((line.strip() for line in text.splitlines() if line.strip()), ""), most)


def failure_line(unit: Unit, most: int = LONGEST) -> str:
    tried, error = one_line(unit.argument, most), one_line(unit.error, most)
    return f"- {f'{unit.tool} {tried}'.rstrip()} → {error}"


def _title(unit: Unit) -> str:
    if unit.refused:
        return REFUSED
    return OPEN if unit.means == "shell" and to_mend(unit.text) else FAILED


def _alike(
    failed: Iterable[Unit], cures: Mapping[PartId, Unit], learnt: Mapping[PartId, Unit]
) -> Iterator[tuple[str, str]]:
    found: dict[tuple[str, str, str], list[Unit]] = {}
    for unit in failed:
        found.setdefault((_title(unit), unit.tool, unit.error), []).append(unit)
    for (title, tool, error), units in found.items():
        tried = " ; ".join(dict.fromkeys(one_line(unit.argument) for unit in units))
        lesson, cure = _last(units, learnt), _last(units, cures)
        told = f"- {f'{tool} {tried}'.rstrip()} → {error}"
        told += f" ⇒ {_learnt(lesson.text)}" if lesson else ""
        told += f" ⇒ went through: `{one_line(cure.argument, CURE)}`" if cure else ""
        yield title, told


def _last(units: Sequence[Unit], found: Mapping[PartId, Unit]) -> Unit | None:
    return next((found[unit.part_id] for unit in reversed(units) if unit.part_id in found), None)


def _learnt(text: str) -> str:
    line = without_announcement(first_line(text, LESSON))
    return "" if announces(line) else without_intentions(line)


def _lost(unit: Unit, how: Shown | None) -> bool:
    """Whether a failed call's error is out of view."""
    match how:
        case Dropped():
            return True
        case Truncated() | Excerpt() | Quoted():
            left = shorten(unit.text, how, unit.part_id)
            return unit.error[:QUOTED] not in one_line(left, len(left))
        case _:
            return False
