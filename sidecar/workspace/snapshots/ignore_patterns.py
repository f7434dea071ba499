"""A rule file's lines as patterns, which match as git does, in time that a line cannot blow up.

Only whole paths are matched: folders above are asked about before.
"""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from sidecar.workspace.files import read_beginning

MAX_BYTES = 64 * 1024
MOST_PATTERNS = 2000
"""Of one file: a repository's 45,000 took seven seconds to parse."""
MOST_NAMES = 20_000
"""Cached verdicts on names, per list of rules."""
NO_OPINION = (-1, False)
_WILD = frozenset("*?[\\")
_BRACKETS = re.compile(r"\\.|\[(?!\^/\])\^?\]?(?:\\.|[^\\\]])*\]", re.DOTALL)
"""Brackets of an expression, and escapes inside, except the set of everything but `/`."""
_STARS = re.compile(r"(?:\[\^/\]\*){2,}")
_BETWEEN = re.compile(
    r"\[\^/\]\*"
    r"((?:\\.|\[\^/\](?!\*)|\[(?!\^/\])[^\]]+\]|[^\\\[\]*+?(){}|/^$.])+)"
    r"(?=\[\^/\]\*)"
)
"""A star, and what stands before the next."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """One line of a rule file.

    `plain`: matches names at any depth, as no `/` stands before the end. `literal`: the only name
    matched, or "". `piece`: text in every matching name, or "".
    """

    regex: "re.Pattern[str]"
    include: bool
    folders_only: bool
    plain: bool
    literal: str
    piece: str


class Patterns:
    """A rule file's lines, `MOST_PATTERNS` at most; verdicts are cached by name."""

    def __init__(self, lines: Iterable[str]) -> None:
        said = islice(filter(_says, lines), MOST_PATTERNS)
        found = [pattern for line in said if (pattern := _pattern(line)) is not None]
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


def linear(expression: str) -> str:
    """Lets each star and `**` but the last take as little as possible, for good.

    As `*a*b` is matched: by the first `a`. Otherwise `*a*a*a*a*b` and a name of sixty letters take
    an hour, as do five `**` and a hundred folders. Brackets never match `/`, as in git.
    """
    first, *others = expression.split("(?:/.+)?")
    if others:
        if first.startswith("^(?:.+/)?"):
            first = f"^(?>(?:[^/]+/)*?{first.removeprefix('^(?:.+/)?')}(?=/))"
        between = [f"(?>(?:/[^/]+)*?{steps}(?=/))" for steps in others[:-1]]
        expression = "".join([first, *between, "(?:/[^/]+)*", others[-1]])
    expression = _BETWEEN.sub(r"(?>[^/]*?\1)", _STARS.sub("[^/]*", expression))
    return _BRACKETS.sub(lambda m: m[0] if m[0][0] == "\\" else f"(?!/){m[0]}", expression)


def _says(line: str) -> bool:
    return not line.startswith("#") and bool(line.strip())


def _pattern(line: str) -> Pattern | None:
    # A tenth of a second; not before `initialize` has been answered.
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern  # noqa: PLC0415

    line = line.removesuffix("\r")
    try:
        parsed = GitIgnoreSpecPattern(line)
    except (ValueError, re.error):
        return None
    if parsed.include is None or parsed.regex is None:
        return None
    body = line.rstrip().removeprefix("!")
    name = body.removesuffix("/")
    folders_only = body.endswith("/")
    # The pattern as parsed also matches below a match; here, folders above were already asked
    # about.
    text = linear(parsed.regex.pattern.replace("?P<ps_d>", "?:"))
    for tail, end in (("(?:(?:/)|$)", r"\Z"), ("(?:/)", r"/\Z")):
        if text.endswith(tail):
            text = text.removesuffix(tail) + end
            break
    regex = re.compile(text)
    plain = "/" not in name
    certain = plain and _WILD.isdisjoint(name) and regex.match(body if folders_only else name)
    # Text between wildcards is in every name; after an escape or in brackets, unknown.
    certainly = re.split(r"[\\\[]", name.rpartition("/")[2])[0]
    piece = max(re.split(r"[*?]+", certainly), key=len)
    return Pattern(regex, parsed.include, folders_only, plain, name if certain else "", piece)


def _any(patterns: Iterable[Pattern]) -> "re.Pattern[str]":
    return re.compile("|".join(f"(?:{p.regex.pattern})" for p in patterns) or r"(?!)")


def _last(
    patterns: list[tuple[int, Pattern]], some: "re.Pattern[str]", name: str, is_folder: bool
) -> tuple[int, bool]:
    folder = name + "/"
    if not (some.match(name) or (is_folder and some.match(folder))):
        return NO_OPINION
    for number, pattern in reversed(patterns):
        if pattern.folders_only:
            if is_folder and pattern.regex.match(folder):
                return number, pattern.include
        elif pattern.regex.match(name):
            return number, pattern.include
    return NO_OPINION
