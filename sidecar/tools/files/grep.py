"""Search by regular expression without ripgrep. Blocks.

`regex` has a time limit and releases other threads, unlike `re`.
"""

import math
import re
from collections.abc import Callable, Iterator

import regex  # type: ignore[import-untyped, unused-ignore] # types-regex may be missing

from sidecar.core.dataclass import dataclass
from sidecar.core.errors import BadRequest
from sidecar.workspace.files import legible
from sidecar.workspace.walk import TimeLeft

MAX_PATTERN = 2000
MOST_REPEATED = 100_000
"""Pieces of a pattern, which `regex` writes out for `{n}`: gigabytes for `(?:a{3000}){3000}`."""
MAX_SHOWN = 500
"""Characters shown of a matching line."""

LINE_SECONDS = 2.0
"""For a single line; slower patterns are too slow for all."""


@dataclass(frozen=True, slots=True)
class Match:
    """A line found; `path`: relative to the search's root; `line`: from 1."""

    path: str
    line: int
    text: str


_REPEATED = re.compile(r"([)}]?)\{(\d+)")
_ODD = re.compile(r"\(\?(?:R|\d|&|P>|[\w-]*[fxV][\w-]*[:)])")
"""Calls of a pattern within itself, sets of several letters, and blanks that mean nothing."""

Lines = Callable[[str, float], bool]
"""Whether a line matches, in so many seconds; raises `TimeoutError`."""


def compile_pattern(pattern: str, field: str = "input.pattern") -> Lines:
    """Raises BadRequest."""
    if len(pattern) > MAX_PATTERN:
        raise BadRequest(f"The pattern is longer than {MAX_PATTERN} characters.", field)
    if odd := _ODD.search(pattern):
        raise BadRequest(f"No pattern may have `{odd[0]}`: write it out.", field)
    found = [(bool(group), int(times)) for group, times in _REPEATED.findall(pattern)]
    size = len(pattern) * max([1, *(times for group, times in found if not group)])
    if size * math.prod(max(1, times) for group, times in found if group) > MOST_REPEATED:
        text = f"The pattern repeats over {MOST_REPEATED:,} pieces: give smaller numbers, or `+`."
        raise BadRequest(text, field)
    try:
        # Kept ones would take memory for good.
        compiled = regex.compile(pattern, cache_pattern=False)
    except (regex.error, RecursionError, OverflowError) as error:
        raise BadRequest(
            f"{pattern!r} is no valid regular expression: {error}. "
            "Put a backslash before brackets and dots that are meant literally.",
            field,
        ) from error
    search = compiled.search
    return lambda line, seconds: search(line, timeout=seconds) is not None


def search_text(path: str, text: str, matches: Lines, left: TimeLeft) -> Iterator[Match]:
    """Raises TimeoutError."""
    for number, line in enumerate(legible(text).split("\n"), 1):
        seconds = left()
        if seconds <= 0:
            raise TimeoutError
        if matches(line, min(seconds, LINE_SECONDS)):
            yield Match(path, number, shown(line))


def shown(line: str) -> str:
    return f"{line[:MAX_SHOWN]}…" if len(line) > MAX_SHOWN else line
