"""Parts people want kept: by pattern, tool or words, or as a message asks."""

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
    """Parts never to shorten or drop, and the `focus` of summaries.

    `patterns` (regular expressions) and `texts` (verbatim) are searched in a part's text, call and
    argument; `tools` ignore case. Raises `ValueError` for a bad pattern.
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
    """Compile a pattern; raises `ValueError` with the reason."""
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ValueError(f"preserve: {pattern!r} is not a regular expression: {error}") from error


def for_agent(settings: Mapping[str, Preserve], agent: str) -> Preserve:
    """Settings for all agents and for one, joined."""
    return settings.get(ANY_AGENT, Preserve()) | settings.get(agent, Preserve())


def is_preserved(unit: Unit, preserve: Preserve) -> bool:
    """Whether settings keep a unit; searches its whole text."""
    if unit.tool and unit.tool.lower() in {tool.lower() for tool in preserve.tools}:
        return True
    held = (unit.text, unit.call, unit.argument)
    if any(text in where for text in preserve.texts if text for where in held):
        return True
    searches = (compiled(pattern).search for pattern in preserve.patterns)
    return any(search(where) for search in searches for where in held)


def is_named(unit: Unit, names: Iterable[str]) -> bool:
    """Whether a call's argument is one of the names, or a path ending in one."""
    said = unit.argument
    return bool(said) and any(
        said == name or said.endswith("/" + name)
        for name in (raw.removeprefix("./") for raw in names)
        if name
    )


def preserved(
    items: Iterable[Item], preserve: Preserve | None = None, room: float = inf
) -> frozenset[PartId]:
    """Ids of pinned parts, parts kept by settings, and parts named in typed messages.

    The latter take `room` tokens at most, newest first: a file edited for hours need not stay in
    each version.
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
