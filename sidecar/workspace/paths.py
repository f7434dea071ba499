"""Resolves paths given by the model."""

import errno
import itertools
import os
import re
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from sidecar.core.dataclass import dataclass
from sidecar.core.errors import BadRequest
from sidecar.core.text.visible import plain_path
from sidecar.workspace.files import git_folders
from sidecar.workspace.snapshots.time_stamps import is_racy
from sidecar.workspace.unlinked_path import may_be_linked

MAX_PATH = 4096
MAX_FOLDERS = 100
"""Slashes in a path: to look at those on its way takes quadratic time."""
MAX_LINKS = 40
"""Links followed per path."""
MAX_LOOKED = 5000
"""Names in subfolders searched for links."""
MAX_DEPTH = 3
"""Levels of subfolders searched for links."""
MOST_KEPT = 500
"""Folders whose names are kept, and names in one of them."""
INSTEAD = {
    "XDG_CONFIG_HOME": ".config", "XDG_DATA_HOME": ".local/share", "XDG_STATE_HOME": ".local/state",
    "BASH_ENV": ".bashrc", "PYTHONSTARTUP": ".pythonstartup", "PYTHONUSERBASE": ".local",
    "RIPGREP_CONFIG_PATH": ".ripgreprc", "BAT_CONFIG_PATH": ".config", "INPUTRC": ".inputrc",
    "GIT_CONFIG_GLOBAL": ".gitconfig",
    "GIT_TEMPLATE_DIR": ".git-templates", "NPM_CONFIG_USERCONFIG": ".npmrc", "CARGO_HOME": ".cargo",
    "GRADLE_USER_HOME": ".gradle", "PIP_CONFIG_FILE": ".pip", "HGRCPATH": ".hgrc",
    "CLAUDE_CONFIG_DIR": ".claude", "CODEX_HOME": ".codex", "IPYTHONDIR": ".ipython",
    "JUPYTER_CONFIG_DIR": ".jupyter", "R_PROFILE_USER": ".Rprofile", "DOCKER_CONFIG": ".docker",
    "SIDECAR_DATA_DIR": ".sidecar", "PSQLRC": ".psqlrc", "WGETRC": ".wgetrc", "GNUPGHOME": ".gnupg",
    "ZDOTDIR": ".zsh", "ZSH": ".zsh", "ZSH_CUSTOM": ".zsh", "DOOMDIR": ".emacs.d",
    "SPACEMACSDIR": ".emacs.d", "XDG_CACHE_HOME": ".local", "XDG_CONFIG_DIRS": ".config",
    "XDG_DATA_DIRS": ".local/share", "PRE_COMMIT_HOME": ".local", "RUSTUP_HOME": ".cargo",
    "NVM_DIR": ".local", "PYENV_ROOT": ".local", "RBENV_ROOT": ".local", "ASDF_DIR": ".local",
    "ASDF_DATA_DIR": ".local", "SDKMAN_DIR": ".local", "VOLTA_HOME": ".local",
}  # fmt: skip
"""Variables naming a place used instead of one in the home folder."""


@dataclass(frozen=True, slots=True)
class _Listed:
    """A folder's names: links with targets, folders, all but links by inode."""

    count: int
    whole: bool
    links: tuple[tuple[str, str], ...]
    folders: tuple[tuple[str, str], ...]
    """(name, path)"""
    inodes: Mapping[int, Sequence[str]]
    git: tuple[str, ...]
    """The path of its `.git`, if any."""


@dataclass(frozen=True, slots=True)
class Place:
    """A resolved path; `real` is absolute, without links.

    `shown`: relative with `/` inside the workspace, else absolute.
    """

    real: Path
    inside: bool
    shown: str


def led_elsewhere(root: Path) -> str:
    """Says where a session's folder leads by now, as after a checkout of a link; "" if nowhere."""
    real = os.path.realpath(root)
    if real == str(root):
        return ""
    return (
        f"{printable(str(root))} has become a link and leads to {printable(real)}: nothing is read "
        "or done there. Open that folder itself, or take the link away."
    )


def locate(given: str, root: Path) -> Place:
    """Resolves `given`, absolute or relative to `root`, through every link.

    A missing path resolves by its nearest existing parent. Raises BadRequest if empty, too long,
    invalid, a loop of links, or where `root` leads elsewhere by now.
    """
    _check(given)
    if moved := led_elsewhere(root):
        raise BadRequest(moved, "input.path")
    joined = _joined(given, root)
    try:
        real = Path(os.path.realpath(joined)) if may_be_linked(given, root) else joined
        looped = real.is_symlink()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise BadRequest(f"{given[:200]} cannot be resolved: {why}.", "input.path") from error
    if looped:
        raise BadRequest(f"{given!r} is a link that leads to itself.", "input.path")
    return Place(real, real.is_relative_to(root), printable(display(real, root)))


def _joined(given: str, root: Path) -> Path:
    # A model that writes ~/notes means the home folder, never a folder named "~".
    home = Path("~").expanduser() if given == "~" or given.startswith("~/") else None
    return home / given[2:] if home else root / given


def own_names(base: Path) -> tuple[str, ...]:
    """Names folders on the way to `base`, from below home or temporary folder."""
    known = [os.path.expanduser("~")]
    with suppress(OSError):
        # The first look writes a file, which fails while descriptors or disks are full.
        known.append(tempfile.gettempdir())
    tops = [Path(os.path.realpath(one)).parts for one in known]
    above = max((len(top) for top in tops if base.parts[: len(top)] == top), default=1)
    return tuple(printable(name) for name in base.parts[above:])


def linked_names(
    given: Iterable[str],
    folder: Path,
    base: Path,
    holding: Callable[[str], object],
    variables: Mapping[str, str],
) -> tuple[str, ...]:
    """Lists other names of paths through links, as `Place.shown`; `base`: the resolved root.

    Follows links on each path, and finds links to a path or its parents in parent folders, the home
    folder, the repository's hooks, and `MAX_DEPTH` levels of subfolders that `holding` accepts.
    Hard links, and places that `variables` name, count too.
    """
    home = str(Path(os.path.expanduser("~")))
    found: list[str] = []
    reals: set[str] = set()
    for one in given:
        with suppress(OSError, ValueError):
            at = _joined(one, folder)
            real, ways = os.path.realpath(at), ways_to(at)
            found += [path for path in (*ways, real) if ways != [real]]
            reals.add(real)
    # A home folder, and what is above, holds all of a user's work.
    passed, inner = {*_upwards(os.path.realpath(home))}, {*_upwards(str(base))}
    # A look is at one moment: each place is asked about once.
    state, names = cache(_stat), {""}
    below: dict[object, list[str]] = {}
    around: dict[object, list[str]] = {}
    for real in reals:
        for up in _upwards(real):
            if up not in passed:
                names.add(plain_path(os.path.basename(up)))
                known = around if up in inner else below
                for sign in _signs(up, state):
                    known.setdefault(sign, []).append(real[len(up) + 1 :])
    numbers = {there.st_ino for real in reals if (there := state(real))}
    for start in {home, *(up for real in reals for up in _upwards(real)[1:])} if reals else ():
        instead = _instead(home, base, variables) if start == home else ()
        for link, led in (*_links(start, holding, numbers), *instead):
            # What has another name can only be the same by its inode.
            alike = plain_path(os.path.basename(led)) in names
            for sign in _signs(os.path.realpath(led), state) if alike else _inode(led, state):
                found += [os.path.join(link, rest) for rest in below.get(sign, ())]
                # All that the root holds has the names of links to it: only those that matter.
                if sign in around and holding(display(Path(link), base)):
                    found += [os.path.join(link, rest) for rest in around[sign]]
    return tuple(sorted({printable(display(Path(path), base)) for path in found}))


def _upwards(path: str) -> list[str]:
    found = [path]
    while (above := os.path.dirname(found[-1])) != found[-1]:
        found.append(above)
    return found


def _instead(home: str, base: Path, variables: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    # npm has its own in lower case.
    for variable in (name for name in variables if name.upper() in INSTEAD):
        # Some name several.
        for one in filter(None, variables[variable].split(os.pathsep)):
            yield os.path.join(home, INSTEAD[variable.upper()]), os.path.realpath(base / one)


def spelt_names(given: str, root: Path) -> tuple[str, ...]:
    """Names a path before and after each link, whole and as `Place.shown`."""
    base = Path(os.path.realpath(root))
    ways = ways_to(_joined(given, root))
    return tuple(printable(one) for path in ways for one in (path, display(Path(path), base)))


def _signs(path: str, state: Callable[[str], os.stat_result | None]) -> tuple[object, ...]:
    """Identifies a place: path, inode, and folder with name in any case.

    Some disks find `a` as `A`; a file may have many hard links.
    """
    folder, name = os.path.split(path)
    named = [(*above, plain_path(name)) for above in _inode(folder, state)]
    return (path, *_inode(path, state), *named)


def _inode(path: str, state: Callable[[str], os.stat_result | None]) -> tuple[tuple[int, int], ...]:
    found = state(path)
    return ((found.st_dev, found.st_ino),) if found else ()


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except (OSError, ValueError):
        return None


def roots_above(folder: Path, base: Path, marks: tuple[str, ...]) -> tuple[Path, ...]:
    """Lists `folder` and parents below `base` that hold one of the `marks`.

    Nearest first; both folders are resolved.
    """
    if not folder.is_relative_to(base):
        return ()
    inner = itertools.takewhile(lambda up: up != base, (folder, *folder.parents))
    return tuple(up for up in inner if any(os.path.lexists(up / mark) for mark in marks))


def ways_to(given: Path) -> list[str]:
    """Names a path before each of its links and behind the last; `..` leads up from there."""
    found, here = [os.path.normpath(given)], os.sep
    steps = deque(given.parts[1:])
    while steps and len(found) < MAX_LINKS:
        step = steps.popleft()
        path = os.path.dirname(here) if step == ".." else os.path.join(here, step)
        try:
            led = os.readlink(path)
        except OSError:
            here = path
            continue
        found.append(os.path.normpath(os.path.join(path, *steps)))
        here = os.sep if led.startswith(os.sep) else here
        steps.extendleft(reversed([step for step in led.split(os.sep) if step not in ("", ".")]))
    return list(dict.fromkeys((*found, os.path.normpath(os.path.join(here, *steps)))))


def _links(
    start: str,
    holding: Callable[[str], object],
    numbers: set[int],
) -> Iterator[tuple[str, str]]:
    """Yields links in a folder and subfolders, with targets, nearest first.

    Names of an inode in `numbers` are links, too. Subfolders take turns up to `MAX_LOOKED` names,
    so a large one hides none.
    """
    turns, looked = deque([deque([(start, 0)])]), 0
    while turns:
        group = turns.popleft()
        folder, depth = group.popleft()
        listed = _listed(folder, MAX_LOOKED - looked if depth else sys.maxsize)
        looked += listed.count if depth else 0
        yield from ((link, _followed(led)) for link, led in listed.links)
        for number in numbers & listed.inodes.keys():
            yield from ((other, other) for other in listed.inodes[number])
        if not depth:
            below = [path for name, path in listed.folders if holding(name)]
            turns.extend(deque([(path, 1)]) for path in below)
            turns.extend(deque([(_hooks(git), MAX_DEPTH)]) for git in listed.git)
        elif depth < MAX_DEPTH:
            group.extend((path, depth + 1) for _, path in listed.folders)
        if group:
            turns.append(group)


def _hooks(git: str) -> str:
    shared = Path(git)
    with suppress(OSError, ValueError):
        _, shared = git_folders(shared)
    return str(shared / "hooks")


def _listed(folder: str, most: int) -> _Listed:
    """Lists at most `most` names; reuses an earlier list if time stamps prove it current."""
    there, at = _stat(folder), time.time_ns() // 1_000_000
    if there is None:
        return _NOTHING
    mark = (there.st_dev, there.st_ino, there.st_mtime_ns, there.st_ctime_ns)
    before, kept = _KEPT.get(folder, (None, _NOTHING))
    if before == mark and kept.count <= most:
        return kept
    found = _read(folder, most)
    if found.whole and found.count < MOST_KEPT and not is_racy(there, at):
        if len(_KEPT) >= MOST_KEPT:
            _KEPT.clear()
        _KEPT[folder] = mark, found
    return found


@contextmanager
def readable() -> Iterator[None]:
    """Passes over what cannot be read, but not where the daemon has too many files open."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):
            raise


def _read(folder: str, most: int) -> _Listed:
    count, whole, within = 0, False, os.path.join(folder, "")
    links: list[tuple[str, str]] = []
    folders: list[tuple[str, str]] = []
    inodes: dict[int, list[str]] = {}
    with readable(), os.scandir(folder) as entries:
        for entry in itertools.islice(entries, most):
            count, path = count + 1, within + entry.name
            if entry.is_symlink():
                links.append((path, _led(path)))
                continue
            inodes.setdefault(entry.inode(), []).append(path)
            if entry.is_dir(follow_symlinks=False):
                folders.append((entry.name, path))
        whole = count < most
    git = tuple(path for paths in inodes.values() for path in paths if path == within + ".git")
    return _Listed(count, whole, tuple(links), tuple(folders), inodes, git)


_NOTHING = _Listed(0, True, (), (), {}, ())
_KEPT: dict[str, tuple[tuple[int, ...], _Listed]] = {}


def _followed(path: str) -> str:
    for _ in range(MAX_LINKS):
        if (led := _led(path)) == path:
            break
        path = led
    return path


def _led(path: str) -> str:
    try:
        return os.path.join(os.path.dirname(path), os.readlink(path))
    except OSError:
        return path


def display(path: Path, root: Path) -> str:
    """Relative to `root` with `/` if below."""
    with suppress(ValueError):
        path = path.relative_to(root)
    return path.as_posix()


def printable(name: str) -> str:
    r"""For JSON: bytes invalid in UTF-8 become `\xe9`."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def in_git(real: Path) -> bool:
    """Whether a resolved path lies in a repository's own folder, changed by git alone.

    As on some disks, `.git` matches in any case, with trailing dots or spaces, invisible letters,
    and as `GIT~1`. A `.git` file may name any folder: folders with HEAD and commondir, or objects
    and refs, count too.
    """
    named = any(re.fullmatch(r"\.git|git~\d+", plain_path(part)) for part in real.parts)
    return named or any(map(_is_history, _upwards(str(real))))


def _is_history(folder: str) -> bool:
    def holds(name: str) -> bool:
        return os.path.lexists(os.path.join(folder, name))

    if holds("HEAD") and (holds("commondir") or (holds("objects") and holds("refs"))):
        return True
    # git makes `objects/pack` in each; without it, two folders of these names are anybody's.
    return holds("objects/pack") and holds("refs")


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
    if given.count("/") > MAX_FOLDERS:
        raise BadRequest(f"The path names more than {MAX_FOLDERS} folders.", "input.path")
