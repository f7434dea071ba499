"""Tells ignored paths: .gitignore at every level, git's own excludes, built-in names.

Paths (bytes) are asked about from the outermost folder on; the last matching line decides.
"""

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Self

from sidecar.workspace.files import git_folders, read_beginning
from sidecar.workspace.snapshots.git_index import Tracked, read_tracked
from sidecar.workspace.walk import linear_glob

HISTORIES = frozenset({b".git", b".hg", b".svn", b".jj"})
"""Never searched or touched."""
STAGING = b".sidecar-restore-"
"""Prefix of a restore's own folders."""
LOCK = b".#"
"""Prefix of Emacs's links that lock changed files."""
BUILT_IN = frozenset(
    {
        b"node_modules", b"bower_components", b".venv", b"venv", b"__pycache__", b"target",
        b"dist", b"build", b".cache", b".tox", b".nox", b".mypy_cache", b".ruff_cache",
        b".pytest_cache", b".hypothesis", b".gradle", b".next", b".nuxt", b".terraform",
        b".direnv", b".DS_Store", b"Thumbs.db",
    }
)  # fmt: skip
"""Ignored without git, where nobody lists build output."""
BESIDE = tuple(sorted(HISTORIES | BUILT_IN))
"""Entries usually in no snapshot, so never restored."""
MAX_BYTES = 256 * 1024
MOST_NAMES = 20_000
"""Cached verdicts on names, per list of rules."""
NO_OPINION = (-1, False)
_WILD = frozenset("*?[\\")
_BRACKETS = re.compile(r"\\.|\[(?!\^/\])\^?\]?(?:\\.|[^\\\]])*\]", re.DOTALL)
"""Brackets of an expression, and escapes inside, except the set of everything but `/`."""


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
    """A rule file's lines; verdicts are cached by name."""

    def __init__(self, lines: Iterable[str]) -> None:
        found = [pattern for line in lines if (pattern := _pattern(line)) is not None]
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


@dataclass(frozen=True)
class Repository:
    """A folder with `.git`, at `folder` of the workspace.

    `above`: the path from an enclosing repository to the root, with `/` at the end.
    """

    git: Path
    folder: bytes
    above: bytes = b""

    @cached_property
    def tracked(self) -> Tracked:
        return read_tracked(self.git)

    def tracks(self, path: bytes, is_folder: bool) -> bool:
        relative = self.above + (path[len(self.folder) + 1 :] if self.folder else path)
        return relative in (self.tracked.folders if is_folder else self.tracked.files)


@dataclass(frozen=True, slots=True)
class IgnoreLevel:
    """Patterns of `folder`, or of a folder around the root, with `above`."""

    patterns: Patterns
    folder: bytes
    above: bytes = b""


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """One folder's rules; `levels` run from weakest to strongest."""

    levels: tuple[IgnoreLevel, ...] = ()
    repository: Repository | None = None
    only_tracked: bool = False
    own: tuple[bool, bool] = (False, False)
    """Whether the folder has `.git` and `.gitignore` itself."""
    outside: tuple[Path, ...] = field(default=(), compare=False)
    """Rule files outside any watch."""

    def ignored(self, path: bytes, is_folder: bool) -> bool:
        name = path.rpartition(b"/")[2]
        if name in HISTORIES or name.startswith((STAGING, LOCK)):
            return True
        if not (self.only_tracked or self._matches(path, is_folder)):
            return False
        return self.repository is None or not self.repository.tracks(path, is_folder)

    def keeps_all(self, names: list[bytes]) -> bool:
        text = b"/" + b"/".join(names)
        # Names ignored by themselves begin with a dot, as few others do.
        dotted = b"/." in text and (
            b"/" + LOCK in text or b"/" + STAGING in text or not HISTORIES.isdisjoint(names)
        )
        return not (
            self.only_tracked
            or dotted
            or not all(level.patterns.silent(names, text) for level in self.levels)
        )

    def tracked(self, path: bytes) -> bool:
        return self.repository is not None and self.repository.tracks(path, False)

    def inside(
        self, root: Path, folder: bytes, *, git: bool, gitignore: bool, unsaid: bool = False
    ) -> "IgnoreRules":
        """`unsaid`: no rule matches that folder (`keeps_all`)."""
        only = self.only_tracked or (not unsaid and self._matches(folder, True))
        if not (git or gitignore) and self.own == (False, False) and only == self.only_tracked:
            return self
        rules = replace(self, only_tracked=only, own=(git, gitignore))
        real = root / os.fsdecode(folder)
        if git:
            rules = _in_repository(replace(rules, only_tracked=False), real, folder)
        if gitignore:
            rules = rules.with_file(real / ".gitignore", folder)
            rules = rules.with_own_looked_at(real, folder)
        return rules

    def with_own_looked_at(self, real: Path, folder: bytes) -> Self:
        """Treats a .gitignore that ignores itself as unwatched."""
        path = folder + b"/.gitignore" if folder else b".gitignore"
        if not (self.own[1] and self.ignored(path, False)):
            return self
        return replace(self, outside=(*self.outside, real / ".gitignore"))

    def with_file(self, path: Path, folder: bytes, above: bytes = b"") -> Self:
        lines = _lines(path)
        level = IgnoreLevel(Patterns(lines), folder, above)
        return replace(self, levels=(*self.levels, level)) if lines else self

    def _matches(self, path: bytes, is_folder: bool) -> bool:
        name = path.rpartition(b"/")[2]
        for level in reversed(self.levels):
            relative = path[len(level.folder) + 1 :] if level.folder else path
            verdict = level.patterns.verdict(level.above + relative, name, is_folder)
            if verdict is not None:
                return verdict
        return False


def root_rules(root: Path) -> IgnoreRules:
    around = [root, *root.parents]
    at = next((n for n, folder in enumerate(around) if os.path.lexists(folder / ".git")), None)
    own = (at == 0, os.path.lexists(root / ".gitignore"))
    if at is None or _leaves_out(around[at], root):
        # A user who opens an ignored folder wants to see its files.
        rules = IgnoreRules((IgnoreLevel(_built_in(), b""),), own=own)
        return rules.with_file(root / ".gitignore", b"").with_own_looked_at(root, b"")
    above = os.fsencode(root.relative_to(around[at]).as_posix() + "/") if at else b""
    rules = _in_repository(IgnoreRules(own=own), around[at], b"", above)
    for folder in reversed(around[: at + 1]):
        inner = "" if folder == root else f"{root.relative_to(folder).as_posix()}/"
        prefix = os.fsencode(inner)
        rules = rules.with_file(folder / ".gitignore", b"", prefix)
    outside = tuple(folder / ".gitignore" for folder in around[1 : at + 1])
    rules = replace(rules, outside=(*rules.outside, *outside))
    return rules.with_own_looked_at(root, b"")


def _leaves_out(top: Path, root: Path) -> bool:
    if top == root:
        return False
    rules, folder = root_rules(top), b""
    for name in map(os.fsencode, root.relative_to(top).parts):
        folder = folder + b"/" + name if folder else name
        if rules.ignored(folder, True):
            return True
        rules = rules.inside(top, folder, git=False, gitignore=True)
    return False


def _in_repository(
    rules: IgnoreRules, real: Path, folder: bytes, above: bytes = b""
) -> IgnoreRules:
    git = main = real / ".git"
    with suppress(OSError, ValueError):
        git, main = git_folders(git)
    files = (*_global_files(), main / "info/exclude")
    levels = tuple(
        IgnoreLevel(Patterns(lines), folder, above) for path in files if (lines := _lines(path))
    )
    repository = Repository(git, folder, above)
    return replace(rules, levels=levels, repository=repository, outside=files)


def _global_files() -> tuple[Path, ...]:
    config = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    usual = Path(config).expanduser() / "git/ignore"
    for line in _lines(Path("~/.gitconfig").expanduser()):
        key, _, value = line.partition("=")
        if key.strip().lower() == "excludesfile" and value.strip():
            return (Path(value.strip().strip('"')).expanduser(),)
    return (usual,)


def _lines(path: Path) -> list[str]:
    try:
        return os.fsdecode(read_beginning(path, MAX_BYTES)).split("\n")
    except (OSError, ValueError):
        return []


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
    text = linear_glob(parsed.regex.pattern.replace("?P<ps_d>", "?:"))
    for tail, end in (("(?:(?:/)|$)", r"\Z"), ("(?:/)", r"/\Z")):
        if text.endswith(tail):
            text = text.removesuffix(tail) + end
            break
    # In git, brackets never match `/`, whatever is listed inside.
    text = _BRACKETS.sub(lambda m: m[0] if m[0][0] == "\\" else f"(?!/){m[0]}", text)
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


def _built_in() -> Patterns:
    return Patterns(sorted(os.fsdecode(name) for name in BUILT_IN))
