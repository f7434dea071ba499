"""Finds parts people want kept, by settings or a typed message."""

from collections.abc import Callable, Iterable, Set
from math import inf

from sidecar.core.conversation.wishes import Preserve, compiled
from sidecar.core.ledger.deeds import TouchedFile
from sidecar.core.ledger.units import Item, Unit
from sidecar.core.parts import PartId

NAMED_SHARE = 0.15
"""Of the window: the most that is kept because a typed message said to keep it."""


def is_preserved(unit: Unit, preserve: Preserve) -> bool:
    """Whether settings keep a unit, by tool, words or patterns."""
    if unit.tool and unit.tool.lower() in {tool.lower() for tool in preserve.tools}:
        return True
    held = (unit.text, unit.call, unit.argument)
    if any(text in where for text in preserve.texts if text for where in held):
        return True
    searches = (compiled(pattern).search for pattern in preserve.patterns)
    return any(search(where) for search in searches for where in held)


def is_named(unit: Unit, names: Iterable[str]) -> bool:
    said = unit.argument
    return bool(said) and any(
        said == name or said.endswith("/" + name)
        for name in (raw.removeprefix("./") for raw in names)
        if name
    )


def preserved(
    items: Iterable[Item],
    preserve: Preserve | None = None,
    room: float = inf,
    stale: Callable[[Unit], bool] = lambda _: False,
) -> frozenset[PartId]:
    """Gives pinned parts, parts kept by settings, and calls that typed messages name.

    Named calls take `room` tokens at most, newest first. Reads give way if their files were changed
    or read alike later, edits if theirs were written whole or deleted, and `stale` calls always.
    """
    listed = list(items)
    names = frozenset[str]().union(*(item.unit.asked for item in listed))
    kept: set[PartId] = set()
    later: set[str | TouchedFile] = set()
    anew: set[str] = set()
    for item in reversed(listed):
        mine = item.unit
        if item.pinned or (preserve and is_preserved(mine, preserve)):
            kept.add(mine.part_id)
        elif (
            names
            and is_named(mine, names)
            and item.tokens_whole <= room
            and not _superseded(mine, later, anew)
            and not stale(mine)
        ):
            room -= item.tokens_whole
            kept.add(mine.part_id)
        for deed in mine.deeds:
            if isinstance(deed, TouchedFile):
                later.add(deed if deed.operation == "read" else deed.path)
                anew |= {deed.path} if deed.operation == "deleted" else set()
        anew.update(one.path for one in mine.replaced if one.old is None and one.new is not None)
    return frozenset(kept)


def _superseded(unit: Unit, later: Set[str | TouchedFile], anew: Set[str]) -> bool:
    if unit.replaced:
        return all(one.path in anew for one in unit.replaced)
    return bool(unit.deeds) and all(
        isinstance(deed, TouchedFile)
        and deed.operation == "read"
        and (deed in later or deed.path in later)
        for deed in unit.deeds
    )
