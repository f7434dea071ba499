"""Lines of files that a file tool showed."""

import re
from collections.abc import Iterator

from sidecar.core.conversation.call_outcome import failed, result_text
from sidecar.core.dataclass import dataclass
from sidecar.core.ledger.deeds import EDITS, READERS, TouchedFile, deeds_of, own_name
from sidecar.core.parts import JsonObject, ToolCompleted, ToolPart

_NUMBERED = re.compile(r" *(\d+)(?:→|\t|\. |: ?)(.*)")
_CUT = re.compile(r"\b(?:tokens|characters|lines|chars) (?:truncated|omitted|elided)")
_GOES_ON = re.compile(r"(?<!\n)\n+\[(?:lines \d+ to \d+; the|\d+ more lines|Showing lines).*\Z")
_LONG = "... [truncated]"
_ABOUT = re.compile(r"\[[^\n]*\]\s*\Z|<system")
"""What a tool says instead of a file's text."""
LISTED = 3
"""Lines that are numbered one after the other by chance, at most."""


@dataclass(frozen=True, slots=True)
class FileShown:
    """Lines of a file from `first` (from 1); `ends`: the last is the file's."""

    path: str
    first: int
    lines: tuple[str, ...]
    ends: bool = False


def file_sights(part: ToolPart) -> Iterator[FileShown]:
    """Gives lines that a read showed, or an edit around its place."""
    name = own_name(part.name)
    given = part.input if isinstance(part.input, dict) else {}
    state = part.state
    if not isinstance(state, ToolCompleted) or failed(part) or name not in READERS | EDITS:
        return
    touched = (deed for deed in deeds_of(part) if isinstance(deed, TouchedFile))
    paths = list(dict.fromkeys(deed.path for deed in touched))
    if len(paths) != 1:
        return
    if name in READERS or given.get("command") == "view":
        if state.output.whole is None:
            yield from _read(paths[0], given, state.output.text)
        return
    listing = numbered(result_text(part).partition("\n")[2])
    if listing is not None and len(listing[1]) > LISTED:
        yield FileShown(paths[0], *listing)


def numbered(text: str) -> tuple[int, tuple[str, ...]] | None:
    """Gives a listing's first number, and lines up to the first without a number."""
    first = last = 0
    lines: list[str] = []
    for raw in text.split("\n"):
        match = _NUMBERED.fullmatch(raw)
        if match is None or (lines and int(match[1]) != last + 1) or match[2].endswith(_LONG):
            break
        last = int(match[1])
        first = first or last
        lines.append(match[2])
    return (first, tuple(lines)) if first else None


def is_cut(text: str) -> bool:
    return bool(_CUT.search(text))


def lines_of(text: str) -> tuple[str, ...]:
    lines = text.split("\n")
    return tuple(lines[:-1] if lines and not lines[-1] else lines)


def _read(path: str, given: JsonObject, text: str) -> Iterator[FileShown]:
    view = given.get("view_range")
    asked = view[0] if isinstance(view, list) and view else None
    asked = asked or given.get("offset") or given.get("start_line")
    first = asked if isinstance(asked, int) and asked > 0 else 1
    listing = numbered(text)
    if listing is not None and (listing[0] == first or len(listing[1]) > LISTED):
        yield FileShown(path, *listing)
    elif not is_cut(text) and not _ABOUT.match(text):
        shown = _GOES_ON.sub("", text)
        limited = view is not None or given.get("limit") is not None
        yield FileShown(path, first, lines_of(shown), ends=shown == text and not limited)
