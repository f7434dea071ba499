"""Finds the texts that a call replaced in files."""

import re
from collections.abc import Iterator

from sidecar.core.conversation.call_outcome import failed, result_text
from sidecar.core.conversation.complaints import met_conflicts
from sidecar.core.dataclass import dataclass
from sidecar.core.files.git_writes import GitFate, git_changes
from sidecar.core.ledger.deeds import (
    EDITS,
    PATCHES,
    SHELLS,
    changed,
    commands_of,
    deeds_of,
    own_name,
)
from sidecar.core.parts import Json, JsonObject, ToolCompleted, ToolPart
from sidecar.core.text.line_diff import CONTROL

LONGEST_PATCH = 100_000
"""Characters of a patch that are looked at."""
OLD = ("old_string", "oldText", "oldString", "old_str", "old_text")
_NEW = ("new_string", "newText", "newString", "new_str", "new_text")
_SECTION = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+?)\s*$", re.M)
HUNK = re.compile(r"^@@.*$", re.M)


@dataclass(frozen=True, slots=True)
class Replacement:
    """A file's change: `old` became `new`; without both, nobody knows how.

    Without `old` the file was written whole. Empty path: any file. `every`: wherever `old` stood.
    `fate`: what git did to uncommitted changes.
    """

    path: str
    old: str | None = None
    new: str | None = None
    every: bool = False
    fate: GitFate = "unknown"

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", CONTROL.sub("?", self.path))

    def may_reach(self, path: str) -> bool:
        """Whether an unknown change may concern `path`, in any spelling, or by its folder."""
        if self.new is not None:
            return False
        mine, other = map(_between_slashes, (self.path, path))
        return not self.path or mine in other or mine.endswith(other)


def _between_slashes(path: str) -> str:
    plain = path.replace("\\", "/").removeprefix("./").strip("/")
    return f"/{plain}/"


def replacements(part: ToolPart) -> tuple[Replacement, ...]:
    """Empty if the call failed."""
    name = own_name(part.name)
    if name not in EDITS | SHELLS or not isinstance(part.state, ToolCompleted) or failed(part):
        return ()
    patch = _patch(part.input)
    if patch:
        return tuple(_patched(patch[:LONGEST_PATCH]))
    paths = dict.fromkeys(deed.path for deed in changed(deeds_of(part)))
    given = part.input if isinstance(part.input, dict) else {}
    if name in EDITS:
        return tuple(_edited(next(iter(paths)), given)) if len(paths) == 1 else ()
    return tuple(dict.fromkeys((*_by_git(part), *map(Replacement, paths))))


def half_merged(part: ToolPart) -> tuple[Replacement, ...]:
    """Gives possible changes of a merge that stopped at conflicts."""
    return tuple(_by_git(part)) if met_conflicts(result_text(part)) else ()


def _by_git(part: ToolPart) -> Iterator[Replacement]:
    for command, folder in commands_of(part):
        for change in git_changes(command, folder):
            yield Replacement(change.path, fate=change.fate)


def _patch(given: Json) -> str:
    texts = [given] if isinstance(given, str) else []
    if isinstance(given, dict):
        texts = [v for key in (*PATCHES, "command", "cmd") if isinstance(v := given.get(key), str)]
    return next((text for text in texts if _SECTION.search(text)), "")


def _edited(path: str, given: JsonObject) -> Iterator[Replacement]:
    content, edits = given.get("content", given.get("file_text")), given.get("edits")
    if isinstance(content, str):
        yield Replacement(path, None, content)
    elif isinstance(edits, list):
        yield from (_replaced(path, one) for one in edits if isinstance(one, dict))
    else:
        yield _replaced(path, given)


def _replaced(path: str, given: JsonObject) -> Replacement:
    old = next((text for key in OLD if isinstance(text := given.get(key), str)), None)
    new = next((text for key in _NEW if isinstance(text := given.get(key), str)), None)
    every = given.get("replace_all") is True or given.get("replaceAll") is True
    known = old is not None and new is not None
    return Replacement(path, old or None, new, every) if known else Replacement(path)


def _patched(patch: str) -> Iterator[Replacement]:
    _, *pieces = _SECTION.split(patch)
    for verb, path, rest in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True):
        body = rest.partition("\n*** End Patch")[0]
        if verb == "Add":
            lines = (line[1:] for line in body.split("\n") if line[:1] == "+")
            yield Replacement(path, None, "\n".join(lines))
        elif verb == "Delete" or "\n*** Move to: " in body:
            yield Replacement(path)
        else:
            yield from _hunks(path, body)


def _hunks(path: str, body: str) -> Iterator[Replacement]:
    for hunk in HUNK.split(body)[1:]:
        lines = [line for line in hunk.rstrip("\n").split("\n")[1:] if line[:4] != "*** "]
        old = "\n".join(line[1:] for line in lines if line[:1] != "+")
        new = "\n".join(line[1:] for line in lines if line[:1] != "-")
        if old != new:
            yield Replacement(path, old, new)
