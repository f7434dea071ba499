"""Where agents keep their recordings, and what of a folder of them is shown to choose from."""

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from sidecar.core.conversation.turns import first_line
from sidecar.core.dataclass import dataclass
from sidecar.core.errors import BadRequest
from sidecar.core.parts import Message
from sidecar.core.text.visible import visible
from sidecar.replay.importers.recognition import find_files, open_transcript, storage_above

EXPORT = (
    "opencode keeps its sessions in pieces in {path}: write one to a file with `opencode export "
    "SESSION > session.json`, and give that."
)
LOOKED_THROUGH = 50
"""Entries of a recording in which its first words are looked for."""


@dataclass(frozen=True, slots=True)
class Found:
    """A recording; `used`: seconds since 1970."""

    path: Path
    used: float
    format: str
    title: str


def agent_folders(home: Path, variables: Mapping[str, str]) -> list[Path]:
    """Gives those of Claude Code, Codex, pi and opencode that are there."""

    def under(name: str, usual: str) -> Path:
        return Path(variables[name]) if variables.get(name) else home / usual

    folders = (
        under("CLAUDE_CONFIG_DIR", ".claude") / "projects",
        under("CODEX_HOME", ".codex") / "sessions",
        home / ".pi/agent/sessions",
        under("XDG_DATA_HOME", ".local/share") / "opencode/storage",
    )
    return [folder for folder in folders if folder.is_dir()]


def storages(path: Path) -> list[Path]:
    """Gives opencode's storages in, at or above a path."""
    if not path.is_dir():
        above = storage_above(path)
        return [] if above is None else [above]
    inside = (found for found in path.rglob("storage") if found.is_dir())
    known = [storage_above(found / "message") for found in (path, *inside)]
    return list(dict.fromkeys(one for one in known if one is not None))


def newest(paths: list[Path], most: int) -> list[Found]:
    """Gives recordings, the newest first; a file that is none is left out. Blocks."""
    files = {file: _used(file) for path in paths for file in find_files(path)}
    ordered = sorted(files, key=lambda file: (-files[file], file))
    return list(islice(_read(ordered, files), most))


def _used(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0


def _read(ordered: list[Path], used: Mapping[Path, float]) -> Iterator[Found]:
    for file in ordered:
        try:
            found = open_transcript(file)
            first = islice(found.entries, LOOKED_THROUGH)
            said = [one for one in first if isinstance(one, Message)]
        except BadRequest:
            continue
        if said:
            title = found.title or first_line(said) or "(untitled)"
            yield Found(file, used[file], found.format, visible(title))
