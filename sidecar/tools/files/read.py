"""`read_file`: a file's text, whole or some lines."""

import asyncio
from difflib import get_close_matches
from heapq import nsmallest
from io import StringIO
from pathlib import Path

from sidecar.core.dataclass import dataclass
from sidecar.core.errors import BadRequest
from sidecar.core.parts import JsonObject
from sidecar.core.text.digest import content_hash
from sidecar.tools import inputs
from sidecar.tools.files.file_text import editor_text
from sidecar.tools.files.reach import reach
from sidecar.tools.tool_contract import ToolAnswer, ToolContext
from sidecar.workspace.files import FileLines, legible, read_lines, read_text
from sidecar.workspace.paths import Place, printable


async def read_file(given: JsonObject, context: ToolContext) -> ToolAnswer:
    """`offset`: first line, from 1; `limit`: lines."""
    path = inputs.text(given, "path")
    offset, limit = inputs.whole(given, "offset", least=1), inputs.whole(given, "limit", least=1)
    whole = offset is None and limit is None
    seen = await asyncio.to_thread(_on_disk, path, context, whole=whole)
    place = seen.place
    try:
        if not whole:
            lines = await _lines(place.real, offset or 1, limit, context)
        elif (held := await editor_text(place.real, context)) is not None:
            seen = _OnDisk(place, held, await asyncio.to_thread(content_hash, held))
        elif seen.failed is not None:
            raise seen.failed
    except FileNotFoundError as error:
        raise BadRequest(await asyncio.to_thread(_missing, place), "input.path") from error
    metadata: JsonObject = {"path": place.shown}
    if whole:
        text = legible(seen.text) or f"[{place.shown} is empty]"
        return ToolAnswer(text, title=place.shown, metadata={**metadata, "hash": seen.hash})
    return ToolAnswer(_with_note(lines, offset or 1), title=place.shown, metadata=metadata)


@dataclass(frozen=True, slots=True)
class _OnDisk:
    """A resolved file, and its text or why none."""

    place: Place
    text: str = ""
    hash: str = ""
    failed: BadRequest | OSError | None = None


def _on_disk(path: str, context: ToolContext, *, whole: bool) -> _OnDisk:
    """Resolves and reads at once: with thousands of files each step in a thread would be felt."""
    place = reach(path, context)
    if not whole:
        return _OnDisk(place)
    try:
        text = read_text(place.real)
    except (BadRequest, OSError) as error:
        return _OnDisk(place, failed=error)
    return _OnDisk(place, text, content_hash(text))


async def _lines(real: Path, offset: int, limit: int | None, context: ToolContext) -> FileLines:
    # A file too large to be read whole is none that an editor holds.
    held = await editor_text(real, context) if context.buffers.get(real) else None
    if held is None:
        found = await asyncio.to_thread(read_lines, real, offset, limit)
        return FileLines(legible(found.text), found.more)
    # Only LF ends a line, as in a file; `splitlines` also splits at form feeds and the like.
    lines = StringIO(legible(held)).readlines()
    end = len(lines) if limit is None else offset - 1 + limit
    return FileLines("".join(lines[offset - 1 : end]), more=end < len(lines))


def _with_note(lines: FileLines, offset: int) -> str:
    if not lines.text:
        raise BadRequest(f"The file has fewer than {offset} lines.", "input.offset")
    if not lines.more:
        return lines.text
    last = offset + lines.text.count("\n") - lines.text.endswith("\n")
    end = "" if lines.text.endswith("\n") else "\n"
    return f"{lines.text}{end}[lines {offset} to {last}; the file goes on at {last + 1}]"


_COMPARED, _LETTERS = 300, 60


def _missing(place: Place) -> str:
    try:
        names = [entry.name for entry in place.real.parent.iterdir()]
    except OSError:
        return f"There is no file {place.shown}, nor its folder. list_files shows what there is."
    # By difflib long names of a thousand files take nine seconds.
    like = nsmallest(_COMPARED, names, lambda name: abs(len(name) - len(place.real.name)))
    short = {name[:_LETTERS]: name for name in like}
    close = [printable(short[one]) for one in get_close_matches(place.real.name[:_LETTERS], short)]
    hint = f"Its folder has {', '.join(close)}." if close else "list_files shows what there is."
    return f"There is no file {place.shown}. {hint}"
