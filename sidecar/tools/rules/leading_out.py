"""Finds a command's words that lead out of the workspace."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from sidecar.tools.rules.tables.plain_paths import without_line
from sidecar.workspace.paths import MAX_LINKS, readable

MOST_NAMES = 500_000
"""Names looked at in a workspace; more lead out."""
LONGEST_PATH = 4096
"""Bytes of Linux' longest path: one by a shorter name can be opened from a folder on its way, but
not looked at from here."""
_IMPORTING_FROM_ABOVE = re.compile(r"(?:d?mypy|pylint|(?:based)?pyright)(?![a-z_])", re.IGNORECASE)
"""Of a folder in a package these take those above, too."""
_NEAREST = {
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun", "jest", "vitest"), ("package.json",)),
    **dict.fromkeys(("pyright", "basedpyright"), ("pyrightconfig.json", "pyproject.toml")),
    **dict.fromkeys(("mypy", "dmypy"), ("mypy.ini", ".mypy.ini", "pyproject.toml", "setup.cfg")),
    **dict.fromkeys(("go", "golangci-lint", "staticcheck"), ("go.mod",)),
}
"""Of the nearest folder with such a file these take all."""
_FARTHEST = {
    "cargo": ("Cargo.toml",),
    **dict.fromkeys(("go", "golangci-lint", "staticcheck"), ("go.work",)),
}
"""One above a package joins that with others."""
_WRITTEN = re.compile(r"\.(?:isorted|eslintcache)\Z", re.IGNORECASE)
"""isort's NAME.isorted and eslint's notes for its next run: written through a link."""
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*(?:\.exe)?")


def leading_out(
    words: tuple[str, ...], folder: Path, root: Path, *, walks: bool = False
) -> tuple[str, ...]:
    """Returns the words of a command, run in `folder`, that lead out of the workspace.

    Links are followed; text after `=` and before `::` counts too. A program's name leads out if it
    `walks` folders and any link leads out; if a checker of Python runs where the workspace lies in
    a package; or if a package manager's package begins above. Missing paths count behind a link
    out, and where absolute, in a folder of the disk's root.
    """
    base = Path(os.path.realpath(root))
    if not words:
        return ()
    places = {folder, _package(words[0], folder)}
    found = tuple(word for word in words[1:] if any(_leads_out(word, one, base) for one in places))
    inside = Path(os.path.realpath(folder)).is_relative_to(base)
    out = (inside and _begins_above(words[0], folder, base)) or (
        walks and (_imports_from_above(words[0], base) or _may_lead_out(base))
    )
    return (words[0], *found) if out else found


def _package(program: str, folder: Path) -> Path:
    if "package.json" not in _NEAREST.get(_stem(program), ()):
        return folder
    return next(_above(folder, "package.json"), folder)


def _begins_above(program: str, folder: Path, base: Path) -> bool:
    nearest = (next(_above(folder, mark), base) for mark in _NEAREST.get(_stem(program), ()))
    farthest = (up for mark in _FARTHEST.get(_stem(program), ()) for up in _above(folder, mark))
    return any(not up.is_relative_to(base) for up in (*nearest, *farthest))


def _stem(program: str) -> str:
    return re.split(r"[^a-z-]|-(?![a-z])", os.path.basename(program).lower(), maxsplit=1)[0]


def _above(folder: Path, mark: str) -> Iterator[Path]:
    real = Path(os.path.realpath(folder))
    return (up for up in (real, *real.parents) if os.path.lexists(up / mark))


def _imports_from_above(program: str, base: Path) -> bool:
    if not _IMPORTING_FROM_ABOVE.match(os.path.basename(program)):
        return False
    marks = (up / f"__init__.{end}" for up in (base, *base.parents) for end in ("py", "pyi"))
    return any(map(os.path.lexists, marks))


def _leads_out(word: str, folder: Path, base: Path) -> bool:
    whole = {word, word.partition("=")[2]}
    # pytest's `file::test` is in the file, and so is `file:12`.
    names = (whole | {without_line(one.partition("::")[0]) for one in whole}) - {""}
    return any(_is_out(folder / name, base) for name in names)


def _may_lead_out(base: Path) -> bool:
    try:
        return _holds_way_out(base)
    except OSError:
        # With too many files open nobody can look.
        return True


def _holds_way_out(base: Path) -> bool:
    """Whether a link leads out or is written through, or names are too many."""
    folders, names = [base], 0
    while folders:
        with readable(), os.scandir(folders.pop()) as entries:
            for entry in entries:
                names += 1
                path = Path(entry.path)
                if names > MOST_NAMES or len(os.fsencode(path)) >= LONGEST_PATH:
                    return True
                if entry.is_symlink():
                    into = os.path.realpath(path).split("/")
                    if (
                        _WRITTEN.search(entry.name)
                        or ".git" in into
                        or (_is_out(path, base) and not _is_python(path))
                    ):
                        return True
                elif entry.is_dir(follow_symlinks=False):
                    folders.append(path)
    return False


def _is_python(link: Path) -> bool:
    names = link.name, os.path.basename(os.path.realpath(link))
    return all(map(_PYTHON.fullmatch, names)) and os.access(link, os.X_OK) and link.is_file()


def _is_out(path: Path, base: Path) -> bool:
    try:
        spelt = Path(os.path.normpath(path))
        absolute = ".." not in path.parts and not spelt.is_relative_to(base)
        # Looked at no closer, which would ask the host of an automounter's folder.
        if absolute and len(path.parts) > 2 and os.path.lexists("/" + path.parts[1]):
            return True
        if _depends(path, base):
            return True
        # What is removed or renamed is a link itself, and lies where its folder leads.
        entry = os.path.join(os.path.realpath(spelt.parent), spelt.name)
        # Some programs resolve `..` textually, whatever link stands before.
        for real in map(Path, (os.path.realpath(path), os.path.realpath(spelt), entry)):
            linked = spelt.is_relative_to(base)
            if not real.is_relative_to(base) and (linked or os.path.lexists(real)):
                return True
    except (OSError, ValueError):
        pass
    return False


def _depends(path: Path, base: Path) -> bool:
    """Whether a path leads through /proc or /dev, which differ by process, or too far.

    Not where the workspace lies there itself, as in /dev/shm.
    """
    at, left, links = "/", [*reversed(path.parts[1:])], 0
    while left:
        step = os.path.normpath(os.path.join(at, left.pop()))
        links += os.path.islink(step)
        if step in ("/proc", "/dev") and not base.is_relative_to(step):
            return True
        if links > MAX_LINKS or len(os.fsencode(step)) >= LONGEST_PATH:
            return True
        target = os.readlink(step) if os.path.islink(step) else ""
        left += reversed([part for part in Path(target).parts if part.strip("/")])
        at = "/" if target.startswith("/") else at if target else step
    return False
