"""`write_file` and `edit_file`: changing files, through the editor where it can."""

import asyncio
import re
from difflib import get_close_matches
from pathlib import Path

from sidecar.core.digest import content_hash
from sidecar.core.errors import BadRequest
from sidecar.core.parts import JsonObject
from sidecar.tools import inputs
from sidecar.tools.contract import ToolAnswer, ToolContext
from sidecar.tools.diff import compare
from sidecar.tools.reach import reach, refuse_git
from sidecar.tools.text import change_text, current_text
from sidecar.workspace.files import legible, newline
from sidecar.workspace.paths import Place

_MAX_COMPARED = 5000
_MAX_LINE = 200
_MARK = "\ufeff"


async def write_file(given: JsonObject, context: ToolContext) -> ToolAnswer:
    """Create a file, or replace its text; what it had of CRLF and byte order mark stays."""
    path, content = inputs.text(given, "path"), inputs.text(given, "content")
    place = await reach(path, context)
    refuse_git(place)
    async with context.buffers.writing(place.real):
        exists = await asyncio.to_thread(_exists, place.real)
        before = await _before(place.real, context) if exists else ""
        if "\r" not in content:
            content = content.replace("\n", newline(before))
        if before.startswith(_MARK):
            content = _MARK + content.removeprefix(_MARK)
        return await _change(place, before, content, not exists, context)


async def edit_file(given: JsonObject, context: ToolContext) -> ToolAnswer:
    """Replace `oldText`, which must occur once, or everywhere with `replaceAll`."""
    path, old = inputs.text(given, "path"), inputs.text(given, "oldText")
    new, everywhere = inputs.text(given, "newText"), inputs.flag(given, "replaceAll")
    if not old:
        raise BadRequest("`oldText` is empty. To create a file, use write_file.", "input.oldText")
    if old == new:
        raise BadRequest("`oldText` and `newText` are the same.", "input.newText")
    place = await reach(path, context)
    refuse_git(place)
    async with context.buffers.writing(place.real):
        try:
            before = await current_text(place.real, context)
        except FileNotFoundError as error:
            raise BadRequest(f"There is no file {place.shown}.", "input.path") from error
        after = await asyncio.to_thread(replaced, before, old, new, everywhere)
        return await _change(place, before, after, False, context)


def replaced(text: str, old: str, new: str, everywhere: bool = False) -> str:
    """Replace `old` by `new` in a file's text.

    Exactly as written; where that is not found, a line ending of the one kind also matches the
    other. The file's own line endings are used for what is put in.

    Raises:
        BadRequest: when `old` is not there, or more than once without `everywhere`.
    """
    spans = _spans(re.escape(old), text)
    if not spans and "\n" in old:
        ending = re.escape("\n")
        loose = re.escape(old.replace("\r\n", "\n")).replace(ending, r"\r?\n")
        spans = _spans(loose, text)
    if not spans:
        raise BadRequest(_not_found(text, old), "input.oldText")
    if len(spans) > 1 and not everywhere:
        lines = ", ".join(str(text.count("\n", 0, start) + 1) for start, _ in spans[:10])
        raise BadRequest(
            f"`oldText` occurs {len(spans)} times (at lines {lines}). Give more of the lines "
            "around the one you mean, or set replaceAll.",
            "input.oldText",
        )
    if "\r\n" not in new:
        new = new.replace("\n", newline(text))
    pieces: list[str] = []
    end = 0
    for start, stop in spans:
        pieces += (text[end:start], new)
        end = stop
    return "".join((*pieces, text[end:]))


async def _change(
    place: Place, before: str, after: str, created: bool, context: ToolContext
) -> ToolAnswer:
    verb = "Created" if created else "Changed"
    change = await asyncio.to_thread(compare, place.shown, legible(before), legible(after))
    if created or before != after:
        await change_text(place, after, f"Sidecar: {verb.lower()} {place.shown}", context)
        text = f"{verb} {place.shown} (+{change.additions} -{change.deletions} lines)."
    else:
        text = f"{place.shown} has exactly this text already; nothing was changed."
    return ToolAnswer(
        text,
        title=place.shown,
        metadata={
            "path": place.shown,
            "diff": change.diff,
            "additions": change.additions,
            "deletions": change.deletions,
            "created": created,
            "hash": await asyncio.to_thread(content_hash, after),
        },
    )


def _exists(real: Path) -> bool:
    if real.is_dir():
        raise IsADirectoryError(21, "is a folder", str(real))
    return real.exists()


async def _before(real: Path, context: ToolContext) -> str:
    """Give the text that is replaced; none when it was no text."""
    try:
        return await current_text(real, context)
    except BadRequest:
        return ""


def _spans(pattern: str, text: str) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer(pattern, text)]


def _not_found(text: str, old: str) -> str:
    """Say that text is not there, and which lines come nearest."""
    lines = text.split("\n", _MAX_COMPARED)[:_MAX_COMPARED]
    wanted = max((line.strip()[:_MAX_LINE] for line in old.split("\n")), key=len)
    stripped = [line.strip()[:_MAX_LINE] for line in lines]
    near = get_close_matches(wanted, set(stripped) - {""}, n=3, cutoff=0.6) if wanted else []
    numbers = [index for index, line in enumerate(stripped) if line in near][:3]
    if not numbers:
        return "`oldText` does not occur in the file. Read the file again and copy it exactly."
    shown = "\n".join(f"{index + 1}: {legible(lines[index])[:_MAX_LINE]}" for index in numbers)
    return (
        "`oldText` does not occur in the file; it must match exactly, blanks included. "
        f"The nearest lines are:\n{shown}"
    )
