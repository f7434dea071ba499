"""Reads instructions of user and project: AGENTS.md, else CLAUDE.md. Blocks."""

import grp
import os
import pwd
import stat
from collections.abc import Callable
from pathlib import Path

import platformdirs

from sidecar.core.dataclass import dataclass
from sidecar.core.prompt.frames import within_frame
from sidecar.workspace.unlinked_path import folder_of, open_in

NAMES = ("AGENTS.md", "CLAUDE.md")
"""In order of preference; at most one per folder counts."""
MARKDOWN = frozenset({".md", ".mdc", ".markdown"})
"""Endings of what a repository may link to: a link to its `.env` would send the user's keys."""

_NONBLOCK = getattr(os, "O_NONBLOCK", 0)
MAX_INSTRUCTION = 64 * 1024


@dataclass(frozen=True, slots=True)
class Instruction:
    """Absolute `path`, `text` capped at 64 KiB, which passes for no other file's."""

    path: str
    text: str


def user_folder() -> Path:
    return Path(platformdirs.user_config_dir("sidecar", appauthor=False))


def read_instructions(
    cwd: Path, trusted: bool, user: Path, keeps: Callable[[str], bool] | None = None
) -> tuple[Instruction, ...]:
    """From the folder `user`, then from the top down to `cwd`.

    The top: the repository's, home, or the file system's root. Skips files above `cwd` that others
    may write, links out of their folder or to anything but Markdown, paths that a rule `keeps`,
    untrusted workspaces.
    """
    found = [_first(user, Path(user.anchor))]
    if trusted:
        real = Path(os.path.realpath(cwd))
        found += [
            _first(folder, folder, keeps, above=folder != real)
            for folder in _downward(real)
            if folder != user
        ]
    return tuple(instruction for instruction in found if instruction)


def instruction_folders(cwd: Path, user: Path) -> tuple[Path, ...]:
    folders = (user, *_downward(Path(os.path.realpath(cwd))))
    return tuple(dict.fromkeys(folder for folder in folders if os.path.isdir(folder)))


def _downward(cwd: Path) -> list[Path]:
    above = [cwd, *(folder for folder in cwd.parents if _is_own_folder(folder))]
    # Functions of `os.path` never raise, even if the home or a folder disappears.
    home = Path(os.path.realpath(os.path.expanduser("~")))
    top = next((folder for folder in above if os.path.exists(folder / ".git")), None)
    if top is None and cwd.is_relative_to(home):
        top = home
    return [folder for folder in reversed(above) if top is None or folder.is_relative_to(top)]


def _is_own_folder(folder: Path) -> bool:
    try:
        return _is_own(folder.stat())
    except OSError:
        return False


def _is_own(found: os.stat_result) -> bool:
    if found.st_uid not in (0, os.getuid()):
        return False
    shared = found.st_mode & stat.S_IWGRP and not _is_private(found.st_gid)
    return not (shared or found.st_mode & stat.S_IWOTH)


def _is_private(group: int) -> bool:
    try:
        name, found = pwd.getpwuid(os.getuid()).pw_name, grp.getgrgid(group)
    except KeyError:
        return False
    return found.gr_name == name and set(found.gr_mem) <= {name}


def _first(
    folder: Path, within: Path, keeps: Callable[[str], bool] | None = None, *, above: bool = False
) -> Instruction | None:
    for name in NAMES:
        path = folder / name
        real = Path(os.path.realpath(path))
        if not real.is_relative_to(within):
            continue
        if within == folder and real.suffix.lower() not in MARKDOWN:
            continue
        # The link may have moved since.
        if keeps is not None and (keeps(str(path)) or keeps(str(real))):
            continue
        text = within_frame(_read(real, own=above))
        if text.strip():
            return Instruction(str(path), text)
    return None


def _read(real: Path, *, own: bool) -> str:
    try:
        with folder_of(real) as folder:
            descriptor = open_in(folder, real, os.O_RDONLY | os.O_CLOEXEC | _NONBLOCK)
        with open(descriptor, "rb") as file:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode) or (own and not _is_own(found)):
                return ""
            data = file.read(MAX_INSTRUCTION + 1)
    except OSError:
        return ""
    cut = len(data) > MAX_INSTRUCTION
    text = data[:MAX_INSTRUCTION].decode("utf-8", "ignore" if cut else "replace")
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    return f"{text}\n[cut: the file is longer than 64 KiB]" if cut else text
