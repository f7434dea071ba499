"""Contents of log and context."""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import cast

from sidecar.core.conversation.call_outcome import argument, one_line, result_text
from sidecar.core.conversation.turns import tool_parts
from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Message, Output, Part, PartId, ToolCompleted, ToolError, ToolPart
from sidecar.core.prompt.meter import Meter
from sidecar.core.prompt.tokens import Count
from sidecar.core.prompt.visibility import Dropped, Excerpt, Placeholder, Quoted, Shown, Truncated
from sidecar.core.prompt.visibility import Note as ViewNote
from sidecar.observe.report.course import ContextPiece, CourseNote, CutResult, Presentation, ToolUse
from sidecar.session.history.inspection import ENOUGH, LABEL, Segment, described, segments
from sidecar.session.history.turn_lines import numbered
from sidecar.session.log.session_log import SessionLog
from sidecar.session.meter.gauge import Gauge
from sidecar.session.view.message_view import weigh_result
from sidecar.session.view.model_view import ModelView

PRESENTATION: Mapping[type[Shown], Presentation] = {
    Truncated: "truncated",
    Excerpt: "excerpt",
    Quoted: "excerpt",
    Placeholder: "placeholder",
    Dropped: "dropped",
}
RESULT = ":result"
"""End of a result's id, if the call has its own segment."""


@dataclass(frozen=True, slots=True)
class Contents:
    """Parts of a course, as in `observe.course.Course`."""

    tools: tuple[ToolUse, ...]
    pieces: tuple[ContextPiece, ...]
    cuts: tuple[CutResult, ...]
    notes: tuple[CourseNote, ...]
    messages: tuple[tuple[str, int], ...]
    parts: tuple[tuple[str, int], ...]


def contents(
    log: SessionLog,
    view: ModelView,
    count: Count,
    gauge: Gauge,
    meter: Meter,
    fails: Container[PartId],
    clean: Callable[[str], str],
) -> Contents:
    _, seen = gauge.foresee(view, log)
    found = segments(view, log, count, meter.regions, seen.hit)
    turns = numbered(log.messages)
    parts = {part.id: part for message in log.messages for part in message.parts}
    notes = view.rendering.shown.notes
    pieces = tuple(_piece(one, parts, notes, turns, clean) for one in found)
    told = {one.id: one.tokens for one in found if one.presentation == "note"}
    return Contents(
        tuple(_tools(view, log, count, pieces, fails)),
        pieces,
        tuple(_cuts(log.messages, clean)),
        tuple(
            CourseNote(note.id, note.region, told.get(note.id, 0), clean(note.text))
            for note in notes.values()
        ),
        _counted(
            f"{m.role} {'left behind' if m.id in log.left else m.status}" for m in log.messages
        ),
        _counted(type(part).__name__.removesuffix("Part") for part in parts.values()),
    )


def _piece(
    one: Segment,
    parts: Mapping[PartId, Part],
    notes: Mapping[PartId, ViewNote],
    turns: Mapping[str, int],
    clean: Callable[[str], str],
) -> ContextPiece:
    name = PartId(one.part_id or "")
    part, label = parts.get(name), one.label
    if one.presentation == "note":
        label = notes[name].text
    elif part is not None:
        text = result_text(part) if one.id.endswith(RESULT) and isinstance(part, ToolPart) else None
        label = described(part)[1] if text is None else text or "(no output)"
    label = one_line(clean(label[:ENOUGH]), LABEL)
    turn = None if one.turn_id is None else turns.get(one.turn_id)
    how = cast("Presentation", one.presentation)
    return ContextPiece(
        one.id, one.region, label, one.tokens, how, one.cached, turn, one.part_id or ""
    )


def _tools(
    view: ModelView,
    log: SessionLog,
    count: Count,
    pieces: tuple[ContextPiece, ...],
    fails: Container[PartId],
) -> Iterator[ToolUse]:
    factor = view.calibration.factor
    shown = {p.part_id: p.tokens for p in pieces if p.region == "toolResults"}
    sums: dict[str, list[int]] = {}
    for message in log.messages:
        if message.status == "discarded":
            continue
        calls = tool_parts(message)
        for part in calls:
            total = sums.setdefault(part.name, [0] * 6)
            output = _output(part)
            cut = output is not None and output.whole is not None
            whole = output.total_bytes if output is not None and cut else 0
            tokens = round(weigh_result(message, part, count) * factor)
            # What is in view as it was reported may be a little more than what was estimated.
            in_view = shown.get(part.id, 0)
            for place, more in enumerate(
                (1, part.id in fails, max(tokens, in_view), in_view, cut, whole)
            ):
                total[place] += more
    for name, counts in sorted(sums.items(), key=lambda item: (-item[1][2], item[0])):
        yield ToolUse(name, *counts)


def _cuts(messages: Iterable[Message], clean: Callable[[str], str]) -> Iterator[CutResult]:
    for message in messages:
        for part in tool_parts(message):
            output = _output(part)
            if output is not None and output.whole is not None:
                label = one_line(clean(argument(part.input)[:ENOUGH]), LABEL)
                size = len(output.text.encode("utf-8", "surrogatepass"))
                yield CutResult(part.id, part.name, label, size, output.total_bytes)


def _output(part: ToolPart) -> Output | None:
    match part.state:
        case ToolCompleted(output=output) | ToolError(output=output):
            return output
        case _:
            return None


def _counted(names: Iterable[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(Counter(names).items()))
