"""Lists a folder's files, without those of .gitignore or `SKIPPED`. Blocks. Follows no links."""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sidecar.core.errors import BadRequest
from sidecar.workspace.files import read_beginning
from sidecar.workspace.unlinked_path import folder_of

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

SKIPPED = frozenset(
    {
        ".git", ".hg", ".svn", ".jj", "node_modules", "__pycache__", ".venv", ".tox", ".nox",
        ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", ".DS_Store",
    }
)  # fmt: skip
"""Never walked into."""

MAX_IGNORE_FILE = 256 * 1024

_STARS = re.compile(r"(?:\[\^/\]\*){2,}")
_BETWEEN = re.compile(
    r"\[\^/\]\*"
    r"((?:\\.|\[\^/\](?!\*)|\[(?!\^/\])[^\]]+\]|[^\\\[\]*+?(){}|/^$.])+)"
    r"(?=\[\^/\]\*)"
)
"""A star, and what stands before the next."""


@dataclass(frozen=True, slots=True)
class Ignore:
    """A .gitignore file's rules, for paths below `folder`."""

    folder: str
    spec: "GitIgnoreSpec"


def list_folder(real: Path) -> tuple[str, ...]:
    """Sorted, folders with a trailing `/`; raises OSError."""
    return tuple(sorted(f"{name}/" if is_folder else name for name, is_folder in _names(real)))


def walk(real: Path) -> Iterator[str]:
    """Yields relative paths with `/`, sorted.

    The enclosing repository's .gitignore files apply.
    """
    yield from _walk(str(real), "", inherited(real))


def visible(real: Path, relative: str) -> bool:
    ignores = inherited(real)
    folder = str(real)
    parts = relative.split("/")
    for left, part in zip(range(len(parts) - 1, -1, -1), parts, strict=True):
        own = _rules(folder)
        ignores = (*ignores, own) if own else ignores
        folder = os.path.join(folder, part)
        if part in SKIPPED or _ignored(folder, left > 0, ignores):
            return False
    return True


MOST_DEEP = 3
"""Of `**` in a glob: each more takes as many times longer as a path has folders."""


def linear_glob(pattern: str) -> str:
    """Lets each star but a step's last take as little as possible, for good.

    As `*a*b` is matched: by the first `a`. Otherwise `*a*a*a*a*b` and a name of sixty letters take
    an hour.
    """
    return _BETWEEN.sub(r"(?>[^/]*?\1)", _STARS.sub("[^/]*", pattern))


def glob(pattern: str) -> Callable[[str], bool]:
    """Returns a test of relative paths by .gitignore's rules; raises BadRequest.

    `*.py` matches at any depth, `src/*.py` from the top, `**` any folders, `{a,b}` either.
    """
    if pattern.count("**") > MOST_DEEP:
        raise BadRequest(f"A glob may have `**` {MOST_DEEP} times at most.", "input.pattern")
    try:
        spec = _spec(_alternatives(pattern.removeprefix("./")))
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"{pattern!r} is no valid glob: {error}", "input.pattern") from error
    return spec.match_file


def _walk(folder: str, prefix: str, ignores: tuple[Ignore, ...]) -> Iterator[str]:
    own = _rules(folder)
    ignores = (*ignores, own) if own else ignores
    try:
        names = sorted(_names(Path(folder)))
    except OSError:
        return
    for name, is_folder in names:
        path = os.path.join(folder, name)
        if name in SKIPPED or _ignored(path, is_folder, ignores):
            continue
        if is_folder:
            yield from _walk(path, f"{prefix}{name}/", ignores)
        else:
            yield prefix + name


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


def _ignored(path: str, is_folder: bool, ignores: tuple[Ignore, ...]) -> bool:
    for ignore in reversed(ignores):
        relative = os.path.relpath(path, ignore.folder).replace(os.sep, "/")
        verdict = ignore.spec.check_file(f"{relative}/" if is_folder else relative).include
        if verdict is not None:
            return verdict
    return False


def inherited(real: Path) -> tuple[Ignore, ...]:
    """Reads .git/info/exclude and the .gitignore files from the repository down.

    Empty outside git, or if they ignore `real`, which was asked for.
    """
    above = [real, *real.parents]
    top = next((index for index, folder in enumerate(above) if (folder / ".git").exists()), None)
    if top is None:
        return ()
    excluded = _rules(str(above[top]), ".git/info/exclude")
    rules = [_rules(str(folder)) for folder in reversed(above[1 : top + 1])]
    found = tuple(rule for rule in (excluded, *rules) if rule)
    return () if top and _ignored(str(real), True, found) else found


def _spec(lines: Iterable[str]) -> "GitIgnoreSpec":
    # Only searches need this tenth of a second.
    from pathspec import GitIgnoreSpec  # noqa: PLC0415
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern  # noqa: PLC0415

    def parsed(line: str) -> GitIgnoreSpecPattern:
        pattern = GitIgnoreSpecPattern(line)
        if pattern.regex is not None:
            pattern.regex = re.compile(linear_glob(pattern.regex.pattern))
        return pattern

    return GitIgnoreSpec.from_lines(lines, parsed, backend="simple")


def _rules(folder: str, name: str = ".gitignore") -> Ignore | None:
    try:
        data = read_beginning(os.path.join(folder, name), MAX_IGNORE_FILE)
    except OSError:
        return None
    lines = data.decode("utf-8", "replace").splitlines()
    try:
        return Ignore(folder, _spec(lines))
    except ValueError:
        return Ignore(folder, _spec(_valid(lines)))


def _valid(lines: list[str]) -> Iterator[str]:
    for line in lines:
        try:
            _spec([line])
        except ValueError:
            continue
        yield line


def _alternatives(pattern: str, limit: int = 64) -> list[str]:
    done: list[str] = []
    open_ones = [pattern]
    while open_ones and len(done) + len(open_ones) < limit:
        current = open_ones.pop()
        start = current.find("{")
        end = current.find("}", start)
        if start < 0 or end < 0:
            done.append(current)
            continue
        # The innermost pair first, so that nested braces come out right.
        start = current.rfind("{", 0, end)
        head, tail = current[:start], current[end + 1 :]
        open_ones += [f"{head}{choice}{tail}" for choice in current[start + 1 : end].split(",")]
    return sorted({*done, *open_ones})
