"""What people want kept whatever happens: by pattern, by tool, by words, or because they said so.

Gives part ids for `Situation.preserved`, which no plan touches.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import inf

from sidecar.core.ledger.units import Item, Unit
from sidecar.core.parts import PartId

NAMED_SHARE = 0.15
"""Of the window: the most that is kept because a typed message said to keep it."""
ANY_AGENT = "*"
"""In settings by agent: what holds for all of them."""


@dataclass(frozen=True, slots=True)
class Preserve:
    """What must not be shortened or dropped, and what a summary of the rest should dwell on.

    `patterns` are regular expressions, searched in a part's text, its call and its argument;
    `texts` are looked for there word for word; `tools` are names of tools, in any case. `focus`
    is said to whoever writes a summary.
    Raises `ValueError` for a pattern that is none.
    """

    patterns: tuple[str, ...] = ()
    tools: frozenset[str] = frozenset()
    texts: tuple[str, ...] = ()
    focus: str = ""

    def __post_init__(self) -> None:
        for pattern in self.patterns:
            compiled(pattern)

    def __or__(self, other: "Preserve") -> "Preserve":
        return Preserve(
            tuple(dict.fromkeys(self.patterns + other.patterns)),
            self.tools | other.tools,
            tuple(dict.fromkeys(self.texts + other.texts)),
            " ".join(filter(None, (self.focus, other.focus))),
        )

    def __bool__(self) -> bool:
        return bool(self.patterns or self.tools or self.texts or self.focus)


@lru_cache(maxsize=256)
def compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern, or say in a `ValueError` what is wrong with it."""
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ValueError(f"preserve: {pattern!r} is not a regular expression: {error}") from error


def for_agent(settings: Mapping[str, Preserve], agent: str) -> Preserve:
    """Give what holds for one agent: what is set for all, and what is set for it."""
    return settings.get(ANY_AGENT, Preserve()) | settings.get(agent, Preserve())


def is_preserved(unit: Unit, preserve: Preserve) -> bool:
    """Whether the settings keep this unit. Costs a search of its text, so ask once a unit."""
    if unit.tool and unit.tool.lower() in {tool.lower() for tool in preserve.tools}:
        return True
    held = (unit.text, unit.call, unit.argument)
    if any(text in where for text in preserve.texts if text for where in held):
        return True
    searches = (compiled(pattern).search for pattern in preserve.patterns)
    return any(search(where) for search in searches for where in held)


def is_named(unit: Unit, names: Iterable[str]) -> bool:
    """Whether the unit is a call whose argument is one of these names, or a path ending in one."""
    said = unit.argument
    return bool(said) and any(
        said == name or said.endswith("/" + name)
        for name in (raw.removeprefix("./") for raw in names)
        if name
    )


def preserved(
    items: Iterable[Item], preserve: Preserve | None = None, room: float = inf
) -> frozenset[PartId]:
    """Name all parts to keep: pinned ones, those in the settings, those that the user named.

    What was named in words takes `room` tokens at most, the newest first: whoever says to keep a
    file that is then read and edited for hours does not mean every look at it.
    """
    listed = list(items)
    names = frozenset[str]().union(*(item.unit.asked for item in listed))
    kept: set[PartId] = set()
    for item in reversed(listed):
        if item.pinned or (preserve and is_preserved(item.unit, preserve)):
            kept.add(item.unit.part_id)
        elif names and is_named(item.unit, names) and item.tokens_whole <= room:
            room -= item.tokens_whole
            kept.add(item.unit.part_id)
    return frozenset(kept)
