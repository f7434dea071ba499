"""Where a path given by the model really leads, and whether that lies inside the workspace."""

import os
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from sidecar.core.errors import BadRequest

MAX_PATH = 4096


@dataclass(frozen=True, slots=True)
class Place:
    """A resolved path.

    `real` is absolute and without links. `shown` is what people and the model read: relative to
    the workspace with `/` where `real` lies inside it, else absolute.
    """

    real: Path
    inside: bool
    shown: str


def locate(given: str, root: Path) -> Place:
    """Resolve a path, absolute or relative to `root`, through every link on its way.

    What does not exist yet counts by its nearest existing parent.

    Raises:
        BadRequest: when it can be no path.
    """
    _check(given)
    home = Path("~").expanduser() if given == "~" or given.startswith("~/") else None
    # A model that writes ~/notes means the home folder, never a folder named "~".
    joined = home / given[2:] if home else root / given
    try:
        real = Path(os.path.realpath(joined))
        looped = real.is_symlink()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise BadRequest(f"{given[:200]} cannot be resolved: {why}.", "input.path") from error
    if looped:
        raise BadRequest(f"{given!r} is a link that leads to itself.", "input.path")
    base = Path(os.path.realpath(root))
    inside = real.is_relative_to(base)
    return Place(real, inside, printable(display(real, base)))


def display(path: Path, root: Path) -> str:
    """Give a path relative to `root` with `/` when it lies below it, else as it is."""
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()


def printable(name: str) -> str:
    r"""Make a file name fit for JSON: bytes that are no UTF-8 are shown as `\xe9`."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def in_git(real: Path) -> bool:
    """Whether a resolved path lies in a repository's own folder, which only git may change.

    Some disks find `.git` where `.GIT`, `.git.` or a name with invisible letters is written.
    """
    return any(_plain(part) == ".git" for part in real.parts)


def _plain(name: str) -> str:
    seen = "".join(letter for letter in name if unicodedata.category(letter) != "Cf")
    return seen.rstrip(". ").casefold()


def _check(given: str) -> None:
    if not given or given.isspace():
        raise BadRequest("The path is empty. Give one, or `.` for the workspace.", "input.path")
    if "\0" in given:
        raise BadRequest("The path has a NUL byte in it. Give it without.", "input.path")
    if given.startswith("file:"):
        raise BadRequest("Give a plain path, not a file: URI.", "input.path")
    try:
        length = len(os.fsencode(given))
    except UnicodeEncodeError as error:
        raise BadRequest("The path is not valid Unicode.", "input.path") from error
    if length > MAX_PATH:
        raise BadRequest(f"The path is longer than {MAX_PATH} bytes.", "input.path")
