"""Words of a command that lead out of the workspace."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from sidecar.workspace.paths import MAX_LINKS

MOST_CHOICES, MOST_NAMES = 5_000, 500_000
"""Alternatives of a command's words, names in a workspace: more lead out."""
_CHOICE = re.compile(r"[{(]([^{}()]*)[})]")
_EXTENDED = re.compile(r"[?*+@!]\(|\{[^{}]*\.\.")
"""Extended globs and ranges, `+(x)` and `{a..z}`."""
_WILD = re.compile(r"[*?\[\]]|\.\.\.$")
_NAMED_CLASS = re.compile(r"\[[^\]]*\[:\w+:\][^\]]*\]")
_ADDRESS = re.compile(r"(?:^|[=,])(?:[A-Za-z][\w+.-]*://|data:)")
"""Addresses that PHP's programs open like a file, wherever."""
_SLASHED = re.compile(r"\\[^\[\](){}*?!]")
"""A backslash that escapes no sign of a glob: mocha, tsc and eslint take it for a slash."""
_SEPARATORS = re.compile(r"[=:,;\s]")
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*(?:\.exe)?")


@dataclass(frozen=True, slots=True)
class _Look:
    """One command's look at the disk, with the rest of `choices`."""

    folder: Path
    base: Path
    choices: Iterator[int] = field(default_factory=lambda: iter(range(MOST_CHOICES)))


def leading_out(
    words: tuple[str, ...], folder: Path, root: Path, *, expanded: bool = False
) -> tuple[str, ...]:
    """Words of a command, run in `folder`, that name something outside the workspace.

    Links are followed; text after `=` and before `::` counts too. With `expanded` so do parts at
    `:` and `,`, and expansions of `~`, braces and globs; the program's own name leads out with any
    link out in the workspace. Missing paths count behind a link out, and where they are absolute,
    in a folder of the disk's root; invalid paths never.
    """
    base = Path(os.path.realpath(root))
    if not expanded:
        return tuple(word for word in words[1:] if _leads_out(word, folder, base))
    look = _Look(folder, base)
    found = tuple(word for word in words[1:] if _expanded_leads_out(word, look))
    return (words[0], *found) if _holds_way_out(base) else found


def _leads_out(word: str, folder: Path, base: Path) -> bool:
    whole = {word, word.partition("=")[2]}
    # pytest's `file::test` is in the file.
    names = (whole | {one.partition("::")[0] for one in whole}) - {""}
    return any(_is_out(folder / name, base) for name in names)


def _expanded_leads_out(word: str, look: _Look) -> bool:
    if _ADDRESS.search(word) or _SLASHED.search(word):
        return True
    parts = {word, *_SEPARATORS.split(word), word.partition("=")[2]} - {""}
    return any(_pattern_leads_out(part, look) for part in parts)


def _pattern_leads_out(part: str, look: _Look) -> bool:
    return bool(_EXTENDED.search(part)) or any(
        next(look.choices, None) is None or _glob_leads_out(one, look)
        for one in _literal_choices(part)
    )


def _literal_choices(part: str) -> Iterator[str]:
    """Each alternative of the part, with backslashes and without."""
    ways = [part]
    while ways:
        way = ways.pop()
        if choice := _CHOICE.search(way):
            before, behind = way[: choice.start()], way[choice.end() :]
            ways += (before + one + behind for one in re.split("[,|]", choice[1]))
        else:
            yield from {way, way.replace("\\", "")}


def _glob_leads_out(glob: str, look: _Look) -> bool:
    glob, base = glob.removeprefix("!"), look.base
    if glob.startswith("~") and os.path.lexists(os.path.expanduser(glob.split("/", 1)[0])):
        return True
    wild = _WILD.search(glob)
    if wild is None:
        return _is_out(look.folder / glob, base)
    if glob.startswith(("/", "~")) or ".." in glob.removesuffix("..."):
        return True
    if any(map(_climbs, glob.split("/"))):
        return True
    return _is_out(look.folder / glob[: wild.start()].rpartition("/")[0], base)


def _climbs(step: str) -> bool:
    """Whether a pattern's step may stand for `..`, as `[.][.]` does to some programs.

    A `*` at its beginning stands for no dot.
    """
    any_class = _NAMED_CLASS.sub("?", step).replace("[^", "[!")
    return step[:1] in (".", "[", "?") and fnmatchcase("..", any_class)


def _holds_way_out(base: Path) -> bool:
    """Whether any link in the workspace leads out, or names are too many.

    Passed over are git's histories and a virtual environment's Python.
    """
    folders, names = [base], 0
    while folders:
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                names += 1
                if names > MOST_NAMES:
                    return True
                if entry.is_symlink():
                    path = Path(entry.path)
                    if _is_out(path, base) and not _is_python(path):
                        return True
                elif entry.name != ".git" and entry.is_dir(follow_symlinks=False):
                    folders.append(Path(entry.path))
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
        if _depends(path):
            return True
        # Some programs resolve `..` textually, whatever link stands before.
        for real in map(Path, map(os.path.realpath, (path, spelt))):
            linked = spelt.is_relative_to(base)
            if not real.is_relative_to(base) and (linked or os.path.lexists(real)):
                return True
    except (OSError, ValueError):
        pass
    return False


def _depends(path: Path) -> bool:
    """Through /proc or /dev, whose contents differ by process, or over `MAX_LINKS`."""
    at, left, links = "/", [*reversed(path.parts[1:])], 0
    while left:
        step = os.path.normpath(os.path.join(at, left.pop()))
        links += os.path.islink(step)
        if step in ("/proc", "/dev") or links > MAX_LINKS:
            return True
        target = os.readlink(step) if os.path.islink(step) else ""
        left += reversed([part for part in Path(target).parts if part.strip("/")])
        at = "/" if target.startswith("/") else at if target else step
    return False
