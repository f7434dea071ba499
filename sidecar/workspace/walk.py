"""Lists a folder's files, without those of .gitignore or `SKIPPED`. Blocks. Follows no links."""

import math
import os
import re
from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from sidecar.core.errors import BadRequest
from sidecar.workspace.snapshots.ignore_line import parsed
from sidecar.workspace.snapshots.ignore_patterns import Patterns, read_rules
from sidecar.workspace.unlinked_path import folder_of

SKIPPED = frozenset(
    {
        ".git", ".hg", ".svn", ".jj", "node_modules", "__pycache__", ".venv", ".tox", ".nox",
        ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", ".DS_Store",
    }
)  # fmt: skip
"""Never walked into."""

TimeLeft = Callable[[], float]
"""Seconds left; 0 once cancelled."""
MOST_PARSED = 16
"""Rule files kept, by content: each path asks those above."""
MOST_FOLDERS = 256
MOST_LETTERS, MOST_CHOICES = 1000, 64
"""Of a glob."""
_BRACES = re.compile(r"\{([^{}]*)\}")


class RuleLevel(NamedTuple):
    """Rules of a folder, whose paths begin after `start` bytes."""

    start: int
    patterns: Patterns


RuleLevels = tuple[RuleLevel, ...]
"""From weakest to strongest."""


class Unignored:
    """A folder's files; the enclosing repository's .gitignore files apply.

    Raises TimeoutError once no time is left.
    """

    def __init__(self, real: Path, left: TimeLeft = lambda: math.inf) -> None:
        self.real = real
        self._left = left
        self._parsed = lru_cache(MOST_PARSED)(Patterns)
        self._inside: dict[str, RuleLevels | None] = {}

    def files(self) -> Iterator[str]:
        """Yields relative paths with `/`, sorted."""
        waiting = [("", True, self.inherited)]
        while waiting:
            path, is_folder, levels = waiting.pop()
            self._look_at_time()
            if path and self._ignored(path, is_folder, levels):
                continue
            if not is_folder:
                yield path
                continue
            levels = self._with_own(levels, os.path.join(self.real, path))
            try:
                names = sorted(_names(Path(self.real, path)), reverse=True)
            except OSError:
                continue
            waiting += [(f"{path}/{name}" if path else name, deep, levels) for name, deep in names]

    def has(self, path: str) -> bool:
        if len(self._inside) > MOST_FOLDERS:
            self._inside.clear()
        levels = self._inside_of("", self.inherited)
        for at in (found.start() for found in re.finditer("/", path)):
            if levels is None:
                return False
            levels = self._inside_of(path[:at], levels)
        return levels is not None and not self._ignored(path, False, levels)

    @cached_property
    def inherited(self) -> RuleLevels:
        """Reads .git/info/exclude and the .gitignore files from the repository down.

        Empty outside git, or if they ignore the folder, which was asked for.
        """
        above = [self.real, *self.real.parents]
        top = next((n for n, folder in enumerate(above) if (folder / ".git").exists()), None)
        if top is None:
            return ()
        levels = self._with_own((), str(above[top]), ".git/info/exclude")
        for folder, inner in pairwise(reversed(above[: top + 1])):
            levels = self._with_own(levels, str(folder))
            if _matches(str(inner), True, levels):
                return ()
        return levels

    def _inside_of(self, folder: str, outer: RuleLevels) -> RuleLevels | None:
        if folder not in self._inside:
            seen = not folder or not self._ignored(folder, True, outer)
            own = os.path.join(self.real, folder)
            self._inside[folder] = self._with_own(outer, own) if seen else None
        return self._inside[folder]

    def _ignored(self, path: str, is_folder: bool, levels: RuleLevels) -> bool:
        if path.rpartition("/")[2] in SKIPPED:
            return True
        return _matches(os.path.join(self.real, path), is_folder, levels)

    def _with_own(self, levels: RuleLevels, folder: str, name: str = ".gitignore") -> RuleLevels:
        self._look_at_time()
        lines = read_rules(os.path.join(folder, name))
        start = len(os.fsencode(os.path.join(folder, "")))
        return (*levels, RuleLevel(start, self._parsed(lines))) if lines else levels

    def _look_at_time(self) -> None:
        if self._left() <= 0:
            raise TimeoutError


def list_folder(real: Path) -> tuple[str, ...]:
    """Sorted, folders with a trailing `/`; raises OSError."""
    return tuple(sorted(f"{name}/" if is_folder else name for name, is_folder in _names(real)))


def walk(real: Path, left: TimeLeft = lambda: math.inf) -> Iterator[str]:
    """Yields a folder's `Unignored` files; raises TimeoutError."""
    return Unignored(real, left).files()


def glob(pattern: str) -> Callable[[str], bool]:
    """Returns a test of relative paths by .gitignore's rules; raises BadRequest.

    `*.py` matches at any depth, `src/*.py` from the top, `**` any folders, `{a,b}` either.
    """
    if len(pattern) > MOST_LETTERS:
        raise BadRequest(f"a glob has at most {MOST_LETTERS} letters", "input.pattern")
    lines = _alternatives(pattern.removeprefix("./"))
    if not all(map(parsed, lines)):
        raise BadRequest(f"{pattern!r} is no valid glob.", "input.pattern")
    patterns = Patterns(lines)

    def is_meant(path: str, is_folder: bool) -> bool:
        whole = os.fsencode(path)
        return bool(patterns.verdict(whole, whole.rpartition(b"/")[2], is_folder))

    def accepts(path: str) -> bool:
        folders = (path[: found.start()] for found in re.finditer("/", path))
        return is_meant(path, False) or any(is_meant(folder, True) for folder in folders)

    return accepts


def _names(real: Path) -> list[tuple[str, bool]]:
    with folder_of(real / "-") as way:
        folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=way)
        try:
            with os.scandir(folder) as entries:
                return [(entry.name, _is_folder(entry)) for entry in entries]
        finally:
            os.close(folder)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _matches(path: str, is_folder: bool, levels: RuleLevels) -> bool:
    whole = os.fsencode(path)
    name = whole.rpartition(b"/")[2]
    for start, patterns in reversed(levels):
        verdict = patterns.verdict(whole[start:], name, is_folder)
        if verdict is not None:
            return verdict
    return False


def _alternatives(pattern: str) -> list[str]:
    done: list[str] = []
    open_ones = [pattern]
    while open_ones:
        current = open_ones.pop()
        innermost = _BRACES.search(current)
        if innermost is None:
            done.append(current)
            continue
        before, after = current[: innermost.start()], current[innermost.end() :]
        open_ones += [f"{before}{choice}{after}" for choice in innermost[1].split(",")]
        if len(done) + len(open_ones) > MOST_CHOICES:
            raise BadRequest(f"a glob has at most {MOST_CHOICES} choices", "input.pattern")
    return done
