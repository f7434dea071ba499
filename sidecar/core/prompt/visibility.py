"""Decides how parts are shown: verbatim unless a rewrite changed that.

The view is a pure fold over rewrites, so an undo restores the earlier prompt byte for byte.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache
from typing import Literal, TypeAlias

from sidecar.core.conversation.call_outcome import placeholder, result_text
from sidecar.core.dataclass import dataclass
from sidecar.core.parts import (
    FilePart,
    Media,
    Message,
    MessageId,
    Output,
    Part,
    PartId,
    TextPart,
    ToolCompleted,
    ToolError,
    ToolPart,
)
from sidecar.core.prompt.render import Block, Region, Rendered, TextBlock
from sidecar.core.text.truncate import Keep, cut, lines_kept, quoted

MOST_NOTES = 200
"""Notes whose blocks are kept; a session's view has a handful."""


@dataclass(frozen=True, slots=True)
class Truncated:
    """Shows one end of a text or both, `max_bytes` of UTF-8 at most."""

    keep: Keep
    max_bytes: int


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Shows line ranges (first, last), from 1, inclusive."""

    lines: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Quoted:
    """Shows spans (start, end) in characters, in order."""

    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Placeholder:
    """Shows one line with call, outcome and recall id."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """Shows nothing; the rewrite's note has the recall id."""


Shown: TypeAlias = Truncated | Excerpt | Quoted | Placeholder | Dropped
"""How a part is shown when it is not shown verbatim."""


@dataclass(frozen=True, slots=True)
class Note:
    """A text before a message, in place of parts left out."""

    id: PartId
    text: str
    before: MessageId
    region: Region = "ledger"


Cause: TypeAlias = Literal[
    "user", "budget", "cold", "pays", "overflow", "idle", "instructions", "model", "tools",
    "restore", "undo",
]  # fmt: skip
"""Why an epoch ended."""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A recorded change of the view; `retired`: notes it replaces.

    In `shown`, `None` shows a part verbatim again.
    """

    id: str
    cause: Cause
    shown: Mapping[PartId, Shown | None]
    notes: Sequence[Note] = ()
    retired: Sequence[PartId] = ()


@dataclass(frozen=True, slots=True, weakref_slot=True)
class View:
    """How parts are shown now; unlisted parts are shown verbatim."""

    shown: Mapping[PartId, Shown] = field(default_factory=dict)
    notes: Mapping[PartId, Note] = field(default_factory=dict)


def fold_rewrites(rewrites: Iterable[Rewrite], before: View | None = None) -> View:
    shown: dict[PartId, Shown] = {} if before is None else {**before.shown}
    notes: dict[PartId, Note] = {} if before is None else {**before.notes}
    for rewrite in rewrites:
        for part_id, how in rewrite.shown.items():
            if how is None:
                shown.pop(part_id, None)
            else:
                shown[part_id] = how
        for note_id in rewrite.retired:
            notes.pop(note_id, None)
        notes.update((note.id, note) for note in rewrite.notes)
    return View(shown, notes)


def show(message: Message, shown: Mapping[PartId, Shown]) -> Message:
    """Returns the same object if all parts are verbatim."""
    if not any(part.id in shown for part in message.parts):
        return message
    parts = tuple(
        kept for part in message.parts if (kept := show_part(part, shown.get(part.id))) is not None
    )
    return replace(message, parts=parts)


def show_part(part: Part, how: Shown | None) -> Part | None:
    """Returns `None` for a dropped part; calls keep their input."""
    if how is None:
        return part
    if isinstance(how, Dropped):
        return None
    match part:
        case TextPart():
            return replace(part, text=shorten(part.text, how, part.id), metadata={})
        case FilePart(text=str() as text):
            return replace(part, text=shorten(text, how, part.id))
        case FilePart(media=Media(media_type=kind)):
            return replace(part, media=None, name=part.name or f"{kind}, left out")
        case ToolPart(state=ToolCompleted() as done):
            return replace(part, state=replace(done, output=Output(_left(part, how))))
        case ToolPart(state=ToolError() as failed):
            return replace(part, state=replace(failed, message=_left(part, how), output=None))
        case _:
            return part


def _left(part: ToolPart, how: Shown) -> str:
    if isinstance(how, Placeholder):
        return placeholder(part)
    return shorten(result_text(part), how, part.id)


def shorten(text: str, how: Shown, part_id: str) -> str:
    match how:
        case Truncated(keep=keep, max_bytes=most):
            return cut(text, max_lines=1_000_000, max_bytes=most, keep=keep, part_id=part_id).text
        case Excerpt(lines=lines):
            return lines_kept(text, lines, part_id)
        case Quoted(spans=spans):
            return quoted(text, spans, part_id)
        case Placeholder():
            return f"[left out: {len(text)} characters, recall {part_id}]"
        case Dropped():
            return ""


@lru_cache(maxsize=MOST_NOTES)
def rendered_note(note: Note) -> Rendered:
    """Cached, because only the same block object lets a prompt's chain continue."""
    return Rendered("user", (Block(TextBlock(note.text), note.region, note.id),))


def notes_before(view: View, messages: Sequence[Message]) -> Mapping[MessageId, tuple[Note, ...]]:
    known = {message.id for message in messages}
    grouped: dict[MessageId, tuple[Note, ...]] = {}
    for note in view.notes.values():
        if note.before in known:
            grouped[note.before] = (*grouped.get(note.before, ()), note)
    return grouped
