"""Finds identifiers in text: paths, code names, commands, error strings."""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import Literal, TypeAlias

from sidecar.core.dataclass import dataclass
from sidecar.core.late_pattern import late_pattern

_SPAN = late_pattern(r"`([^`\n]{3,80})`")
_TOKEN = late_pattern(r"[A-Za-z0-9_@~.][\w@~.+\-]*(?:/[\w@~.+\-]+)*|/[\w@~.+\-]+(?:/[\w@~.+\-]+)+")
_CODEY = late_pattern(r"_|[a-z][A-Z]|[A-Za-z]\d|\d[A-Za-z]")
_FILE = late_pattern(r"^[\w\-]+(?:\.[\w\-]+)*\.[A-Za-z][A-Za-z0-9]{0,5}$")
_ENDS = ".-+"
_AMOUNT = late_pattern(
    r"\d[\d.,:_x-]*(?:[a-zA-Zµ%]{0,5}|[TZ][\d.:+-]*Z?)(?:\d+(?:\.\d+)?[a-zµ]{1,2})*"
    r"|(?:0x)?[0-9a-fA-F]{6,}(?:-[0-9a-fA-F]{4,})*(?:…|\.\.\.)?"
)
"""Durations, sizes, times, hashes, addresses; no letters alone."""
_DIGIT = late_pattern(r"\d")
LEAST = 6
LONGEST = 160
SAID = 2_000
"""Characters of a sentence; more are data."""
_SENTENCE = late_pattern(r"(?<=[.!?])\s+")
_VERBS = ("keep", "remember", "preserve", "forget")
_ASKS = late_pattern(
    r"\b(?P<no>(?:don['\u2019]?t|do not|never|need not|no need to)\s+)?"
    r"(?:(?P<keep>keep|remember|preserve)|(?P<forget>forget))\b",
    re.I,
)
_ANY_SPAN = late_pattern(r"`([^`\n]{1,200})`")
_SHORT = late_pattern(r"(?<![\w./])[\w\-]+\.[A-Za-z]\w{0,5}(?![\w/])")
"""File names too short for identifiers: `a.py`."""


def names_in(text: str) -> frozenset[str]:
    """Finds paths, file names, code names of 6 letters, `quoted` spans; no amounts."""
    words = set(_TOKEN.findall(text))
    if len(text) > LONGEST:
        long = {word for word in words if len(word) > LONGEST}
        stripped = (word.rstrip(_ENDS) for word in long)
        words = (words - long).union(word for word in stripped if len(word) <= LONGEST)
    # Half of all words are too short to be worth a look, and would fill its cache.
    found = {_name(word) for word in words if len(word) >= LEAST}
    found.discard("")
    if "`" in text:
        found.update(span for span in _SPAN.findall(text) if not is_amount(span))
    return frozenset(found)


def asked_to_keep(text: str) -> frozenset[str]:
    """Finds names that someone asks to keep, as in `keep src/a.py`."""
    kept: set[str] = set()
    for sentence in _with_verbs(text):
        if any(bool(found["no"]) == bool(found["forget"]) for found in _ASKS.finditer(sentence)):
            kept |= names_in(sentence)
            kept.update(span.strip() for span in _ANY_SPAN.findall(sentence))
            kept.update(_SHORT.findall(sentence))
    kept.discard("")
    return frozenset(kept)


def _with_verbs(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        plain = line.casefold()
        if any(verb in plain for verb in _VERBS):
            yield from (said for said in _SENTENCE.split(line) if len(said) <= SAID)


def is_amount(word: str) -> bool:
    if not _DIGIT.search(word):
        return False
    first, slash, rest = word.strip().partition("/")
    return bool(_AMOUNT.fullmatch(first)) and (not slash or len(rest) <= 3 or is_amount(rest))


@lru_cache(maxsize=2_048)
def _name(word: str) -> str:
    """Cached and interned: a plan looks up tens of thousands."""
    name = word.rstrip(_ENDS)
    if len(name) >= LEAST and ("/" in name or _CODEY.search(name) or _FILE.match(name)):
        return "" if is_amount(name) else sys.intern(name)
    return ""


NameSource: TypeAlias = Literal["result", "call", "prose", "typed"]
"""Who brought an identifier into the conversation first."""


@dataclass(slots=True)
class Name:
    """The steps of an identifier's first sight, last sight and last use (-1: never)."""

    first: int
    seen: int
    source: NameSource = "result"
    used: int = -1
    uses: int = 0


class NameIndex:
    """A session's identifiers, and when the agent used each."""

    def __init__(self, names: Mapping[str, Name] = MappingProxyType({})) -> None:
        self._names = dict(names)

    def __getitem__(self, name: str) -> Name:
        return self._names[name]

    @property
    def known(self) -> Mapping[str, Name]:
        return self._names

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __len__(self) -> int:
        return len(self._names)

    def copy(self) -> "NameIndex":
        return NameIndex({name: replace(known) for name, known in self._names.items()})

    def see(self, names: Iterable[str], step: int, source: NameSource = "result") -> None:
        known = self._names
        for name in names:
            entry = known.get(name)
            if entry is None:
                known[name] = Name(step, step, source)
            else:
                entry.seen = step

    def use(self, names: Iterable[str], step: int, source: NameSource = "prose") -> None:
        """Records names written by the agent; those from earlier steps count as used."""
        known = self._names
        for name in names:
            entry = known.get(name)
            if entry is None:
                known[name] = Name(step, step, source)
            else:
                if entry.first < step:
                    entry.uses += 1
                    entry.used = step
                entry.seen = step
