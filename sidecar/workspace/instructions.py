"""Instructions for every agent, by user and project: AGENTS.md, else CLAUDE.md. Blocks."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from sidecar.workspace.unlinked_path import folder_of, open_in

NAMES = ("AGENTS.md", "CLAUDE.md")
"""In order of preference; at most one per folder counts."""

_NONBLOCK = getattr(os, "O_NONBLOCK", 0)
MAX_INSTRUCTION = 64 * 1024


@dataclass(frozen=True, slots=True)
class Instruction:
    """A file of instructions: absolute `path`, `text` capped at 64 KiB."""

    path: str
    text: str


def user_folder() -> Path:
    """The user's folder of configuration and instructions."""
    return Path(platformdirs.user_config_dir("sidecar", appauthor=False))


def read_instructions(cwd: Path, trusted: bool, user: Path) -> tuple[Instruction, ...]:
    """Instructions of the folder `user`, then from the top down to `cwd`.

    The top is the repository's root, else the home folder, else the file system's root. Skips
    world-writable folders above `cwd` (/tmp), links out of the top, and untrusted workspaces.
    """
    found = [_first(user, None)]
    if trusted:
        folders = _downward(Path(os.path.realpath(cwd)))
        found += [_first(folder, folders[0]) for folder in folders if folder != user]
    return tuple(instruction for instruction in found if instruction)


def instruction_folders(cwd: Path, user: Path) -> tuple[Path, ...]:
    """Existing folders that `read_instructions` looks in if the workspace is trusted."""
    folders = (user, *_downward(Path(os.path.realpath(cwd))))
    return tuple(dict.fromkeys(folder for folder in folders if os.path.isdir(folder)))


def _downward(cwd: Path) -> list[Path]:
    above = [cwd, *cwd.parents]
    # Functions of `os.path` never raise, even if the home or a folder disappears.
    home = Path(os.path.realpath(os.path.expanduser("~")))
    top = next((folder for folder in above if os.path.exists(folder / ".git")), None)
    if top is None:
        top = home if cwd.is_relative_to(home) else above[-1]
    return [
        folder for folder in above[above.index(top) :: -1] if folder == cwd or not _shared(folder)
    ]


def _shared(folder: Path) -> bool:
    try:
        return bool(folder.stat().st_mode & stat.S_IWOTH)
    except OSError:
        return True


def _first(folder: Path, top: Path | None) -> Instruction | None:
    for name in NAMES:
        path = folder / name
        real = Path(os.path.realpath(path))
        if top is not None and not real.is_relative_to(top):
            continue
        text = _read(real)
        if text.strip():
            return Instruction(str(path), text)
    return None


def _read(real: Path) -> str:
    try:
        with folder_of(real) as folder:
            descriptor = open_in(folder, real, os.O_RDONLY | os.O_CLOEXEC | _NONBLOCK)
        with open(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return ""
            data = file.read(MAX_INSTRUCTION + 1)
    except OSError:
        return ""
    cut = len(data) > MAX_INSTRUCTION
    text = data[:MAX_INSTRUCTION].decode("utf-8", "ignore" if cut else "replace")
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    return f"{text}\n[cut: the file is longer than 64 KiB]" if cut else text
