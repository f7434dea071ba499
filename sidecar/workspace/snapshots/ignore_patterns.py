"""A rule file's lines as patterns, which match as git does, in time that a line cannot blow up.

Only whole paths are matched: folders above are asked about before.
"""

import os
import re
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from sidecar.workspace.files import read_beginning
from sidecar.workspace.snapshots.ignore_line import Pattern, parsed

MAX_BYTES = 64 * 1024
MOST_PATTERNS = 2000
"""Of one file: a repository's 45,000 took seven seconds to parse."""
MOST_JOINED = 200
MOST_NAMES = 20_000
"""Cached verdicts on names, per list of rules."""
NO_OPINION = (-1, False)

Joined: TypeAlias = tuple[re.Pattern[str], ...]


class Patterns:
    """A rule file's lines, `MOST_PATTERNS` at most; verdicts are cached by name."""

    def __init__(self, lines: Iterable[str]) -> None:
        said = islice(filter(_says, lines), MOST_PATTERNS)
        found = [pattern for line in said if (pattern := parsed(line)) is not None]
        self._plain = [(n, p) for n, p in enumerate(found) if p.plain]
        self._deep = [(n, p) for n, p in enumerate(found) if not p.plain]
        self._literals = frozenset(os.fsencode(p.literal) for p in found if p.literal)
        self._wild = any(not p.literal for _, p in self._plain)
        self._any_plain = _any(p for _, p in self._plain)
        self._any_deep = _any(p for _, p in self._deep)
        self._pieces = [os.fsencode(p.piece) for p in found if not p.literal]
        # Names come again and again, so most verdicts are looked up: of files, and of folders.
        self._names: tuple[dict[bytes, tuple[int, bool]], ...] = ({}, {})

    def silent(self, names: list[bytes], text: bytes) -> bool:
        """Whether no line can match; quick. `text` contains all names."""
        if not self._literals.isdisjoint(names):
            return False
        # A generator would take longer than the search.
        return not any(map(text.__contains__, self._pieces))

    def verdict(self, path: bytes, name: bytes, is_folder: bool) -> bool | None:
        """Whether lines ignore `path`, relative to the rules' folder; `None` without a match."""
        known = self._names[is_folder]
        best = known.get(name) if self._wild or name in self._literals else NO_OPINION
        if best is None:
            best = _last(self._plain, self._any_plain, os.fsdecode(name), is_folder)
            if len(known) < MOST_NAMES:
                known[name] = best
        if self._deep:
            deep = _last(self._deep, self._any_deep, os.fsdecode(path), is_folder)
            if deep[0] > best[0]:
                best = deep
        return best[1] if best[0] >= 0 else None


def read_rules(path: Path | str) -> tuple[str, ...]:
    """Reads a rule file's whole lines within `MAX_BYTES`; none where unreadable."""
    try:
        data = read_beginning(path, MAX_BYTES)
    except (OSError, ValueError):
        return ()
    whole = data if len(data) < MAX_BYTES else data.rpartition(b"\n")[0]
    return tuple(os.fsdecode(whole).split("\n"))


def _says(line: str) -> bool:
    return not line.startswith("#") and bool(line.strip())


def _any(patterns: Iterable[Pattern]) -> Joined:
    """Joins lines, few at a time: no match of one expression can be interrupted."""
    texts = [f"(?:{p.regex.pattern})" for p in patterns]
    starts = range(0, len(texts), MOST_JOINED)
    return tuple(re.compile("|".join(texts[start : start + MOST_JOINED])) for start in starts)


def _last(
    patterns: list[tuple[int, Pattern]],
    some: "tuple[re.Pattern[str], ...]",
    name: str,
    is_folder: bool,
) -> tuple[int, bool]:
    if any(one.match(name) for one in some):
        for number, pattern in reversed(patterns):
            if (is_folder or not pattern.folders_only) and pattern.regex.match(name):
                return number, pattern.include
    return NO_OPINION
