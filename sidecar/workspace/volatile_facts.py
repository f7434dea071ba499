"""Describes current state for the newest user message's end, as prefixes must not change."""

import asyncio
import os
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import NewType
from urllib.parse import unquote, urlsplit

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Json, JsonObject
from sidecar.core.prompt.frames import in_context, within_frame
from sidecar.workspace.paths import display
from sidecar.workspace.variables import FETCHING_NOTHING, ended, for_git, program, without_secrets

GIT_TIMEOUT = 1.0
MAX_CHANGED = 20
MAX_OPEN = 20
MAX_DIAGNOSTICS = 20
MAX_SELECTION = 4000
MAX_LINE = 300
KEPT = "[left out: a rule of the user's keeps this file from you]"
MOST_NAME = 300
"""Characters of a name that is no path, of which the last may be a file's."""
_BORDER = re.compile(r"[/:=&\"'|,\s]+")
_BEHIND = re.compile(r"[?#\"'&|,]")
_SCHEME = re.compile(r"[A-Za-z][\w+.-]+:")
_MAX_GIT_OUTPUT = 64 * 1024

_STATUS = (
    "status", "--porcelain=v1", "--branch", "-z",
    "--untracked-files=normal", "--ignore-submodules=dirty", "--", ".",
)  # fmt: skip
_SETTINGS = ("config", "--null", "--name-only", "--get-regexp", r"^(filter\.|core\.worktree$)")
_TOP = ("rev-parse", "--show-toplevel")

_SEVERITIES = {1: "error", 2: "warning", 3: "information", 4: "hint"}


GitEnvironment = NewType("GitEnvironment", dict[str, str])


@dataclass(frozen=True, slots=True)
class Git:
    """The branch, and changed files as lines of `git status --short`.

    Of deleted and unmerged ones the number: a foreign `.git/index` would name another folder's
    files so.
    """

    branch: str
    changed: tuple[str, ...]
    more: int = 0
    deleted: int = 0
    unmerged: int = 0


def volatile_context(day: date, git: Git | None, shown: JsonObject, cwd: Path) -> str:
    """Equal arguments give equal bytes.

    `shown`, the client's: `openFiles` (paths, URIs or objects with one), `selection` (`{path,
    range?, text?}`), `diagnostics` (`{path, range?, severity?, message}`). Malformed items are left
    out.
    """
    lines = [f"Date: {day.isoformat()}"]
    if git is not None:
        lines += [f"Git branch: {git.branch}", *_bounded("Changed files", git.changed, git.more)]
        counted = {"Deleted files": git.deleted, "Unmerged files": git.unmerged}
        lines += [f"{name}: {number}" for name, number in counted.items() if number]
    if shown:
        lines += _in_editor(shown, cwd)
    text = "\n".join(lines)
    # Text of a client may hold lone surrogates, impossible in requests.
    body = text.encode("utf-8", "replace").decode("utf-8")
    return in_context(body)


def without_kept(shown: JsonObject, keeps: Callable[[str], bool]) -> JsonObject:
    """Leaves out what an editor says of the content of files that a rule `keeps`. Blocks."""
    found, selection = dict(shown), shown.get("selection")
    if isinstance(selection, dict) and selection.get("text") and _is_kept(selection, keeps):
        found["selection"] = {**selection, "text": KEPT}
    if diagnostics := _items(shown, "diagnostics"):
        found["diagnostics"] = [one for one in diagnostics if not _is_kept(one, keeps)]
    return found


def _is_kept(item: Json, keeps: Callable[[str], bool]) -> bool:
    path = _named(item)
    if not path or keeps(path):
        return bool(path)
    # `fugitive:///repo/.git//0/secrets/key`, `gitsigns:///repo/.git//:0:secrets/key`, say: a file
    # by another name, some part of which is its own.
    name = unquote(path)[-MOST_NAME:] if _SCHEME.match(path) else ""
    starts = [found.end() for found in _BORDER.finditer(name)]
    ends = {len(name), *(found.start() for found in _BEHIND.finditer(name))}
    return any(keeps(name[at:end]) for at in starts for end in ends if at < end)


def git_environment(environment: Mapping[str, str]) -> GitEnvironment:
    """Leaves out secrets and the user's variables for git; git neither fetches nor locks."""
    named = without_secrets(environment).items()
    kept = {name: value for name, value in named if not name.startswith("GIT_")}
    return GitEnvironment({**kept, **FETCHING_NOTHING, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"})


async def read_git(cwd: Path, trusted: bool, environment: GitEnvironment) -> Git | None:
    """Asks git for branch and changes, a second for each question; `None` without an answer.

    Not in untrusted workspaces, whose configuration could name programs. No filters: the user's
    (git-lfs) may run programs of the repository's settings. Nor of another folder's files, as
    `core.worktree` may name.
    """
    if not trusted or not await asyncio.to_thread(_in_repository, cwd):
        return None
    git = program("git", environment)
    if git is None:
        return None
    listed = await said((git, *_SETTINGS), cwd, for_git(environment))
    if listed is None or len(listed) >= _MAX_GIT_OUTPUT:
        return None
    names = listed.decode("utf-8", "surrogateescape").split("\0")
    if "core.worktree" in names:
        top = await said((git, *_TOP), cwd, for_git(environment))
        if top is None or not await asyncio.to_thread(_holds, os.fsdecode(top).rstrip("\n"), cwd):
            return None
    output = await said((git, *_STATUS), cwd, for_git(environment, _without(names)))
    return None if output is None else parse_status(output)


def _in_repository(cwd: Path) -> bool:
    real = Path(os.path.realpath(cwd))
    return any(os.path.lexists(os.path.join(up, ".git")) for up in (real, *real.parents))


def _holds(top: str, cwd: Path) -> bool:
    return Path(os.path.realpath(cwd)).is_relative_to(os.path.realpath(top))


def _without(names: list[str]) -> list[tuple[str, str]]:
    off = (("clean", ""), ("process", ""), ("required", "false"))
    filters = sorted({name.rpartition(".")[0] for name in names if name.startswith("filter.")})
    return [(f"{name}.{key}", value) for name in filters for key, value in off]


async def said(
    command: tuple[str, ...],
    cwd: Path,
    environment: Mapping[str, str],
    within: float = GIT_TIMEOUT,
) -> bytes | None:
    """Runs git; `None` for a failure or no end within these seconds, nothing for no such thing."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=cwd,
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError:
        return None
    output = b""
    try:
        async with asyncio.timeout(within):
            output = await _read_up_to(process.stdout, _MAX_GIT_OUTPUT)
            if len(output) < _MAX_GIT_OUTPUT:
                await process.wait()
    except TimeoutError:
        return None
    finally:
        await ended(process)
    # 1: no such setting; above, git does not know what was asked for, or there is no repository.
    return None if process.returncode is None or process.returncode > 1 else output


def parse_status(output: bytes) -> Git | None:
    """Reads `git status --porcelain=v1 --branch -z`; `None` if empty."""
    fields = output.decode("utf-8", "backslashreplace").split("\0")
    head = fields[0].removeprefix("## ")
    if not fields[0].startswith("## "):
        return None
    branch = head.removeprefix("No commits yet on ").split("...")[0]
    changed: list[str] = []
    deleted = unmerged = 0
    rest = iter(fields[1:-1])
    for field in rest:
        if "U" in field[:2] or field[:2] in ("AA", "DD"):
            unmerged += 1
        elif "D" in field[:2]:
            deleted += 1
        else:
            changed.append(field)
        # A renamed or copied file is followed by its old name.
        if field[:1] in "RC" or field[1:2] in "RC":
            next(rest, None)
    changed.sort(key=lambda line: line[3:])
    shown = tuple(_line(line) for line in changed[:MAX_CHANGED])
    return Git(_line(branch), shown, max(0, len(changed) - MAX_CHANGED), deleted, unmerged)


async def _read_up_to(stream: asyncio.StreamReader | None, limit: int) -> bytes:
    assert stream is not None
    data = b""
    while len(data) < limit:
        piece = await stream.read(limit - len(data))
        if not piece:
            break
        data += piece
    return data


def _in_editor(shown: JsonObject, cwd: Path) -> list[str]:
    files = [path for path in (_path(item, cwd) for item in _items(shown, "openFiles")) if path]
    found = [_diagnostic(item, cwd) for item in _items(shown, "diagnostics")]
    diagnostics = [line for line in found if line]
    more = len(diagnostics) - MAX_DIAGNOSTICS
    return [
        *_bounded("Open files", files[:MAX_OPEN], len(files) - MAX_OPEN),
        *_selection(shown.get("selection"), cwd),
        *_bounded("Diagnostics", diagnostics[:MAX_DIAGNOSTICS], more),
    ]


def _items(shown: JsonObject, name: str) -> list[Json]:
    items = shown.get(name)
    return items if isinstance(items, list) else []


def _bounded(title: str, lines: Iterable[str], more: int) -> list[str]:
    listed = [f"  {line}" for line in lines]
    if more > 0:
        listed.append(f"  … and {more} more")
    return [f"{title}:", *listed] if listed else []


def _path(item: Json, cwd: Path) -> str:
    path = _named(item)
    return _line(display(Path(os.path.normpath(path)), cwd)) if path else ""


def _named(item: Json) -> str:
    if isinstance(item, dict):
        item = item.get("path") or item.get("uri") or item.get("file")
    if not isinstance(item, str) or not item:
        return ""
    try:
        return unquote(urlsplit(item).path) if item.startswith("file:") else item
    except ValueError:
        return ""


def _selection(selection: Json, cwd: Path) -> list[str]:
    if not isinstance(selection, dict):
        return []
    where = _path(selection, cwd) + _lines(selection.get("range"))
    text = selection.get("text")
    if not isinstance(text, str) or not text:
        return [f"Selection: {where}"] if where else []
    cut = f"{text[:MAX_SELECTION]}\n[… cut]" if len(text) > MAX_SELECTION else text
    return [
        f"Selection{': ' if where else ''}{where}",
        f"<selection>\n{within_frame(cut)}\n</selection>",
    ]


def _diagnostic(item: Json, cwd: Path) -> str:
    if not isinstance(item, dict) or not isinstance(item.get("message"), str):
        return ""
    severity = item.get("severity")
    if isinstance(severity, int):
        severity = _SEVERITIES.get(severity, "")
    where = _path(item, cwd) + _lines(item.get("range") or item.get("line"))
    return _line(" ".join(filter(None, (where, str(severity or ""), str(item["message"])))))


def _lines(place: Json) -> str:
    if isinstance(place, int):
        return f":{place}"
    start = place.get("start") if isinstance(place, dict) else None
    line = start.get("line") if isinstance(start, dict) else None
    return f":{line + 1}" if isinstance(line, int) else ""


def _line(text: str) -> str:
    plain = " ".join(text.split()) if "\n" in text or "\r" in text else text
    return within_frame(f"{plain[:MAX_LINE]}…" if len(plain) > MAX_LINE else plain)
