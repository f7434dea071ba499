"""What people want kept, as settings say."""

import re
from collections.abc import Mapping
from functools import lru_cache

from sidecar.core.dataclass import dataclass

ANY_AGENT = "*"
"""In settings by agent: what holds for all of them."""


@dataclass(frozen=True, slots=True)
class Preserve:
    """Parts never to shorten, and summaries' `focus`.

    `patterns` (regular expressions) and `texts` (verbatim) match a part's text, call and argument;
    `tools` ignore case. Raises `ValueError` for a bad pattern.
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
    """Raises `ValueError` for an invalid pattern."""
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ValueError(f"preserve: {pattern!r} is not a regular expression: {error}") from error


def for_agent(settings: Mapping[str, Preserve], agent: str) -> Preserve:
    return settings.get(ANY_AGENT, Preserve()) | settings.get(agent, Preserve())
