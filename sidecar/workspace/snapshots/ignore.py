"""Tells ignored paths: .gitignore at every level, git's own excludes, built-in names.

Paths (bytes) are asked about from the outermost folder on; the last matching line decides.
"""

import os
from contextlib import suppress
from dataclasses import dataclass as library_dataclass
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import Self

from sidecar.core.dataclass import dataclass
from sidecar.workspace.files import git_folders
from sidecar.workspace.snapshots.git_index import Tracked, read_tracked
from sidecar.workspace.snapshots.ignore_patterns import Patterns, read_rules

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


# With a dictionary, for `cached_property`.
@library_dataclass(frozen=True)
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
        lines = read_rules(path)
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
        IgnoreLevel(Patterns(lines), folder, above) for path in files if (lines := read_rules(path))
    )
    repository = Repository(git, folder, above)
    return replace(rules, levels=levels, repository=repository, outside=files)


def _global_files() -> tuple[Path, ...]:
    config = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    usual = Path(config).expanduser() / "git/ignore"
    for line in read_rules(Path("~/.gitconfig").expanduser()):
        key, _, value = line.partition("=")
        if key.strip().lower() == "excludesfile" and value.strip():
            return (Path(value.strip().strip('"')).expanduser(),)
    return (usual,)


def _built_in() -> Patterns:
    return Patterns(sorted(os.fsdecode(name) for name in BUILT_IN))
