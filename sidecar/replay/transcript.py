"""A recorded session of any agent, read as a stream of our own messages."""

from base64 import b64decode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TypeAlias

from sidecar.core.parts import (
    FilePart,
    Json,
    JsonObject,
    Media,
    Message,
    MessageId,
    Millis,
    Output,
    Part,
    PartId,
    StepFinishPart,
    TextPart,
    ToolCompleted,
    ToolError,
    ToolPart,
    TurnId,
    Usage,
)

LATEST = 253_402_300_800_000
"""The end of the year 9999 in milliseconds."""
MOST = 1_000_000_000_000
"""More tokens or characters than any recording holds."""


@dataclass(frozen=True, slots=True)
class DamagedLine:
    """A line that could not be read and was skipped; `line` counts from 1."""

    line: int
    why: str


@dataclass(frozen=True, slots=True)
class Compacted:
    """Here the recorded agent dropped earlier messages from its own context; `at` is 0 if unknown.

    What it wrote in their place, a summary mostly, is left out: it was never said.
    """

    at: Millis = 0


TranscriptEntry: TypeAlias = Message | Compacted | DamagedLine


@dataclass(frozen=True, slots=True)
class Transcript:
    """One recorded session. `entries` can be read once; nothing is held in memory before that.

    `path` is where it was found; `title`, `cwd` and `session`, the agent's own id for it, are
    empty where the first lines do not tell.
    """

    format: str
    name: str
    entries: Iterator[TranscriptEntry]
    path: str = ""
    title: str = ""
    cwd: str = ""
    session: str = ""


@dataclass(slots=True)
class TranscriptWriter:
    """Builds messages in the order of a recording, whatever its format.

    An assistant's message is held back until its tool results have come, that is until the next
    one begins. Ids follow from the order alone, so that the same file always gives the same.
    """

    _turn: int = -1
    _count: int = 0
    _last: Millis = 0
    _open: Message | None = None
    _queued: list[Message] = field(default_factory=list)
    _calls: dict[str, int] = field(default_factory=dict)

    def user(self, parts: list[Part], at: Millis, *, typed: bool) -> Iterator[TranscriptEntry]:
        """Take a user's message, unless it is empty; a typed one opens a turn.

        What was said while calls are open waits for their results: the model saw it after them.
        """
        if not parts:
            return
        if not self._calls:
            yield from self.flush()
        if typed or self._turn < 0:
            self._turn += 1
        message = Message(self._id(), self._turn_id(), "user", tuple(parts), at or self._last)
        self._last = at or self._last
        if self._open is None:
            yield message
        else:
            self._queued.append(message)

    def assistant(
        self, parts: list[Part], at: Millis, usage: Usage | None, stop: str, model: str
    ) -> Iterator[TranscriptEntry]:
        """Take what one model call gave; its calls wait for `result`."""
        yield from self.flush()
        self._turn = max(self._turn, 0)
        finish = StepFinishPart(
            self.part_id(len(parts)), stop, usage or Usage(), None, self._last or at
        )
        self._calls = {p.call_id: i for i, p in enumerate(parts) if isinstance(p, ToolPart)}
        self._open = Message(
            self._id(),
            self._turn_id(),
            "assistant",
            (*parts, finish),
            at or self._last,
            model=model,
        )
        self._last = at or self._last

    def result(
        self,
        call_id: str,
        text: str,
        at: Millis,
        metadata: JsonObject,
        media: Sequence[Media] = (),
    ) -> bool:
        """Give a tool's answer to its call; false when no open call has this id."""
        if self._open is None or call_id not in self._calls:
            return False
        position = self._calls.pop(call_id)
        parts = self._open.parts
        call = parts[position]
        assert isinstance(call, ToolPart)
        output = Output(text, media=tuple(media))
        done = ToolCompleted(output, self._open.created, at or self._last, "", metadata)
        answered = replace(call, state=done)
        self._open = replace(
            self._open, parts=(*parts[:position], answered, *parts[position + 1 :])
        )
        self._last = at or self._last
        return True

    def flush(self) -> Iterator[TranscriptEntry]:
        """Give the message that was held back, if there is one."""
        if self._open is not None:
            yield self._open
        yield from self._queued
        self._open = None
        self._queued = []
        self._calls = {}

    def part_id(self, position: int) -> PartId:
        """Give the id of a part of the message that comes next."""
        return PartId(f"p{self._count + 1}.{position}")

    def text(self, position: int, text: str, *, by: str) -> TextPart:
        """Make a text part: by `typed`, `context` or `model`."""
        source = "typed" if by == "typed" else "context" if by == "context" else "model"
        return TextPart(self.part_id(position), text, source)  # type: ignore[arg-type]

    def said(self, blocks: Sequence[JsonObject], *, by: str) -> list[Part]:
        """Make the parts of a user's message: texts, files, and a word for what has no bytes."""
        parts: list[Part] = []
        for block in blocks:
            if media := media_of(block):
                parts.append(FilePart(self.part_id(len(parts)), "", media=media))
            elif text := text_of(block) or _word_for(block):
                parts.append(self.text(len(parts), text, by=by))
        return parts

    def call(self, position: int, call_id: str, name: str, given: Json, at: Millis) -> ToolPart:
        """Make a call that has no answer yet; if none comes it stays interrupted."""
        state = ToolError("no result was recorded", "interrupted", at, at)
        return ToolPart(self.part_id(position), call_id, name, given, state)

    def _id(self) -> MessageId:
        self._count += 1
        return MessageId(f"m{self._count}")

    def _turn_id(self) -> TurnId:
        return TurnId(f"t{self._turn}")


def millis(value: object) -> Millis:
    """Read a time: ISO 8601, or a number of seconds or milliseconds; 0 when it is none.

    Raises:
        ValueError: a number that is no time of any calendar.
    """
    if isinstance(value, bool):
        return 0
    if isinstance(value, int | float):
        at = value if value > 1e11 else value * 1000
        if not -LATEST < at < LATEST:
            raise ValueError("a number is no time")
        return max(0, round(at))
    if not isinstance(value, str) or not value:
        return 0
    try:
        parsed = datetime.fromisoformat(value)
    except ValueError:
        return 0
    zoned = parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    return max(0, round(zoned.timestamp() * 1000))


def text_of(value: object) -> str:
    """Give a text, or the texts of a list of `{"type": "text"}` blocks; empty for anything else."""
    match value:
        case str():
            return value
        case list():
            return "\n".join(text for item in value if (text := _block_text(item)))
        case _:
            return _block_text(value)


def _word_for(block: JsonObject) -> str:
    kind = block.get("type")
    return f"[{kind}]" if isinstance(kind, str) and "text" not in block else ""


def _block_text(value: object) -> str:
    match value:
        case str():
            return value
        case {"text": str(text)}:
            return text
        case _:
            return ""


def media_of(block: JsonObject) -> Media | None:
    """Give the image or document of a block, however an agent writes it; `None` for no bytes."""
    match block:
        case {"source": {"media_type": str(kind), "data": str(data)}}:
            pass
        case {"mimeType": str(kind), "data": str(data)}:
            pass
        case {"image_url": str(url)} | {"url": str(url)}:
            head, _, data = url.partition(",")
            kind = head.removeprefix("data:").removesuffix(";base64")
            if head != f"data:{kind};base64":
                return None
        case _:
            return None
    return Media(kind, data) if data and _is_base64(data) else None


def _is_base64(data: str) -> bool:
    """Tell by the beginning: recordings are full of images, and replay reads no more of them."""
    try:
        b64decode(data[:400], validate=True)
    except ValueError:
        return False
    return len(data) % 4 == 0


def media_in(value: object) -> tuple[Media, ...]:
    """Give the images and documents of a list of blocks."""
    return tuple(media for block in objects(value) if (media := media_of(block)))


def objects(value: object) -> list[JsonObject]:
    """Give the objects in a list; empty when it is none."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def count(value: object) -> int:
    """Give a count of tokens or characters that is one; 0 for anything else.

    Raises:
        ValueError: a number that no count can be.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    if not -MOST < value < MOST:
        raise ValueError("a number is no count")
    return max(0, int(value))
