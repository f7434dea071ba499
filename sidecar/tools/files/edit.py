"""`write_file` and `edit_file`, through the editor where possible."""

import asyncio
import re
from bisect import bisect_left
from difflib import get_close_matches
from heapq import nsmallest
from typing import TypeAlias

from sidecar.core.errors import BadRequest, SidecarError
from sidecar.core.parts import Json, JsonObject
from sidecar.core.text.digest import content_hash
from sidecar.tools import inputs
from sidecar.tools.files.edit_diff import compare, equal, hunks
from sidecar.tools.files.file_text import change_text, current_text, text_now
from sidecar.tools.files.reach import reach, refuse_git
from sidecar.tools.tool_contract import ToolAnswer, ToolContext
from sidecar.workspace.files import MAX_FILE, legible, newline
from sidecar.workspace.paths import Place

_MAX_COMPARED = 5000
_MOST_ALIKE = 300
_MOST_PLACES = 100_000
_MAX_LINE = 100
_MOST_ASKED = 400_000
"""Characters of a change shown whole in a question."""
_LEAD = 1000
"""Characters shown before a difference in a text that is cut."""
_MARK, _LOST = "\ufeff", "\ufffd"
_NO_TEXT = (
    "{path} is no text, or too long to be read whole, so nobody could see what would go: it is not "
    "replaced. Write another file, or move this one away first."
)
_KEPT_BYTES = (
    "{path} has bytes that are no UTF-8. They are read as \ufffd, and would be lost by writing "
    "that. Use edit_file, which keeps them."
)

_OTHERWISE = (
    "The file changed while the user was asked: what this call would change now is not what they "
    "were shown. Read the file again, then send the call again."
)

_Texts: TypeAlias = tuple[str | None, str]
"""Before and after an edit; before, `None` for no file."""


async def write_file(given: JsonObject, context: ToolContext) -> ToolAnswer:
    """CRLF and byte order mark stay."""
    place = await _place(given, context)
    async with context.buffers.writing(place.real):
        return await _change(place, await _rewritten(given, place, context), context)


async def edit_file(given: JsonObject, context: ToolContext) -> ToolAnswer:
    """`oldText` must occur once, or everywhere with `replaceAll`."""
    place = await _place(given, context)
    async with context.buffers.writing(place.real):
        return await _change(place, await _edited(given, place, context), context)


async def foreseen(name: str, given: JsonObject, context: ToolContext) -> list[Json]:
    """Previews an edit: one ACP `diff` block per hunk, or none."""
    texts = {"write_file": _rewritten, "edit_file": _edited}.get(name)
    if texts is None:
        return []
    try:
        place = await _place(given, context)
        before, after = await texts(given, place, context)
    except (SidecarError, OSError, UnicodeError):
        return []
    return await _blocks(place, (before, after))


async def _blocks(place: Place, texts: _Texts) -> list[Json]:
    before, after = texts
    found = await asyncio.to_thread(hunks, *_comparable(before or "", after))
    if sum(len(removed) + len(added) for removed, added in found) > _MOST_ASKED:
        most = _MOST_ASKED // (2 * len(found))
    else:
        most = _MOST_ASKED
    return [
        _block(place, None if before is None else removed, added, most) for removed, added in found
    ]


def _block(place: Place, removed: str | None, added: str, most: int) -> Json:
    """Builds one ACP block; `_meta.sidecar.whole`: hash of both texts, if cut."""
    is_cut = max(len(removed or ""), len(added)) > most
    same = equal(removed or "", added) - _LEAD if is_cut else 0
    block: JsonObject = {
        "type": "diff",
        "path": str(place.real),
        "oldText": None if removed is None else _cut(removed, same, most),
        "newText": _cut(added, same, most),
    }
    if is_cut:
        block["_meta"] = {"sidecar": {"whole": content_hash(f"{removed}\n{added}")}}
    return block


def _comparable(before: str, after: str) -> tuple[str, str]:
    """Returns both texts as shown: with CRLF if line ends are mixed, a mark that one alone has."""
    both = before + after
    marked = before.startswith(_MARK), after.startswith(_MARK)
    if marked in ((True, False), (False, True)):
        before, after = (_MARK + text for text in (before, after))
    # In a text without lines nothing says which ends are usual.
    usual = "\n" in before or "\r\n" not in after
    if usual and both.count("\r\n") in (0, both.count("\n")):
        return legible(before), legible(after)
    return legible(before.replace("\r\n", "\r\r\n")), legible(after.replace("\r\n", "\r\r\n"))


def _cut(text: str, same: int, most: int) -> str:
    before = f"[… the same {same:,} characters before, not shown here]\n" if same > 0 else ""
    rest = text[max(0, same) :]
    after = f"\n[… {len(rest) - most:,} more characters, not shown here]\n"
    return f"{before}{rest[:most]}{after if len(rest) > most else ''}"


async def _place(given: JsonObject, context: ToolContext) -> Place:
    place = await asyncio.to_thread(reach, inputs.text(given, "path"), context)
    refuse_git(place)
    return place


async def _rewritten(given: JsonObject, place: Place, context: ToolContext) -> _Texts:
    content = inputs.text(given, "content")
    try:
        found = await text_now(place.real, context)
    except BadRequest as error:
        # No question could show what would go.
        raise BadRequest(_NO_TEXT.format(path=place.shown), "input.path") from error
    before = found or ""
    if _LOST in content and legible(before).count(_LOST) > before.count(_LOST):
        raise BadRequest(_KEPT_BYTES.format(path=place.shown), "input.content")
    if "\r" not in content:
        content = content.replace("\n", newline(before))
    if before.startswith(_MARK):
        content = _MARK + content.removeprefix(_MARK)
    return found, content


async def _edited(given: JsonObject, place: Place, context: ToolContext) -> _Texts:
    old, new = inputs.text(given, "oldText"), inputs.text(given, "newText")
    if not old:
        raise BadRequest("`oldText` is empty. To create a file, use write_file.", "input.oldText")
    if old == new:
        raise BadRequest("`oldText` and `newText` are the same.", "input.newText")
    try:
        before = await current_text(place.real, context)
    except FileNotFoundError as error:
        raise BadRequest(f"There is no file {place.shown}.", "input.path") from error
    everywhere = inputs.flag(given, "replaceAll")
    return before, await asyncio.to_thread(replaced, before, old, new, everywhere)


def replaced(text: str, old: str, new: str, everywhere: bool = False) -> str:
    """Replaces `old` exactly, else with LF and CRLF alike; `new` gets the file's line endings.

    Raises BadRequest if `old` is missing, or ambiguous without `everywhere`.
    """
    spans = _spans(old, text)
    if not spans and "\n" in old:
        # By `re` a run of line ends would take hours.
        bare = _spans(old.replace("\r\n", "\n"), text.replace("\r\n", "\n"))
        returns = [found.start() - n for n, found in enumerate(re.finditer("\r\n", text))]
        spans = [
            (start + bisect_left(returns, start), end + bisect_left(returns, end))
            for start, end in bare
        ]
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
    if len(text) + len(spans) * (len(new) - len(old)) > MAX_FILE:
        text = f"The file would have over {MAX_FILE:,} characters, more than is read or edited."
        raise BadRequest(text, "input.newText")
    pieces: list[str] = []
    end = 0
    for start, stop in spans:
        pieces += (text[end:start], new)
        end = stop
    return "".join((*pieces, text[end:]))


async def _change(place: Place, texts: _Texts, context: ToolContext) -> ToolAnswer:
    if context.shown is not None and context.shown != await _blocks(place, texts):
        raise BadRequest(_OTHERWISE)
    created, before, after = texts[0] is None, texts[0] or "", texts[1]
    verb = "Created" if created else "Changed"
    change = await asyncio.to_thread(compare, place.shown, legible(before), legible(after))
    if created or before != after:
        await change_text(place, *texts, f"Sidecar: {verb.lower()} {place.shown}", context)
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


def _spans(old: str, text: str) -> list[tuple[int, int]]:
    """Finds `old` without `re`, which would keep hundreds of large patterns."""
    spans, end = [], 0
    while old and (start := text.find(old, end)) >= 0:
        end = start + len(old)
        spans.append((start, end))
        if len(spans) > _MOST_PLACES:
            text = f"`oldText` occurs over {_MOST_PLACES:,} times, more than are replaced at once."
            raise BadRequest(text, "input.oldText")
    return spans


def _not_found(text: str, old: str) -> str:
    lines = text.split("\n", _MAX_COMPARED)[:_MAX_COMPARED]
    wanted = max((line.strip()[:_MAX_LINE] for line in old.split("\n")), key=len)
    stripped = [line.strip()[:_MAX_LINE] for line in lines]
    like = nsmallest(_MOST_ALIKE, {*stripped} - {""}, lambda one: abs(len(one) - len(wanted)))
    near = get_close_matches(wanted, like, n=3, cutoff=0.6) if wanted else []
    numbers = [index for index, line in enumerate(stripped) if line in near][:3]
    if not numbers:
        return "`oldText` does not occur in the file. Read the file again and copy it exactly."
    shown = "\n".join(f"{index + 1}: {legible(lines[index])[:_MAX_LINE]}" for index in numbers)
    return (
        "`oldText` does not occur in the file; it must match exactly, blanks included. "
        f"The nearest lines are:\n{shown}"
    )
