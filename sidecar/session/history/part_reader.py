"""Recalls logged parts."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from time import monotonic

from sidecar.core.conversation.call_outcome import argument, finding, one_line, result_text, status
from sidecar.core.errors import BadRequest
from sidecar.core.parts import (
    FilePart,
    Message,
    Output,
    Part,
    ReasoningPart,
    TextPart,
    ToolCompleted,
    ToolError,
    ToolPart,
    ToolPending,
    ToolRunning,
)
from sidecar.core.text.truncate import MAX_BYTES, boundary
from sidecar.session.interface import Recalled
from sidecar.session.log.session_log import SessionLog
from sidecar.session.view.view_history import Views
from sidecar.store.content.outputs import OutputRows
from sidecar.store.format.values import Gone
from sidecar.tools.files.grep import compile_pattern

PATTERN_SECONDS = 2.0


async def whole_text(part: Part, outputs: OutputRows) -> tuple[str, str]:
    """Gives, for a removed output, the shown text and why it is gone."""
    match part:
        case TextPart(text=text) | ReasoningPart(text=text):
            return text, ""
        case FilePart(text=text):
            return text or "", ""
        case ToolPart(state=ToolCompleted(output=output)):
            return await _whole(output, outputs)
        case ToolPart(state=ToolError(message=message, output=output)):
            if output is None:
                return message, ""
            text, gone = await _whole(output, outputs)
            return (f"{text}\n{message}" if text else message), gone
        case ToolPart(state=ToolPending(raw=raw)):
            return raw, ""
        case ToolPart(state=ToolRunning()):
            raise BadRequest(
                "this call is still running: ask again when it has ended", "params.partId"
            )
        case _:
            raise BadRequest("this part holds no text", "params.partId")


async def recall_from(
    log: SessionLog,
    views: Views,
    outputs: OutputRows,
    part_id: str,
    span: tuple[int, int | None, str | None],
) -> Recalled:
    """Reads `span` (offset, limit, pattern) of a part, or of all a rewrite left out.

    Raises BadRequest for an unknown id or unusable pattern.
    """
    await log.whole()
    gone = views.left_out(part_id)
    if gone is not None:
        parts = [part for message in log.messages for part in message.parts if part.id in gone]
        return await recall_left_out(parts, outputs, span)
    return await recall(find_part(log.messages, part_id), outputs, span)


async def recall(
    part: Part, outputs: OutputRows, span: tuple[int, int | None, str | None]
) -> Recalled:
    text, gone = await whole_text(part, outputs)
    found = await asyncio.to_thread(recalled, text, *span)
    # It comes first whatever was asked for: an empty answer would read as if nothing was there.
    return replace(found, content=f"{gone}\n{found.content}") if gone else found


def recalled(text: str, offset: int, limit: int | None, pattern: str | None) -> Recalled:
    """Returns a range of the text, or of lines matching `pattern`, as `number:line`.

    Offsets and limits are bytes of UTF-8, moved to code points, by default 50 KiB. Raises
    BadRequest for a bad pattern, or over two seconds.
    """
    if pattern:
        text = _matching_lines(text, pattern, monotonic() + PATTERN_SECONDS)
    data = text.encode("utf-8", "surrogatepass")
    most = MAX_BYTES if limit is None else max(0, limit)
    start = boundary(data, min(max(offset, 0), len(data)), -1)
    end = boundary(data, min(len(data), start + most), -1)
    content = data[start:end].decode("utf-8", "surrogatepass")
    return Recalled(content, len(data), end if end < len(data) else None)


async def recall_left_out(
    parts: Sequence[Part], outputs: OutputRows, span: tuple[int, int | None, str | None]
) -> Recalled:
    """Returns a line per omitted part, or matches as `part:number:line`."""
    offset, limit, pattern = span
    told = [part for part in parts if _says_something(part)]
    if not pattern:
        return recalled("\n".join(map(_listed, told)), offset, limit, None)
    deadline = monotonic() + PATTERN_SECONDS
    found = []
    for part in told:
        text, gone = await whole_text(part, outputs)
        found += [f"{part.id}:{gone}"] if gone else []
        lines = await asyncio.to_thread(_matching_lines, text, pattern, deadline)
        found += [f"{part.id}:{line}" for line in lines.splitlines()]
    return recalled("\n".join(found), offset, limit, None)


def _says_something(part: Part) -> bool:
    if isinstance(part, TextPart):
        return part.source != "context"
    return isinstance(part, ToolPart | FilePart)


def _listed(part: Part) -> str:
    if isinstance(part, ToolPart):
        size = len(result_text(part))
        said = f"{part.name} {argument(part.input)} · {status(part)} · {size} characters"
        return f"{part.id} · {said} · {finding(part)}"
    text = getattr(part, "text", "") or ""
    return f"{part.id} · {type(part).__name__.removesuffix('Part').lower()} · {one_line(text)}"


def find_part(messages: tuple[Message, ...], wanted: str, field: str = "params.partId") -> Part:
    """Finds calls by the model's id, too. Raises BadRequest."""
    for message in reversed(messages):
        for part in message.parts:
            if part.id == wanted or (isinstance(part, ToolPart) and part.call_id == wanted):
                return part
    raise BadRequest(f"nothing with the id {wanted!r} was logged in this session", field)


def _matching_lines(text: str, pattern: str, deadline: float) -> str:
    matches = compile_pattern(pattern, "params.pattern")
    try:
        found = [
            f"{number}:{line}"
            for number, line in enumerate(text.splitlines(), 1)
            if matches(line, max(0.001, deadline - monotonic()))
        ]
    except TimeoutError:
        raise BadRequest("this pattern takes too long: simplify it", "params.pattern") from None
    return "\n".join(found)


async def _whole(output: Output, outputs: OutputRows) -> tuple[str, str]:
    if output.whole is None:
        return output.text, ""
    data = await outputs.read(output.whole)
    if data is not None:
        return data.decode("utf-8", "surrogatepass"), ""
    return output.text, _why_gone(output, await outputs.gone(output.whole))


def _why_gone(output: Output, gone: Gone | None) -> str:
    size = f"The complete output, {output.total_bytes} bytes in {output.total_lines} lines,"
    rest = "What was shown of it when it was new is all there is"
    match gone:
        case None:
            return f"[{size} is not in the store any more. {rest}.]"
        case Gone(why="age"):
            why = f"outputs are kept for {gone.bound} days (retention.outputs_days)"
        case Gone():
            why = f"outputs took more than {gone.bound} MiB (retention.outputs_mib)"
    when = datetime.fromtimestamp(gone.at / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")
    return f"[{size} was removed on {when}, because {why}. {rest}.]"
